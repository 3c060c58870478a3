package autoscale_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/hpa"
	"github.com/waybill-dev/waybill/policies/index"
	"github.com/waybill-dev/waybill/policies/interpret"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/policies/place"
	"github.com/waybill-dev/waybill/policies/template"
	"github.com/waybill-dev/waybill/reconciler/plan/autoscale"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/fluxsync"
	"github.com/waybill-dev/waybill/render/object"
)

var web = object.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"}

const deployment = "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: shop}, spec: {replicas: 3}}\n"

// federated is a FederatedHPA between bounds.
func federated(name, kind, target string, least, most int) string {
	return fmt.Sprintf("{apiVersion: autoscaling.karmada.io/v1alpha1, kind: FederatedHPA, metadata: {name: %s, namespace: shop}, spec: {scaleTargetRef: {apiVersion: apps/v1, kind: %s, name: %s}, minReplicas: %d, maxReplicas: %d}}\n",
		name, kind, target, least, most)
}

// cron is a CronFederatedHPA with one rule.
func cron(name, apiVersion, kind, target, schedule, sets string) string {
	return fmt.Sprintf("{apiVersion: autoscaling.karmada.io/v1alpha1, kind: CronFederatedHPA, metadata: {name: %s, namespace: shop}, spec: {scaleTargetRef: {apiVersion: %s, kind: %s, name: %s}, rules: [{name: r, schedule: %q, timeZone: UTC, %s}]}}\n",
		name, apiVersion, kind, target, schedule, sets)
}

const group = "autoscaling.karmada.io/v1alpha1"

// find finds what the FederatedHPAs of a source scale at noon, some of which acted by the last plan.
func find(t *testing.T, documents []string, acted ...string) autoscale.Result {
	t.Helper()
	d := object.Decode("all.yaml", []byte(strings.Join(documents, "---\n")))
	set, objects, diags := policies.Load(d.Objects, nil)
	if len(d.Diags)+len(diags) > 0 {
		t.Fatal(d.Diags, diags)
	}
	templates := make([]*template.Template, len(objects))
	for i, o := range objects {
		templates[i] = template.New(o, &template.Memo{})
	}
	slices.SortFunc(templates, func(a, b *template.Template) int { return a.Ref().Compare(b.Ref()) })
	return autoscale.Find(autoscale.Input{
		Set: &set, Templates: templates, Interpreter: interpret.New(), Now: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC),
		IsClaimed: func(*template.Template) bool { return true },
		Was:       func(r object.Ref) bool { return slices.Contains(acted, r.Name) },
	})
}

