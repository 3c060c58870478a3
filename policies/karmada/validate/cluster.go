package validate

import (
	"fmt"
	"net/url"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/render/diag"
)

// checkCluster holds for a registration (section C.1).
func checkCluster(fs *findings, s *karmada.ClusterSpec, at field) {
	oneOf(fs, at.at("syncMode"), s.SyncMode, karmada.Push, karmada.Pull)
	if s.APIEndpoint != "" {
		checkAPIEndpoint(fs, at.at("apiEndpoint"), s.APIEndpoint)
	}
	checkSecretRef(fs, s.SecretRef, at.at("secretRef"))
	checkSecretRef(fs, s.ImpersonatorSecretRef, at.at("impersonatorSecretRef"))
	if s.ProxyURL != "" {
		checkProxyURL(fs, at.at("proxyURL"), s.ProxyURL)
	}
	if s.Zone != "" && len(s.Zones) > 0 {
		fs.fail(at.at("zone"), diag.ConflictingFields, fmt.Sprintf("%q cannot be given beside zones", s.Zone), "move it into zones")
	}
	checkTaints(fs, s.Taints, at.at("taints"))
	checkResourceModels(fs, s.ResourceModels, at.at("resourceModels"))
}

func checkAPIEndpoint(fs *findings, at field, endpoint string) {
	u, err := url.Parse(endpoint)
	var wrong string
	switch {
	case err != nil:
		wrong = "it is not a URL"
	case u.Host == "":
		wrong = "it has no host"
	case u.User != nil:
		wrong = "it must not carry credentials"
	case u.RawQuery != "" || u.Fragment != "":
		wrong = "it must not carry a query or fragment"
	default:
		return
	}
	// What is refused for its credentials must not be printed.
	fs.fail(at, diag.InvalidValue, "is not the address of an API server: "+wrong, "write scheme, host and port, as in https://10.0.0.1:6443")
}

func checkProxyURL(fs *findings, at field, proxy string) {
	u, err := url.Parse(proxy)
	if err != nil || !slices.Contains([]string{"http", "https", "socks5"}, u.Scheme) {
		fs.fail(at, diag.InvalidValue, "is not the address of a proxy", "write an http, https or socks5 URL")
	}
}

func checkSecretRef(fs *findings, r *karmada.LocalSecretReference, at field) {
	if r == nil {
		return
	}
	fs.require(at.at("namespace"), r.Namespace, "")
	fs.require(at.at("name"), r.Name, "")
}

// checkTaints of a cluster either keep new objects away or drive objects out; there is
// no preference.
func checkTaints(fs *findings, ts []corev1.Taint, at field) {
	policy := make([]karmada.PolicyTaint, len(ts))
	for i, t := range ts {
		policy[i] = karmada.PolicyTaint{Key: t.Key, Effect: t.Effect, Value: t.Value}
		oneOf(fs, at.at(i, "effect"), t.Effect, corev1.TaintEffectNoSchedule, corev1.TaintEffectNoExecute)
	}
	for i := range policy {
		checkTaint(fs, policy[i], at.at(i))
	}
	checkUniqueTaints(fs, policy, at)
}

func checkTaint(fs *findings, t karmada.PolicyTaint, at field) {
	fs.key(at.at("key"), t.Key)
	fs.invalid(at.at("value"), t.Value, validation.IsValidLabelValue(t.Value))
}

// checkUniqueTaints reports a key that has an effect twice.
func checkUniqueTaints(fs *findings, ts []karmada.PolicyTaint, at field) {
	type unique struct {
		key    string
		effect corev1.TaintEffect
	}
	seen := map[unique]bool{}
	for i, t := range ts {
		at := at.at(i)
		if u := (unique{t.Key, t.Effect}); seen[u] {
			fs.fail(at, diag.DuplicateValue, fmt.Sprintf("%s:%s is there already", t.Key, t.Effect), "remove one of them")
		} else {
			seen[u] = true
		}
	}
}
