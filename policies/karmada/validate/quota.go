package validate

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/sources/words"
)

// quotaName is a label's value too (section E.7).
func quotaName(name string) []string {
	if len(name) > validation.LabelValueMaxLength {
		return []string{fmt.Sprintf("it has %d characters, at most %d are allowed", len(name), validation.LabelValueMaxLength)}
	}
	return validation.IsDNS1123Subdomain(name)
}

// checkQuota holds that what is given to clusters is no more than there is (section E.7).
func checkQuota(fs *findings, s *karmada.FederatedResourceQuotaSpec, at field) {
	if s.Overall == nil {
		fs.missing(at.at("overall"))
	}
	checkResources(fs, at.at("overall"), s.Overall)
	sum := map[corev1.ResourceName]resource.Quantity{}
	for i, a := range s.StaticAssignments {
		at := at.at("staticAssignments", i)
		fs.clusterName(at.at("clusterName"), a.ClusterName)
		if a.Hard == nil {
			fs.missing(at.at("hard"))
		}
		checkResources(fs, at.at("hard"), a.Hard)
		for _, name := range slices.Sorted(maps.Keys(a.Hard)) {
			total := sum[name]
			total.Add(a.Hard[name])
			sum[name] = total
			if _, ok := s.Overall[name]; !ok {
				fs.fail(at.at("hard", string(name)), diag.InvalidValue, "is not bounded by overall", "add it to overall, or remove it")
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Overall)) {
		overall := s.Overall[name]
		if given, ok := sum[name]; ok && overall.Cmp(given) < 0 {
			fs.fail(at.at("overall", string(name)), diag.InvalidValue,
				fmt.Sprintf("%s is less than %s, which is what clusters are given in sum", overall.String(), given.String()), "raise it, or give clusters less")
		}
	}
}

// checkResources holds a list of bounds as a ResourceQuota has it.
func checkResources(fs *findings, at field, list corev1.ResourceList) {
	for _, name := range slices.Sorted(maps.Keys(list)) {
		at := at.at(string(name))
		checkQuotaResource(fs, at, string(name))
		q := list[name]
		if q.Sign() < 0 {
			fs.fail(at, diag.InvalidValue, q.String()+" is negative", "")
		}
		if counted(string(name)) && q.MilliValue()%1000 != 0 {
			fs.fail(at, diag.InvalidValue, q.String()+" is not a whole number", "")
		}
	}
}

// counts are the objects that a ResourceQuota counts by a short name.
var counts = []string{
	"pods", "services", "services.loadbalancers", "services.nodeports", "replicationcontrollers",
	"resourcequotas", "secrets", "configmaps", "persistentvolumeclaims",
}

// counted reports what comes in whole units: the objects above and extended
// resources, which count/ makes of every kind. A request of one does not.
func counted(name string) bool {
	extended := strings.Contains(name, "/") && !strings.Contains(name, "kubernetes.io/") &&
		!strings.HasPrefix(name, corev1.DefaultResourceRequestsPrefix)
	return extended || slices.Contains(counts, name)
}

// checkQuotaResource reports a resource that no ResourceQuota can bound. Names with a
// slash are extended resources, storage classes or counts of any kind.
func checkQuotaResource(fs *findings, at field, name string) {
	hugePages := strings.HasPrefix(strings.TrimPrefix(name, corev1.DefaultResourceRequestsPrefix), corev1.ResourceHugePagesPrefix)
	if strings.Contains(name, "/") || hugePages {
		fs.invalid(at, name, validation.IsQualifiedName(name))
		return
	}
	of := strings.TrimPrefix(strings.TrimPrefix(name, corev1.DefaultResourceRequestsPrefix), "limits.")
	known := append([]string{"cpu", "memory", "ephemeral-storage", "requests.storage"}, counts...)
	if !slices.Contains(known, name) && (of == name || !slices.Contains(known[:3], of)) {
		fs.fail(at, diag.UnsupportedValue, fmt.Sprintf("%q is no resource that a quota bounds", name), words.Meant(name, known, ""))
	}
}
