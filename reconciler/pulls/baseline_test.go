package pulls_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/reconciler/post"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/draw"
	"github.com/waybill-dev/waybill/render/engine"
	"github.com/waybill-dev/waybill/render/engine/engines"
	"github.com/waybill-dev/waybill/render/renderer"
	"github.com/waybill-dev/waybill/render/worker"
	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/sources/forge"
	"github.com/waybill-dev/waybill/sources/lock"
)

// password is the value of a Secret that a release reads.
const password = "Hq7Zb3Xv9Kd1Wm5Ty8Rn2Gc6"

// releases are a source whose chart prints a password in two pieces, and what it draws, beside a word.
func releases(word string) map[string]string {
	return map[string]string{
		"chart/Chart.yaml": "apiVersion: v2\nname: chart\nversion: 1.0.0\n",
		"chart/templates/cm.yaml": "{{ $drawn := randAlphaNum 24 }}\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: printed, namespace: shop}\n" +
			"data: {word: {{ .Values.word }}, read: \"{{ .Values.word }}-{{ substr 0 11 .Values.password }} {{ substr 11 24 .Values.password }}\", drawn: \"{{ .Values.word }}-{{ $drawn }}\"}\n",
		"secret.yaml": "apiVersion: v1\nkind: Secret\nmetadata: {name: db, namespace: shop}\nstringData: {password: " + password + "}\n",
		"release.yaml": "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: web, namespace: shop, annotations: {waybill.dev/allow-functions: \"randAlphaNum\"}}\n" +
			"spec:\n  chart: {spec: {chart: ./chart, sourceRef: {kind: GitRepository, name: fleet}}}\n  values: {word: " + word + "}\n" +
			"  valuesFrom: [{kind: Secret, name: db, valuesKey: password, targetPath: password}]\n",
		"policy.yaml": "apiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\nmetadata: {name: releases, namespace: shop}\n" +
			"spec: {resourceSelectors: [{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease}]}\n",
	}
}

// counted counts what is rendered of each version.
type counted struct {
	render.Engine

	jobs map[string]int // by commit
}

func (c *counted) Render(ctx context.Context, s sources.Snapshot, jobs []engine.Job) ([]engine.Rendered, error) {
	c.jobs[s.Revision().Commit] += len(jobs)
	return c.Engine.Render(ctx, s, jobs)
}

func newCounted() *counted {
	return &counted{renderer.New(&worker.Local{Handler: engines.Run}, nil), map[string]int{}}
}

// drawing is requested with releases, for members and for strangers.
type drawing struct {
	*requested

	members   *counted
	strangers []*counted // an engine each time that a sandbox is asked for
	keys      int        // that were made up
	base      string
}

func newDrawing(t *testing.T) *drawing {
	t.Helper()
	d := &drawing{requested: newRequested(t, "previews: {forks: open}, secrets: allow"), members: newCounted()}
	key, err := draw.NewKey([]byte("0123456789abcdefghijklmnopqrstuvwxyzABCDEF"))
	if err != nil {
		t.Fatal(err)
	}
	r := d.previewer.Reconciler
	r.Engine, r.Random.Key = d.members, key
	d.previewer.Random = reading(func(p []byte) (int, error) {
		d.keys++
		return rand.Read(p)
	})
	d.previewer.PerAuthor = 100
	d.previewer.Sandbox = func(*render.ConfigSpec, ...lock.Lock) (render.Engine, error) {
		d.strangers = append(d.strangers, newCounted())
		return d.strangers[len(d.strangers)-1], nil
	}
	change(t, d.src, releases("one"))
	d.base = run(t, d.src, "rev-parse", "HEAD")
	return d
}

// reading is a reader.
type reading func(p []byte) (int, error)

func (r reading) Read(p []byte) (int, error) { return r(p) }

// asks has a new head be shown, and requires that it tells what changes, and nothing that nobody should know.
func (d *drawing) asks(fork bool, word string) {
	d.t.Helper()
	head := d.push(fork, releases(word))
	said := d.looks()
	about := post.Context
	if fork {
		about = post.StrangersContext
	}
	if s := d.fake.Shown(head, about); s.State != forge.Success || !strings.Contains(said, word) || !strings.Contains(said, "drawn") {
		d.t.Errorf("the status is %+v; it says\n%s", s, said)
	}
	if strings.Contains(said, password[:8]) || strings.Contains(said, password[12:20]) || strings.Contains(said, word+"-") {
		d.t.Errorf("it shows a password:\n%s", said)
	}
}

