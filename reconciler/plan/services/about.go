package services

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	mcs "sigs.k8s.io/mcs-api/pkg/apis/v1beta1"

	rules "github.com/waybill-dev/waybill/policies/services"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/exchange"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/render/tree"
	"github.com/waybill-dev/waybill/sources/words"
)

// Said is what there is to say of what clusters exchange.
func (l *Laid) Said() []diag.Diagnostic {
	if l == nil {
		return nil
	}
	var undelivered []string
	var at diag.Pos
	for i, s := range l.exchange.services {
		name := s.ref.Namespace + "/" + s.ref.Name
		if !l.services[i].isImported || slices.Contains(undelivered, name) || l.delivered(i) {
			continue
		}
		if len(undelivered) == 0 {
			at = s.by.Origin()
		}
		undelivered = append(undelivered, name)
	}
	if len(undelivered) == 0 {
		return l.exchange.diags
	}
	of := words.Count(len(undelivered), "service")
	message := fmt.Sprintf("endpoints of %s are not delivered to the clusters that import them yet: %s", of, words.List(undelivered))
	if l.exchange.endpoints == exchange.Apply {
		message = fmt.Sprintf("endpoints of %s are not all delivered, because clusters with the syncMode Pull whose agents have no key give none that others could trust, and take none: %s", of, words.List(undelivered))
	}
	return append(slices.Clip(l.exchange.diags), diag.Diagnostic{
		Code: diag.EndpointsLeftOut, Severity: diag.Notice, Pos: at, Message: message,
		Hint: "spec.services.endpoints of waybill.yaml says who delivers endpoints; whoever else does finds providers and consumers in " + tree.ServicesFile,
	})
}

// delivered reports that the endpoints of a service, by its number, get to all clusters that import it.
func (l *Laid) delivered(service int) bool {
	if l.exchange.endpoints != exchange.Apply {
		return false
	}
	for i, has := range l.services[service].roles {
		if has&(exports|imports) != 0 && l.exchange.keyless[i] {
			return false
		}
	}
	return true
}

// About is how clusters exchange a Service.
type About struct {
	Service object.Ref `json:"service"`
	// Style is native or derived; Derived is the Service that is derived from an import.
	Style   string   `json:"style"`
	Derived string   `json:"derived,omitempty"`
	By      string   `json:"by"`
	Where   string   `json:"where"`           // file and line
	Ports   []string `json:"ports,omitempty"` // that are imported; none for all
	// Wrong reports a mistake for which all of it stays as it was published.
	Wrong    bool      `json:"wrong,omitempty"`
	Clusters []Cluster `json:"clusters,omitempty"` // that provide it or call it, in the order of names
}

// Cluster is a cluster that provides a Service, or calls it, by the words of the Multi-Cluster Services API.
type Cluster struct {
	Name    string `json:"cluster"`
	Exports bool   `json:"exports,omitempty"`
	Imports bool   `json:"imports,omitempty"`
	// Valid and Conflict are the conditions of what exports it there; nil where nothing does.
	Valid    *Condition `json:"valid,omitempty"`
	Conflict *Condition `json:"conflict,omitempty"`
}

// Condition is a condition.
type Condition struct {
	Status  metav1.ConditionStatus `json:"status"`
	Reason  string                 `json:"reason"`
	Message string                 `json:"message,omitempty"`
}

// About says how clusters exchange what a Service, a ServiceExport or a ServiceImport is about, and what a Service is derived from.
func (l *Laid) About(r object.Ref) (all []About) {
	if l == nil {
		return nil
	}
	isService := r.Group == "" && r.Kind == "Service"
	for i, s := range l.exchange.services {
		isIt := isService && (s.ref == r || s.derived == r) || s.native == nil && (rules.ExportOf(s.ref) == r || rules.ImportOf(s.ref) == r)
		if isIt {
			all = append(all, s.about(l.exchange.clusters, l.services[i].roles))
		}
	}
	return all
}

func (is *service) about(clusters []string, roles []role) About {
	a := About{Service: is.ref, Style: is.style(), Derived: is.derived.Name, By: is.name(), Ports: is.ports, Wrong: is.wrong}
	if is.by != nil {
		a.Where = is.by.Origin().String()
	} else {
		a.Where = is.imported.Origin().String()
	}
	for i, name := range clusters {
		c := Cluster{Name: name, Exports: roles[i]&exports != 0, Imports: roles[i]&imports != 0}
		why := is.unexported[int32(i)]
		if c.Exports || why != "" {
			c.Valid, c.Conflict = valid(why), is.conflict(name)
		}
		if c.Valid != nil || c.Imports {
			a.Clusters = append(a.Clusters, c)
		}
	}
	return a
}

func valid(why rules.Reason) *Condition {
	if why != "" {
		return &Condition{Status: metav1.ConditionFalse, Reason: string(why)}
	}
	return &Condition{Status: metav1.ConditionTrue, Reason: string(mcs.ServiceExportReasonValid)}
}

// conflict is what differs between what a cluster exports and what the one with the lowest name does.
func (is *service) conflict(cluster string) *Condition {
	var reasons, messages []string
	for _, c := range is.merged.Conflicts {
		if slices.Contains(c.Clusters, cluster) || c.Winner == cluster {
			if !slices.Contains(reasons, string(c.Reason)) {
				reasons = append(reasons, string(c.Reason))
			}
			messages = append(messages, c.Message)
		}
	}
	if len(reasons) == 0 {
		return &Condition{Status: metav1.ConditionFalse, Reason: string(mcs.ServiceExportReasonNoConflicts)}
	}
	return &Condition{Status: metav1.ConditionTrue, Reason: strings.Join(reasons, ","), Message: strings.Join(messages, "; ")}
}
