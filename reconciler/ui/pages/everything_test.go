package pages_test

import (
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/facts"
	"github.com/waybill-dev/waybill/reconciler/health"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/reconciler/state/sourceerrors"
	"github.com/waybill-dev/waybill/reconciler/status"
	"github.com/waybill-dev/waybill/reconciler/status/reports"
	"github.com/waybill-dev/waybill/reconciler/suspend"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/forge"
)

// noon is when everything is looked at.
var noon = time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)

// ago is so long before that.
func ago(d time.Duration) time.Time { return noon.Add(-d) }

// id is a commit of one digit.
func id(digit string) files.ID {
	of, err := files.ParseID(strings.Repeat(digit, 40))
	if err != nil {
		panic(err)
	}
	return of
}

// query parses the query of an address.
func query(t *testing.T, text string) url.Values {
	t.Helper()
	q, err := url.ParseQuery(text)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// The templates of everything.
var (
	web      = object.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"}
	api      = object.Ref{Group: "apps", Kind: "Deployment", Namespace: "pay", Name: "api"}
	database = object.Ref{Group: "apps", Kind: "StatefulSet", Namespace: "shop", Name: "db"}
	settings = object.Ref{Kind: "ConfigMap", Namespace: "shop", Name: "settings"}
	front    = object.Ref{Kind: "Service", Namespace: "shop", Name: "front"}
	reader   = object.Ref{Group: "rbac.authorization.k8s.io", Kind: "ClusterRole", Name: "reader"}
)

// standing is a cluster that stands so, of which was reported a while ago that it applied a commit.
func standing(name, state, region, labels string, applied files.ID, counts status.Counts) reports.Cluster {
	m := reports.Cluster{
		ClusterHealth: status.ClusterHealth{Cluster: name, Mode: karmada.Push, State: state, Message: "it is " + name, Head: id("b")},
		Registered: &karmada.Cluster{
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{}}, Spec: karmada.ClusterSpec{
				SyncMode: karmada.Push,
				Region:   region,
			},
		},
	}
	for label := range strings.FieldsSeq(labels) {
		key, value, _ := strings.Cut(label, "=")
		m.Registered.Labels[key] = value
	}
	m.Report = &status.Report{
		Summary: status.Summary{
			Name: name, Commit: applied, Since: ago(time.Hour),
			Counts: counts,
		}, At: ago(time.Duration(counts.Objects) * time.Minute),
	}
	return m
}

// clusters are one of each standing, in the order of their names.
func clusters() []reports.Cluster {
	b, old := id("b"), id("a")
	all := []reports.Cluster{
		standing("behind", status.Behind, "us", "env=prod", old, status.Counts{Objects: 2, Applied: 2, Healthy: 1, Unknown: 1}),
		standing("drifting", status.Drifting, "eu", "env=prod", b, status.Counts{Objects: 3, Applied: 3, Healthy: 3, Drifting: 1}),
		standing("empty", status.Empty, "", "env=test", files.ID{}, status.Counts{}),
		standing("errored", status.Errored, "eu", "env=prod edge=", b, status.Counts{Objects: 5, Applied: 4, Pending: 1}),
		standing("failing", status.Failing, "us", "env=test", b, status.Counts{Objects: 6, Applied: 3, Failed: 2, Pending: 1, Healthy: 3}),
		standing("healthy", status.Healthy, "eu", "env=prod", b, status.Counts{Objects: 7, Applied: 7, Healthy: 7}),
		standing("held", status.Held, "us", "env=prod", b, status.Counts{Objects: 8, Applied: 8, Healthy: 8}),
		standing("lost", status.Unknown, "us", "env=prod", b, status.Counts{Objects: 9, Failed: 9, Unhealthy: 9, Unknown: 9}),
		standing("strange", "Strange", "eu", "env=test", b, status.Counts{Objects: 1}),
		standing("suspended", status.Suspended, "eu", "env=prod", b, status.Counts{Objects: 2, Applied: 2, Healthy: 2}),
		standing("unhealthy", status.Unhealthy, "us", "env=prod", b, status.Counts{Objects: 4, Applied: 4, Healthy: 2, Unhealthy: 2}),
		standing("unreachable", status.Unreachable, "us", "env=prod", b, status.Counts{Objects: 3, Applied: 3}),
		standing("untold", status.Untold, "", "", b, status.Counts{}),
		standing("vaultless", status.NoCredential, "eu", "env=prod", b, status.Counts{Objects: 3, Applied: 3}),
	}
	for i := range all {
		m := &all[i]
		switch m.Cluster {
		case "empty":
			m.Head, m.Registered.Spec.Provider = files.ID{}, "metal"
		case "untold":
			m.Report, m.Mode = nil, karmada.Pull
		case "held":
			m.Registered.Status.Conditions = []metav1.Condition{{
				Type: state.HeldCondition, Status: metav1.ConditionTrue,
				Message: "it would lose 1 of 8 objects",
			}}
		case "suspended":
			m.Registered.Annotations = map[string]string{suspend.Suspended: "until Monday"}
		case "failing":
			m.Observed = ready(metav1.ConditionFalse)
		case "lost":
			m.Observed = ready(metav1.ConditionUnknown)
		case "healthy":
			m.Observed = &karmada.ClusterStatus{}
		case "unhealthy":
			known(m)
		}
	}
	return all
}

