package match

import (
	"fmt"
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
)

// controlPlane matches the namespaces of Karmada's own control plane.
var controlPlane = regexp.MustCompile(`^(karmada-system|karmada-cluster|karmada-es-.*)$`)

// ClaimedBy marks objects that a MultiClusterService owns.
const ClaimedBy = "resourcetemplate.karmada.io/claimed-by"

// Skips says what is never propagated. The zero value skips no namespace but those of
// Karmada's control plane.
type Skips struct {
	namespaces []*regexp.Regexp
}

// NewSkips takes the skipNamespaces of a source's configuration, which are valid.
func NewSkips(entries []string) Skips {
	var s Skips
	for _, e := range entries {
		if p, err := render.NamespacePattern(e); err == nil {
			s.namespaces = append(s.namespaces, p)
		}
	}
	return s
}

// Why returns why an object is never propagated, or "" if it may be (section A.3).
// Groups whose objects are policies never get here.
func (s Skips) Why(apiVersion string, r object.Ref, ls labels.Set) string {
	switch {
	case r.Group == "events.k8s.io", apiVersion == "v1" && r.Kind == "Event":
		return "events are never propagated"
	case apiVersion == "coordination.k8s.io/v1":
		return "objects of coordination.k8s.io are never propagated"
	case strings.HasSuffix(r.Group, ".karmada.io"):
		return "objects of Karmada's own groups are never propagated"
	case controlPlane.MatchString(r.Namespace):
		return fmt.Sprintf("the namespace %s is reserved", r.Namespace)
	case s.names(r.Namespace):
		return fmt.Sprintf("%s names the namespace %s under skipNamespaces", render.ConfigFile, r.Namespace)
	case ls.Has(ClaimedBy):
		return "its label " + ClaimedBy + " says that another owner propagates it"
	case ClustersOwn(r):
		return "each cluster has its own"
	}
	return ""
}

func (s Skips) names(namespace string) bool {
	for _, p := range s.namespaces {
		if namespace != "" && p.MatchString(namespace) {
			return true
		}
	}
	return false
}

// Namespace reports whether a Namespace object is never sent along with what is in it
// (section E.1).
func (s Skips) Namespace(name string, ls labels.Set) bool {
	return ownNamespace(name) || controlPlane.MatchString(name) || s.names(name) ||
		strings.EqualFold(ls.Get("namespace.karmada.io/skip-auto-propagation"), "true")
}

// ClustersOwn reports an object that every cluster has and manages itself: the Namespaces
// default and kube-*, and the ConfigMaps with the certificates of its API server. Nobody
// but the cluster may write or remove it.
func ClustersOwn(r object.Ref) bool {
	switch {
	case r.Group != "":
		return false
	case r.Kind == "ConfigMap":
		return r.Name == "kube-root-ca.crt" || r.Name == "extension-apiserver-authentication"
	}
	return r.Kind == "Namespace" && ownNamespace(r.Name)
}

func ownNamespace(name string) bool { return name == "default" || strings.HasPrefix(name, "kube-") }

// Own reports an object that every cluster has of its own: it is not delivered; nil for any
// other.
func Own(o *object.Object) *diag.Diagnostic {
	if !ClustersOwn(o.Ref()) {
		return nil
	}
	return &diag.Diagnostic{
		Code: diag.NeverPropagated, Severity: diag.Notice, Pos: o.Origin(),
		Message: fmt.Sprintf("%s is not delivered: each cluster has its own", o.Ref()),
	}
}