// TestWhatFederatedHPAsScale: which of them act, between which bounds, when that may be otherwise, and what is said of the others.
func TestWhatFederatedHPAsScale(t *testing.T) {
	const night, day = "0 22 * * *", "0 6 * * *"
	one := federated("web", "Deployment", "web", 2, 9)
	for _, tt := range []struct {
		name    string
		source  []string
		acted   []string
		want    string // what acts, with its bounds
		recheck string // when, or "timed" where that is not known; empty where no time counts
		says    []string
	}{
		{"one", []string{deployment, one}, nil, "web 2-9", "", nil},
		{"what is not there", []string{deployment, federated("db", "Deployment", "db", 1, 2)}, nil, "", "", []string{"scales-nothing: FederatedHPA shop/db scales Deployment.apps/shop/db, which is no template of the source"}},
		{"what has no replicas", []string{"{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: web, namespace: shop}}\n", federated("web", "DaemonSet", "web", 1, 2)}, nil, "", "", []string{"not-scalable: of which spec.replicas does not say how many there are"}},
		{"one of its name is there", []string{deployment, one, "{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: web, namespace: shop}, spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: x}, maxReplicas: 5}}\n"}, nil, "", "", []string{"duplicate-object: becomes HorizontalPodAutoscaler.autoscaling/shop/web, which is in the source, too"}},
		{"two of one", []string{deployment, federated("b", "Deployment", "web", 1, 2), federated("a", "Deployment", "web", 1, 3)}, nil, "a 1-3", "", []string{"scales-twice: FederatedHPA shop/b scales Deployment.apps/shop/web, which FederatedHPA shop/a scales, too; nothing comes of this one"}},
		{"the second one acted", []string{deployment, federated("a", "Deployment", "web", 1, 3), federated("b", "Deployment", "web", 1, 2)}, []string{"b"}, "b 1-2", "", []string{"scales-twice: FederatedHPA shop/a scales Deployment.apps/shop/web, which FederatedHPA shop/b scales, too; nothing comes of this one"}},
		{"both acted", []string{deployment, federated("a", "Deployment", "web", 1, 3), federated("b", "Deployment", "web", 1, 2)}, []string{"a", "b"}, "a 1-3", "", []string{"scales-twice: both act, and each undoes what the other does"}},
		{"a schedule scales the template", []string{deployment, one, cron("c", "apps/v1", "Deployment", "web", day, "targetReplicas: 5")}, nil, "", "", []string{"scales-twice: which CronFederatedHPA shop/c scales, too; nothing comes of this one"}},
		{"a schedule scales another template", []string{deployment, one, cron("c", "apps/v1", "Deployment", "other", day, "targetReplicas: 5")}, nil, "web 2-9", "", nil},
		{"a schedule scales it", []string{deployment, one, cron("c", group, "FederatedHPA", "web", day, "targetMinReplicas: 4, targetMaxReplicas: 7")}, nil, "web 4-7", "2026-11-22T06:00", nil},
		{"its rule has not come about", []string{deployment, one, cron("c", group, "FederatedHPA", "web", night, "targetMinReplicas: 4")}, nil, "web 4-9", "2026-11-21T22:00", nil},
		{"a schedule scales another one", []string{deployment, one, cron("c", group, "FederatedHPA", "other", day, "targetMinReplicas: 4")}, nil, "web 2-9", "", []string{"scales-nothing: CronFederatedHPA shop/c scales FederatedHPA.autoscaling.karmada.io/shop/other, which is not in the source"}},
		{"a schedule of days that never come", []string{deployment, one, cron("c", group, "FederatedHPA", "web", "0 0 30 2 *", "targetMinReplicas: 4")}, nil, "web 2-9", "timed", []string{"bad-schedule: CronFederatedHPA shop/c rule r: schedule 0 0 30 2 * never comes about"}},
		{"what is encrypted", []string{"apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: shop}\nspec: {replicas: 3}\nsops: {mac: 'ENC[AES256_GCM,data:x,iv:y,tag:z,type:str]', lastmodified: '2026-11-21T00:00:00Z', version: 3.9.0}\n", one}, nil, "", "", []string{"not-scalable: which is encrypted by SOPS"}},
		{"what scales another template in another way", []string{deployment, one, "{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: web, namespace: shop}, spec: {replicas: 3, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}}\n"}, nil, "web 2-9", "", nil},
		{"a rule that cannot be", []string{deployment, one, cron("c", group, "FederatedHPA", "web", day, "targetMinReplicas: 20")}, nil, "web 2-9", "2026-11-22T06:00", []string{"rule-passed-over: CronFederatedHPA shop/c rule r is passed over: FederatedHPA shop/web would have a least above its most"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := find(t, tt.source, tt.acted...)
			var acts []string
			for _, s := range r.Scalers {
				acts = append(acts, fmt.Sprintf("%s %d-%d", s.Object.Ref().Name, s.Bounds.Min, s.Bounds.Max))
				if r.Of[s.Target] != s {
					t.Errorf("%s scales nothing that is known", s.Object.Ref())
				}
			}
			if got := strings.Join(acts, " "); got != tt.want || len(r.Of) != len(r.Scalers) {
				t.Errorf("there act %s; want %s", got, tt.want)
			}
			again := ""
			switch {
			case !r.Recheck.At.IsZero():
				again = r.Recheck.At.Format("2006-01-02T15:04")
			case r.Recheck.Timed:
				again = "timed"
			}
			if again != tt.recheck {
				t.Errorf("it looks again at %q; want %q", again, tt.recheck)
			}
			wants(t, r.Diags, tt.says...)
		})
	}
}

// wants fails unless diagnostics are of codes, and have texts.
func wants(t *testing.T, diags []diag.Diagnostic, says ...string) {
	t.Helper()
	if len(diags) != len(says) {
		t.Errorf("it says %v; want %q", diags, says)
		return
	}
	for n, want := range says {
		code, text, _ := strings.Cut(want, ": ")
		if d := diags[n]; string(d.Code) != code || !strings.Contains(d.Message, text) {
			t.Errorf("it says %v; want %q", d, want)
		}
	}
}

// scaler is the FederatedHPA of the tests.
func scaler(t *testing.T, least, most int) *autoscale.Scaler {
	t.Helper()
	return find(t, []string{deployment, federated("web", "Deployment", "web", least, most)}).Of[web]
}

