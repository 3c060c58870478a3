package whatif

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/words"
)

// ParseLabel reads CLUSTER=KEY=VALUE, and CLUSTER=KEY- for a label that is removed.
func ParseLabel(text string) (Label, error) {
	cluster, rest, _ := strings.Cut(text, "=")
	key, value, set := strings.Cut(rest, "=")
	key, remove := strings.CutSuffix(key, "-")
	if cluster == "" || key == "" || set == remove {
		return Label{}, fmt.Errorf("%q is no label of a cluster; write CLUSTER=KEY=VALUE, or CLUSTER=KEY- to remove it", text)
	}
	return Label{Cluster: cluster, Key: key, Value: value, Remove: remove}, nil
}

// ParseTaint reads CLUSTER=KEY[=VALUE]:EFFECT, and with a - at the end a taint that is removed.
func ParseTaint(text string) (Taint, error) {
	cluster, rest, _ := strings.Cut(text, "=")
	rest, remove := strings.CutSuffix(rest, "-")
	rest, effect, _ := strings.Cut(rest, ":")
	key, value, _ := strings.Cut(rest, "=")
	t := Taint{Cluster: cluster, Remove: remove, Taint: corev1.Taint{Key: key, Value: value, Effect: corev1.TaintEffect(effect)}}
	known := effect == string(corev1.TaintEffectNoSchedule) || effect == string(corev1.TaintEffectNoExecute) || effect == string(corev1.TaintEffectPreferNoSchedule)
	if cluster == "" || key == "" || !known && (!remove || effect != "") {
		return Taint{}, fmt.Errorf("%q is no taint of a cluster; write CLUSTER=KEY=VALUE:NoSchedule or :NoExecute, or CLUSTER=KEY- to remove it", text)
	}
	return t, nil
}

// ParseCapacity reads CLUSTER=RESOURCE=QUANTITY[,RESOURCE=QUANTITY...].
func ParseCapacity(text string) (Capacity, error) {
	cluster, rest, _ := strings.Cut(text, "=")
	c := Capacity{Cluster: cluster, Allocatable: corev1.ResourceList{}}
	for part := range strings.SplitSeq(rest, ",") {
		name, quantity, ok := strings.Cut(part, "=")
		q, err := resource.ParseQuantity(quantity)
		if cluster == "" || name == "" || !ok || err != nil {
			return Capacity{}, fmt.Errorf("%q is no capacity of a cluster; write CLUSTER=cpu=100,memory=400Gi,pods=1000", text)
		}
		c.Allocatable[corev1.ResourceName(name)] = q
	}
	return c, nil
}

// ParseTime reads a time of RFC 3339, or a date, which begins in UTC.
func ParseTime(text string) (time.Time, error) {
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is no time; write it as 2026-12-24T18:00:00Z, or as a date", text)
}

// ParseClusters reads a file of Clusters.
func ParseClusters(file string, data []byte) ([]*object.Object, error) {
	d := object.Decode(file, data)
	if d.Broken {
		return nil, fmt.Errorf("reading clusters: %s", d.Diags[0])
	}
	for _, o := range d.Objects {
		if !isCluster(o) {
			return nil, fmt.Errorf("%s: %s is no Cluster of cluster.karmada.io", o.Pos(), o.Ref())
		}
	}
	if len(d.Objects) == 0 {
		return nil, fmt.Errorf("%s has %s", file, words.Count(0, "Cluster"))
	}
	return d.Objects, nil
}