// TestOpenRequestsShareTheirBase: the version that open pull requests are compared with is planned once for all of
// them, with its twin and its key, and once for all strangers' by an engine that members' do not have.
func TestOpenRequestsShareTheirBase(t *testing.T) {
	d := newDrawing(t)
	const requests = 5
	for i := range requests {
		d.asks(false, fmt.Sprintf("member%d", i))
		if of := d.members.jobs[d.base]; i == 0 && of == 0 || of != 2 {
			t.Fatalf("after %d requests the base was rendered in %d jobs", i+1, of)
		}
	}
	for i := range requests {
		d.asks(true, fmt.Sprintf("stranger%d", i))
	}
	if len(d.strangers) != 1 || d.strangers[0].jobs[d.base] != 2 || d.members.jobs[d.base] != 2 || d.keys != 2 {
		t.Errorf("with %d sandboxes and %d keys the base was rendered in %d jobs for members", len(d.strangers), d.keys, d.members.jobs[d.base])
	}
	for commit := range d.strangers[0].jobs {
		if d.members.jobs[commit] > 0 && commit != d.base {
			t.Errorf("%s is rendered for members and for strangers", commit)
		}
	}
	publisher := *d.previewer.Reconciler
	if _, err := publisher.Publish(t.Context(), "main"); err != nil {
		t.Fatal(err)
	}
	before := d.members.jobs[d.base]
	d.asks(false, "published")
	if d.members.jobs[d.base] == before || d.keys != 3 {
		t.Errorf("after a publication the base is as it was before, with %d keys", d.keys)
	}
	before, d.now = d.members.jobs[d.base], d.now.Add(time.Hour)
	d.asks(false, "later")
	if d.members.jobs[d.base] == before || d.keys != 4 {
		t.Errorf("an hour later the base is as it was before, with %d keys", d.keys)
	}
}

// TestACauseShowsNoSecret: a policy that a release renders of a Secret is named as the cause of what it places
// otherwise, and neither its fields nor its name show what the release made of the Secret.
func TestACauseShowsNoSecret(t *testing.T) {
	const placed = "  placement: {clusterAffinity: {clusterNames: [{{ .Values.word }}]}}\n  resourceSelectors: [{apiVersion: v1, kind: ConfigMap, name: fresh}]\n"
	for name, tt := range map[string]struct{ policy, because string }{
		"neither": {"{name: own, namespace: shop}\nspec:\n" + placed, "PropagationPolicy shop/own: spec.placement.clusterAffinity.clusterNames"},
		"a field": {"{name: own, namespace: shop}\nspec:\n  schedulerName: \"{{ substr 0 11 .Values.password }}-{{ .Values.word }}\"\n" + placed, "clusterNames"},
		"a key":   {"{name: own, namespace: shop, labels: {\"{{ substr 0 11 .Values.password }}-{{ .Values.word }}\": x}}\nspec:\n" + placed, "clusterNames"},
		"a name":  {"{name: \"own-{{ substr 0 11 .Values.password | lower }}-{{ .Values.word }}\", namespace: shop}\nspec:\n" + placed, "what depends on the value of a Secret"},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDrawing(t)
			of := func(cluster string) map[string]string {
				files := releases(cluster)
				delete(files, "policy.yaml") // policies act that a release renders which no policy selects
				files["chart/templates/cm.yaml"] = "apiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\nmetadata: " + tt.policy
				files["us.yaml"] = "apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: us}\nspec: {syncMode: Pull}\n"
				files["fresh.yaml"] = strings.ReplaceAll(strings.ReplaceAll(configMap, "name: a", "name: fresh"), "%", "x")
				return files
			}
			run(t, d.src, "rm", "-q", "policy.yaml")
			change(t, d.src, of("eu"))
			d.push(false, of("us"))
			said := d.looks()
			if _, because, _ := strings.Cut(said, "because: "); !strings.Contains(because, tt.because) {
				t.Errorf("it does not tell why:\n%s", said)
			}
			if strings.Contains(said, password[:8]) || strings.Contains(said, strings.ToLower(password[:8])) {
				t.Errorf("it shows a password:\n%s", said)
			}
		})
	}
}

// TestAHoldShowsNoSecret: why the guard holds a cluster names what it would lose, and not by a name that a release made of
// a Secret.
func TestAHoldShowsNoSecret(t *testing.T) {
	d := newDrawing(t)
	files := releases("one")
	delete(files, "policy.yaml")
	files["chart/templates/cm.yaml"] = "apiVersion: v1\nkind: Namespace\nmetadata: {name: \"own-{{ substr 0 11 .Values.password | lower }}\"}\n"
	files["namespaces.yaml"] = "apiVersion: policy.karmada.io/v1alpha1\nkind: ClusterPropagationPolicy\nmetadata: {name: namespaces}\nspec: {resourceSelectors: [{apiVersion: v1, kind: Namespace}]}\n"
	run(t, d.src, "rm", "-q", "policy.yaml")
	change(t, d.src, files)
	publisher := *d.previewer.Reconciler
	if _, err := publisher.Publish(t.Context(), "main"); err != nil {
		t.Fatal(err)
	}
	if found := run(t, d.bare, "ls-tree", "-r", "--name-only", "waybill/cluster/eu"); !strings.Contains(found, "own-"+strings.ToLower(password[:8])) {
		t.Fatalf("the Namespace is not published:\n%s", found)
	}
	run(t, d.src, "checkout", "-q", "-B", "change", "main")
	run(t, d.src, "rm", "-q", "chart/templates/cm.yaml")
	change(t, d.src, map[string]string{"chart/templates/none.yaml": "\n"})
	head := run(t, d.src, "rev-parse", "HEAD")
	run(t, d.src, "checkout", "-q", "main")
	d.fake.PushCommit(head)
	said := d.looks()
	if s := d.fake.Shown(head, post.Context); s.State != forge.Failure || !strings.Contains(said, "would be held") && !strings.Contains(said, "holds") {
		t.Errorf("the status is %+v; it says\n%s", s, said)
	}
	if strings.Contains(said, strings.ToLower(password[:8])) {
		t.Errorf("it shows a password:\n%s", said)
	}
}