// ready is what was observed of a cluster whose API server is ready, or not.
func ready(is metav1.ConditionStatus) *karmada.ClusterStatus {
	return &karmada.ClusterStatus{Conditions: []metav1.Condition{{
		Type: karmada.ConditionReady, Status: is,
		LastTransitionTime: metav1.Time{Time: ago(time.Hour)},
	}}}
}

// known makes all be known of a cluster that can be.
func known(m *reports.Cluster) {
	m.Observed = ready(metav1.ConditionTrue)
	m.Observed.Conditions = append(m.Observed.Conditions,
		metav1.Condition{
			Type: "Frozen", Status: metav1.ConditionFalse, Message: "it thaws",
			LastTransitionTime: metav1.Time{Time: ago(2 * time.Hour)},
		},
		metav1.Condition{Type: "Odd", Status: metav1.ConditionUnknown})
	m.Observed.KubernetesVersion, m.Observed.NodeSummary = "v1.34.1", &karmada.NodeSummary{TotalNum: 3, ReadyNum: 2}
	m.Observed.ResourceSummary = &karmada.ResourceSummary{
		Allocatable: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("8Gi"), corev1.ResourceCPU: resource.MustParse("4")},
		Allocated:   corev1.ResourceList{corev1.ResourceCPU: resource.Quantity{}},
	}
	m.Registered.Status.RemedyActions = []string{"TrafficControl", "Other"}
	s := &m.Registered.Spec
	s.Provider, s.Zone, s.Zones, s.APIEndpoint = "cloud", "a", []string{"a", "b"}, "https://admin:secret@api.example:6443"
	s.Taints = []corev1.Taint{
		{Key: "slow", Effect: corev1.TaintEffectNoSchedule},
		{Key: "gpu", Value: "no", Effect: corev1.TaintEffectNoExecute, TimeAdded: &metav1.Time{Time: ago(time.Hour)}},
	}
	m.Report.Expires = noon.Add(48 * time.Hour)
}