// TestShares: bounds are divided where replicas are, by weights, or else as replicas are; what other templates bring along, and what
// is duplicated, has them whole.
func TestShares(t *testing.T) {
	in := func(names ...string) (all []karmada.TargetCluster) {
		for n, name := range names {
			all = append(all, karmada.TargetCluster{Name: name, Replicas: int32(3 - n)})
		}
		return all
	}
	for _, tt := range []struct {
		name        string
		least, most int
		placed      autoscale.Placed
		want        string
		says        []string
	}{
		{"duplicated", 2, 9, autoscale.Placed{Own: in("eu", "us"), All: in("eu", "us")}, "eu 2-9 us 2-9", nil},
		{"divided as replicas are", 3, 9, autoscale.Placed{Own: in("eu", "us"), All: in("eu", "us"), IsDivided: true}, "eu 2-5 us 1-4", nil},
		{"divided by weights", 4, 8, autoscale.Placed{Own: in("eu", "us"), All: in("eu", "us"), IsDivided: true, Static: []place.Weight{{Name: "eu", Weight: 1}, {Name: "us", Weight: 3}}}, "eu 1-2 us 3-6", nil},
		{"brought along elsewhere", 4, 8, autoscale.Placed{Own: in("eu"), All: in("eu", "us"), IsDivided: true}, "eu 4-8 us 4-8", nil},
		{"a least that is raised", 1, 9, autoscale.Placed{Own: in("eu", "us"), All: in("eu", "us"), IsDivided: true}, "eu 1-5 us 1-4", []string{"hpa-floor: FederatedHPA shop/web asks for at least 1, and is divided over 2 clusters: there are at least 2"}},
		{"a least that is not", 2, 9, autoscale.Placed{Own: in("eu", "us"), All: in("eu", "us"), IsDivided: true}, "eu 1-5 us 1-4", nil},
		{"no seat", 1, 1, autoscale.Placed{Own: in("eu"), All: in("eu"), IsDivided: true, Seatless: []string{"us"}}, "eu 1-1", []string{"hpa-no-seat: us gets neither Deployment.apps/shop/web nor a HorizontalPodAutoscaler"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			shares, diags := scaler(t, tt.least, tt.most).Shares(tt.placed)
			var all []string
			for name, s := range shares {
				all = append(all, fmt.Sprintf("%s %d-%d", name, s.Min, s.Max))
			}
			slices.Sort(all)
			if got := strings.Join(all, " "); got != tt.want {
				t.Errorf("the shares are %s; want %s", got, tt.want)
			}
			wants(t, diags, tt.says...)
		})
	}
}

// TestHandOver: where the template was published with replicas, it keeps them unless it is known that Waybill applies it.
func TestHandOver(t *testing.T) {
	says := func(clusters ...string) func(*autoscale.Scaler, string) bool {
		return func(_ *autoscale.Scaler, c string) bool { return slices.Contains(clusters, c) }
	}
	by := map[string]string{"eu": "Waybill", "us": "Flux", "ap": "Argo CD", "sa": ""}
	for _, tt := range []struct {
		name   string
		labels map[string]string
		says   func(*autoscale.Scaler, string) bool
		want   string // where there is a share then
		hints  []string
		wants  []string
	}{
		{"nothing is known of branches", nil, nil, "ap eu sa us", nil, nil},
		{"Git says replicas nowhere", nil, says(), "ap eu sa us", nil, nil},
		{"Waybill applies it", nil, says("eu"), "ap eu sa us", []string{"waybill.yaml says that Waybill applies it there"}, []string{"hpa-handover: which Git no longer says; Waybill leaves as many as there are"}},
		{"Flux applies it", nil, says("us"), "ap eu sa", []string{"kubectl get deployment.apps/web -n shop"}, []string{"hpa-handover: waits in us: Flux applies Deployment.apps/shop/web there with spec.replicas"}},
		{"nobody knows who does", nil, says("sa"), "ap eu us", []string{"write publish.appliedBy: waybill into waybill.yaml"}, []string{"hpa-handover: waits in sa: it is not known who applies"}},
		{"several do", nil, says("sa", "us", "ap"), "eu", nil, []string{"hpa-handover: it is not known", "hpa-handover: Argo CD applies", "hpa-handover: Flux applies"}},
		{"somebody handed it over", map[string]string{karmada.RetainReplicasLabel: "true"}, says("us", "sa"), "ap eu sa us", nil, nil},
		{"the label says something else", map[string]string{karmada.RetainReplicasLabel: "false"}, says("us"), "ap eu sa", nil, []string{"hpa-handover: waits in us"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			shares := map[string]hpa.Share{"eu": {}, "us": {}, "ap": {}, "sa": {}}
			diags := scaler(t, 1, 2).HandOver(shares, tt.labels, autoscale.Published{Says: tt.says, By: func(c string) string { return by[c] }})
			var left []string
			for name := range shares {
				left = append(left, name)
			}
			slices.Sort(left)
			if got := strings.Join(left, " "); got != tt.want {
				t.Errorf("there are shares in %s; want %s", got, tt.want)
			}
			wants(t, diags, tt.wants...)
			for _, d := range diags {
				if waits := strings.Contains(d.Message, " waits in "); waits != (d.Severity == diag.Warning) {
					t.Errorf("%q is a %s", d.Message, d.Severity)
				}
			}
			for n, hint := range tt.hints {
				if n < len(diags) && !strings.Contains(diags[n].Hint, hint) {
					t.Errorf("the hint is %q; want %q", diags[n].Hint, hint)
				}
			}
		})
	}
}