// templates are of all sorts: divided, with clusters that they leave, with none, needed by others, and of the cluster.
func templates() []*facts.Template {
	return []*facts.Template{
		{
			Ref: reader, Source: "base/reader.yaml", NeededBy: []string{"shop/web", "pay/api"},
			Targets: []facts.Target{{Cluster: "healthy"}, {Cluster: "held", Left: "it is written elsewhere"}, {Cluster: "suspended"}},
		},
		{Ref: settings, Policy: "shop/all", Source: "shop/settings.yaml", Targets: []facts.Target{{Cluster: "failing"}, {Cluster: "healthy"}}},
		{Ref: front, Policy: "shop/all", Source: "shop/front.yaml", Targets: []facts.Target{{Cluster: "healthy"}, {Cluster: "held"}}},
		{
			Ref: api, Source: "pay/api.yaml", Replicas: 2,
			Targets: []facts.Target{{Cluster: "healthy", Replicas: 2}, {Cluster: "unhealthy", Replicas: 2}},
		},
		{
			Ref: web, Policy: "shop/web", Source: "shop/web.yaml", Unit: rollouts.Unit{Namespace: "shop", Name: "web"}, Replicas: 9, Divided: true,
			Scheduled: metav1.Condition{Status: metav1.ConditionTrue, Message: "it is divided"},
			Targets: []facts.Target{
				{Cluster: "behind", Replicas: 1},
				{Cluster: "drifting", Replicas: 1},
				{Cluster: "errored", Replicas: 1},
				{Cluster: "failing", Replicas: 1},
				{Cluster: "healthy", Replicas: 1},
				{Cluster: "held", Left: "the cluster is held", Kept: true, Undecided: true},
				{Cluster: "nowhere", Replicas: 1},
				{Cluster: "suspended", Replicas: 1},
				{Cluster: "unhealthy", Replicas: 2},
				{Cluster: "unreachable", Left: "it is short of seats"},
				{Cluster: "untold", Replicas: 1},
			},
			Leaving: []karmada.GracefulEvictionTask{
				{
					FromCluster: "unreachable", Reason: "Unreachable", Message: "nobody answers",
					CreationTimestamp: &metav1.Time{Time: ago(3 * time.Hour)},
				},
				{FromCluster: "vaultless", Reason: "TaintUntolerated"},
			},
		},
		{
			Ref: database, Policy: "shop/all", Source: "shop/db.yaml",
			Scheduled: metav1.Condition{Status: metav1.ConditionFalse, Reason: "NoClusterFit", Message: "no cluster has room"},
		},
	}
}

// everything is a fleet in which everything happens that can.
func everything() *facts.Facts {
	f := &facts.Facts{At: noon, Site: forge.SiteOf(forge.GitHub, "https://github.com/team/fleet", "")}
	f.Fleet.Seen = state.Publication{Commit: strings.Repeat("c", 40), When: ago(2 * time.Hour)}
	f.Fleet.Clusters, f.Fleet.Addresses.Prefix = clusters(), "waybill/"
	all := templates()
	f.Bindings = func() facts.Bindings {
		return facts.Bindings{Templates: all, Unreadable: []string{"bindings/bad.yaml"}}
	}
	f.Rollouts = func() facts.Rollouts {
		return facts.Rollouts{Units: []rollouts.Rollout{
			{Unit: rollouts.Unit{Namespace: "pay", Name: "api"}, Status: rollouts.Status{Phase: rollouts.Done}},
			{
				Unit: rollouts.Unit{Namespace: "shop", Name: "web"},
				Status: rollouts.Status{
					Phase: rollouts.Stopped, Reason: rollouts.TooManyFailed, Message: "2 of 3 failed", Target: rollouts.Version{Commit: strings.Repeat("d", 40)},
				},
				Clusters: map[string]rollouts.Cluster{"failing": {State: rollouts.Failed, Since: metav1.Time{Time: ago(5 * time.Minute)}}},
			},
		}}
	}
	f.SourceErrors = func() sourceerrors.Record {
		return sourceerrors.Record{More: 3, Errors: []sourceerrors.Error{
			{
				Code: "BadYAML", File: "shop/db.yaml", Line: 7, Message: "a tab is no space", Hint: "replace it", Commit: strings.Repeat("d", 40),
				Since: ago(time.Minute),
			},
			{Code: "NoPolicy", File: "shop/other.yaml", Message: "there is no policy", Since: ago(time.Minute)},
		}}
	}
	return f
}

// objectIs is what is said of an object: its phase and its health, each for so long.
func objectIs(phase status.Phase, state karmada.ResourceHealth, applied, judged time.Duration) *status.Object {
	return &status.Object{
		Applied: status.Application{Phase: phase, Commit: id("e"), Source: strings.Repeat("c", 40), Since: ago(applied)},
		Health:  status.Health{State: state, Since: ago(judged)},
	}
}

// told is what clusters say of everything.
func told(m *reports.Cluster, namespace string) map[object.Ref]*status.Object {
	all := map[object.Ref]*status.Object{}
	well := objectIs(status.PhaseApplied, karmada.ResourceHealthy, 2*time.Hour, time.Hour)
	well.Health.Reason = "AllThere"
	switch m.Cluster {
	case "behind":
		all[web] = objectIs(status.PhaseApplied, karmada.ResourceUnknown, time.Hour, 30*time.Minute)
		all[web].Applied.Source, all[web].Applied.Commit = strings.Repeat("4", 40), files.ID{}
	case "drifting":
		all[web] = objectIs(status.PhaseApplied, karmada.ResourceHealthy, 20*time.Minute, time.Hour)
		all[web].Applied.Corrected = 4
	case "errored":
		all[web] = objectIs(status.PhasePending, karmada.ResourceUnknown, 10*time.Minute, time.Hour)
		all[web].Applied.Message = "an earlier wave is not healthy"
	case "failing":
		all[web] = objectIs(status.PhaseFailed, karmada.ResourceUnhealthy, 15*time.Minute, time.Hour)
		all[web].Applied.Message, all[web].Health.Message = "admission denied it", "it was never well"
		all[web].Health.Pods, all[web].Health.By = []health.Pods{{Reason: "Error", Count: 1}}, "Argo CD"
		all[settings] = objectIs(status.PhaseLeaving, karmada.ResourceHealthy, 5*time.Minute, time.Hour)
		all[settings].Applied.Source = ""
	case "healthy":
		all[web], all[api], all[settings], all[reader], all[front] = well, well, well, well, well
	case "held":
		all[front] = objectIs(status.PhaseApplied, karmada.ResourceHealthy, time.Hour, 0)
		all[front].Health.Since = time.Time{}
	case "suspended":
		all[web] = objectIs(status.PhaseApplied, karmada.ResourceHealthy, 4*time.Hour, 3*time.Hour)
		all[reader] = objectIs(status.PhaseApplied, karmada.ResourceHealthy, 30*time.Minute, 20*time.Minute)
	case "unhealthy":
		all[web] = objectIs(status.PhaseApplied, karmada.ResourceUnhealthy, time.Hour, 40*time.Minute)
		all[web].Health.Reason, all[web].Health.Message, all[web].Health.By = "InProgress", "1 of 2 is available", "Argo CD"
		all[web].Health.Pods = []health.Pods{{Reason: "ImagePullBackOff", Container: "main", Count: 2}, {Reason: "Evicted", Count: 1}}
		all[api] = objectIs(status.PhaseApplied, karmada.ResourceUnhealthy, time.Hour, 50*time.Minute)
		all[api].Health.Reason = "Degraded"
		stray := object.Ref{Kind: "Service", Namespace: "shop", Name: "stray"}
		all[stray] = objectIs(status.PhaseApplied, karmada.ResourceUnhealthy, time.Hour, 0)
		all[stray].Health.Since, all[stray].Health.Pods = time.Time{}, []health.Pods{{Reason: "Pending", Count: 1}}
	}
	if namespace != "*" {
		for r := range all {
			if r.Namespace != namespace {
				delete(all, r)
			}
		}
	}
	return all
}

// cluster is one of a fleet.
func cluster(f *facts.Facts, name string) *reports.Cluster {
	return &f.Fleet.Clusters[slices.IndexFunc(f.Fleet.Clusters, func(m reports.Cluster) bool { return m.Cluster == name })]
}