// TestWhoAppliesABranch: the setting says so, or one that only one of them has a use for, or an annotation of the cluster.
func TestWhoAppliesABranch(t *testing.T) {
	const annotated = "{apiVersion: cluster.karmada.io/v1alpha1, kind: Cluster, metadata: {name: us, annotations: {waybill.dev/flux-namespace: gitops}}, spec: {syncMode: Push}}\n"
	set, _, diags := policies.Load(object.Decode("all.yaml", []byte("{apiVersion: cluster.karmada.io/v1alpha1, kind: Cluster, metadata: {name: eu}, spec: {syncMode: Push}}\n---\n"+annotated)).Objects, nil)
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	for _, tt := range []struct {
		name   string
		set    func(*render.Publish)
		eu, us string
	}{
		{"nothing", func(*render.Publish) {}, "", "Flux"},
		{"it says Waybill", func(p *render.Publish) { p.AppliedBy = render.AppliedByWaybill }, "Waybill", "Flux"},
		{"it says Flux", func(p *render.Publish) { p.AppliedBy = render.AppliedByFlux }, "Flux", "Flux"},
		{"it says Argo CD", func(p *render.Publish) { p.AppliedBy = render.AppliedByArgoCD }, "Argo CD", "Flux"},
		{"hooks of Argo CD", func(p *render.Publish) { p.Hooks = render.HooksArgoCD }, "Argo CD", "Flux"},
		{"settings of Flux", func(p *render.Publish) { p.Flux.Namespace = "gitops" }, "Flux", "Flux"},
		{"it says Waybill, with hooks of Argo CD", func(p *render.Publish) { p.AppliedBy, p.Hooks = render.AppliedByWaybill, render.HooksArgoCD }, "Waybill", "Flux"},
	} {
		config := render.DefaultConfig()
		config.Publish.Flux = fluxsync.Default()
		tt.set(&config.Publish)
		p := autoscale.Again(&config.Publish, index.Of(set, nil, &index.Memo{}), nil)
		if eu, us := p.By("eu"), p.By("us"); eu != tt.eu || us != tt.us {
			t.Errorf("%s: applied by %q and %q; want %q and %q", tt.name, eu, us, tt.eu, tt.us)
		}
	}
}

// TestWhereReplicasWereByThePlanBefore: where what is made of the FederatedHPA was not.
func TestWhereReplicasWereByThePlanBefore(t *testing.T) {
	s := scaler(t, 1, 2)
	config := render.DefaultConfig()
	of := func(recorded map[object.Ref]*karmada.ResourceBinding) autoscale.Published {
		return autoscale.Again(&config.Publish, index.Of(policies.Set{}, nil, &index.Memo{}), recorded)
	}
	recorded := of(map[object.Ref]*karmada.ResourceBinding{s.Ref(): {Spec: karmada.ResourceBindingSpec{Clusters: []karmada.TargetCluster{{Name: "eu"}}}}})
	if recorded.Says(s, "eu") || !recorded.Says(s, "us") || of(nil).Says(s, "us") {
		t.Errorf("replicas stayed in eu: %v, in us: %v, and of nothing recorded: %v", recorded.Says(s, "eu"), recorded.Says(s, "us"), of(nil).Says(s, "us"))
	}
}

// TestReplicasThatGitSaysAgain are those of templates whose FederatedHPA is gone, and had clusters.
func TestReplicasThatGitSaysAgain(t *testing.T) {
	bound := func(target string, clusters ...karmada.TargetCluster) *karmada.ResourceBinding {
		b := state.NewBinding("autoscaling/v2", object.Ref{Group: "autoscaling", Kind: "HorizontalPodAutoscaler", Namespace: "shop", Name: "x"})
		if target != "" {
			b.Annotations[state.ScalesAnnotation] = target
		}
		b.Spec.Clusters = clusters
		return b
	}
	named := func(name string) object.Ref {
		return object.Ref{Group: "autoscaling", Kind: "HorizontalPodAutoscaler", Namespace: "shop", Name: name}
	}
	eu := karmada.TargetCluster{Name: "eu"}
	diags := autoscale.Returned(map[object.Ref]*karmada.ResourceBinding{
		named("web"): bound("Deployment.apps/shop/web", eu), named("db"): bound("StatefulSet.apps/shop/db", eu), named("stays"): bound("Deployment.apps/shop/stays", eu),
		named("nowhere"): bound("Deployment.apps/shop/nowhere"), named("other"): bound("", eu),
	}, func(r object.Ref) bool { return r.Name == "stays" })
	wants(t, diags, "hpa-handover: shop/db goes, and Git says again how many replicas StatefulSet.apps/shop/db has", "hpa-handover: shop/web goes, and Git says again how many replicas Deployment.apps/shop/web has")
}
