package updates_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/policies/images"
	"github.com/waybill-dev/waybill/reconciler/planner"
	"github.com/waybill-dev/waybill/reconciler/updates"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/marker"
	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/sources/lock"
	"github.com/waybill-dev/waybill/sources/registry"
	"github.com/waybill-dev/waybill/test/twin"
)

const flux = "apiVersion: image.toolkit.fluxcd.io/v1\nkind: "

// policyOf is a policy of the image, with a spec of its own.
func policyOf(name, spec string) string {
	return flux + "ImagePolicy\nmetadata: {name: " + name + ", namespace: shop}\nspec: {imageRepositoryRef: {name: web}, policy: {semver: {range: 1.x}}" + spec + "}\n---\n"
}

// automationOf is an automation, with a spec of its own.
func automationOf(name, spec string) string {
	return flux + "ImageUpdateAutomation\nmetadata: {name: " + name + ", namespace: shop}\nspec: {interval: 1m, sourceRef: {kind: GitRepository, name: flux-system}" + spec + "}\n---\n"
}

const imageOfWeb = flux + "ImageRepository\nmetadata: {name: web, namespace: shop}\nspec: {image: ghcr.io/acme/web, interval: 5m}\n---\n"

// valueOf is a line with the value of a policy.
func valueOf(image, of string) string {
	return "image: " + image + " # {\"$imagepolicy\": \"shop:" + of + "\"}\n"
}

// snapshotOf is a version of a source, by its files.
func snapshotOf(t *testing.T, source map[string]string) sources.Snapshot {
	t.Helper()
	tree := twin.Tree{"waybill.yaml": twin.File([]byte("apiVersion: waybill.dev/v1alpha1\nkind: Config\nspec: {updates: {mode: pullRequest}}\n"))}
	for name, text := range source {
		tree[name] = twin.File([]byte(text))
	}
	repo := twin.New("fleet")
	repo.Write("main", "a source", tree.Folder())
	s, err := repo.Snapshot(t.Context(), "main", "")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// readFrom reads what a source subscribes to, by its files.
func readFrom(t *testing.T, source map[string]string, charts updates.Charts) (updates.Source, sources.Snapshot) {
	t.Helper()
	s := snapshotOf(t, source)
	read, err := render.Load(t.Context(), s, render.With{})
	if err != nil {
		t.Fatal(err)
	}
	of, err := updates.Read(s, &read, charts)
	if err != nil {
		t.Fatal(err)
	}
	return of, s
}

// TestWhatASourceSubscribesTo: each policy with the values that may be written, what these are, and why nothing may be.
func TestWhatASourceSubscribesTo(t *testing.T) {
	b, c := strings.Repeat("b", 64), strings.Repeat("c", 64)
	at1, at2 := "ghcr.io/acme/web:1.0.0", "ghcr.io/acme/web:1.2.0@sha256:"+b
	short := strings.NewReplacer(b, "b", c, "c")
	web, suspended := policyOf("web", ""), policyOf("web", ", suspend: true")
	for name, tt := range map[string]struct {
		files map[string]string
		want  string // a line a subscription
		says  string // of the only diagnostic; empty: there is none
	}{
		"one value": {files: map[string]string{"p.yaml": imageOfWeb + web, "a.yaml": valueOf(at1, "web")}, want: "shop/web a.yaml:1 1.0.0"},
		"the newest of several, with its digest": {
			files: map[string]string{"p.yaml": imageOfWeb + web, "a.yaml": valueOf(at1, "web") + valueOf(at2, "web"), "b.yml": valueOf(at1, "web")},
			want:  "shop/web a.yaml:1 a.yaml:2 b.yml:1 1.2.0@sha256:b",
		},
		"the newest comes first": {
			files: map[string]string{"p.yaml": imageOfWeb + web, "a.yaml": valueOf(at2, "web") + valueOf(at1, "web")}, want: "shop/web a.yaml:1 a.yaml:2 1.2.0@sha256:b",
		},
		"a tag that is no version beside one": {
			files: map[string]string{"p.yaml": imageOfWeb + web, "a.yaml": valueOf("ghcr.io/acme/web:latest", "web") + valueOf(at1, "web")}, want: "shop/web a.yaml:1 a.yaml:2 1.0.0",
		},
		"a version beside a tag that is none": {
			files: map[string]string{"p.yaml": imageOfWeb + web, "a.yaml": valueOf(at1, "web") + valueOf("ghcr.io/acme/web:latest", "web")}, want: "shop/web a.yaml:1 a.yaml:2 1.0.0",
		},
		"a digest of its own": {
			files: map[string]string{"p.yaml": imageOfWeb + web, "a.yaml": valueOf(at1, "web") + "digest: sha256:" + c + " # {\"$imagepolicy\": \"shop:web:digest\"}\n"}, want: "shop/web a.yaml:1 a.yaml:2 1.0.0@sha256:c",
		},
		"no value":                      {files: map[string]string{"p.yaml": imageOfWeb + web}, want: "shop/web NoMarker"},
		"a value of no file of its own": {files: map[string]string{"p.yaml": imageOfWeb + web, "a.txt": valueOf(at1, "web")}, want: "shop/web NoMarker"},
		"two policies": {
			files: map[string]string{"p.yaml": imageOfWeb + web + policyOf("api", ""), "a.yaml": valueOf(at1, "web") + valueOf(at2, "api")}, want: "shop/api a.yaml:2 1.2.0@sha256:b\nshop/web a.yaml:1 1.0.0",
		},
		"a suspended policy":                 {files: map[string]string{"p.yaml": imageOfWeb + suspended, "a.yaml": valueOf(at1, "web")}, want: "shop/web a.yaml:1 1.0.0 Suspended"},
		"a suspended policy without a value": {files: map[string]string{"p.yaml": imageOfWeb + suspended}, want: "shop/web Suspended"},
		"a marker that is a mistake": {
			files: map[string]string{"p.yaml": imageOfWeb + web, "a.yaml": valueOf(at1, "web") + "x: y # {\"$imagepolicy\": \"shop:web:sum\"}\n"}, want: "shop/web a.yaml:1 1.0.0 MarkerBad", says: "sum",
		},
		"a marker of no policy": {
			files: map[string]string{"p.yaml": imageOfWeb + web, "a.yaml": valueOf(at1, "web") + valueOf(at1, "wab")}, want: "shop/web a.yaml:1 1.0.0", says: "names the ImagePolicy shop/wab, which is not in the source",
		},
		"a marker of a policy that has a mistake": {
			files: map[string]string{"p.yaml": imageOfWeb + web + strings.Replace(policyOf("api", ""), "name: web}", "name: none}", 1), "a.yaml": valueOf(at1, "web") + valueOf(at1, "api")},
			want:  "shop/web a.yaml:1 1.0.0\nbroken shop/api", says: "ImagePolicy shop/api",
		},
		"an automation": {
			files: map[string]string{"p.yaml": imageOfWeb + web + automationOf("all", ""), "a.yaml": valueOf(at1, "web")}, want: "shop/web a.yaml:1 1.0.0 by shop/all",
		},
		"an automation of a folder": {
			files: map[string]string{
				"p.yaml": imageOfWeb + web + automationOf("apps", ", update: {path: ./apps}"), "a.yaml": valueOf(at1, "web"), "apps/b.yaml": valueOf(at2, "web"), "apps2/c.yaml": valueOf(at2, "web"),
			}, want: "shop/web apps/b.yaml:1 1.2.0@sha256:b by shop/apps",
		},
		"an automation of a folder without a value": {
			files: map[string]string{"p.yaml": imageOfWeb + web + automationOf("apps", ", update: {path: ./apps}"), "a.yaml": valueOf(at1, "web")}, want: "shop/web NoMarker by shop/apps",
		},
		"two automations of folders": {
			files: map[string]string{
				"p.yaml": imageOfWeb + web + automationOf("a", ", update: {path: ./a}") + automationOf("b", ", update: {path: ./b}"), "a/a.yaml": valueOf(at1, "web"), "b/b.yaml": valueOf(at1, "web"), "c/c.yaml": valueOf(at1, "web"),
			}, want: "shop/web a/a.yaml:1 b/b.yaml:1 1.0.0 by shop/a",
		},
		"a suspended automation": {
			files: map[string]string{"p.yaml": imageOfWeb + web + automationOf("all", ", suspend: true"), "a.yaml": valueOf(at1, "web")}, want: "shop/web Suspended",
		},
		"a suspended automation beside another one": {
			files: map[string]string{"p.yaml": imageOfWeb + web + automationOf("all", ", suspend: true") + automationOf("other", ""), "a.yaml": valueOf(at1, "web")}, want: "shop/web a.yaml:1 1.0.0 by shop/other",
		},
		"an automation of other policies": {
			files: map[string]string{"p.yaml": imageOfWeb + web + automationOf("all", ", policySelector: {matchLabels: {a: b}}"), "a.yaml": valueOf(at1, "web")}, want: "shop/web NotAutomated",
		},
		"a suspended automation of other policies": {
			files: map[string]string{"p.yaml": imageOfWeb + web + automationOf("all", ", suspend: true, policySelector: {matchLabels: {a: b}}"), "a.yaml": valueOf(at1, "web")}, want: "shop/web NotAutomated",
		},
		"an automation that has a mistake": {
			files: map[string]string{"p.yaml": imageOfWeb + web + automationOf("all", ", update: {path: ../..}"), "a.yaml": valueOf(at1, "web")}, want: "shop/web Unclear", says: "outside of the source",
		},
		"a part that cannot be read": {
			files: map[string]string{"p.yaml": imageOfWeb + web, "a.yaml": valueOf(at1, "web"), "x.yaml": "apiVersion: v1\nkind: ConfigMap\n  bad: [\n"}, want: "shop/web Unclear\npartial",
		},
		"an automation, and a part that cannot be read": {
			files: map[string]string{"p.yaml": imageOfWeb + web + automationOf("all", ""), "a.yaml": valueOf(at1, "web"), "x.yaml": "apiVersion: v1\nkind: ConfigMap\n  bad: [\n"}, want: "shop/web a.yaml:1 1.0.0 by shop/all\npartial",
		},
	} {
		of, _ := readFrom(t, tt.files, updates.Charts{})
		var lines []string
		for i := range of.Subscriptions {
			sub := &of.Subscriptions[i]
			words := append([]string{sub.Name().String()}, sub.Places()...)
			if is := sub.Current; is != (marker.Image{}) {
				words = append(words, short.Replace(strings.TrimSuffix(is.Tag+"@"+is.Digest, "@")))
			}
			words = append(words, string(sub.Why))
			if sub.Automation != nil {
				words = append(words, "by "+sub.Automation.Name.String())
			}
			lines = append(lines, strings.Join(slices.DeleteFunc(words, func(w string) bool { return w == "" }), " "))
			if sub.What() != "image" || sub.Repository != "ghcr.io/acme/web" || sub.Interval() != 5*time.Minute {
				t.Errorf("%s: it is the %s %s, asked for each %s", name, sub.What(), sub.Repository, sub.Interval())
			}
		}
		for n := range of.Broken {
			lines = append(lines, "broken "+n.String())
		}
		if of.Partial {
			lines = append(lines, "partial")
		}
		if d := cmp.Diff(tt.want, strings.Join(lines, "\n")); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
		if tt.says == "" && len(of.Diags) > 0 || tt.says != "" && (len(of.Diags) != 1 || !strings.Contains(of.Diags[0].Message+of.Diags[0].String(), tt.says)) {
			t.Errorf("%s: it is told %v, want %q", name, of.Diags, tt.says)
		}
	}
}

// chartAt is a chart by its reference.
func chartAt(kind lock.Kind, constraint string) lock.Ref {
	repository := map[lock.Kind]string{lock.Helm: "https://charts.example", lock.OCI: "oci://ghcr.io/acme/charts"}[kind]
	return lock.Ref{Kind: kind, Repository: repository, Name: "podinfo", Constraint: constraint}
}

// TestWhichChartsAreSubscribedTo: those that a range names, or a tag of a registry that moves, and that the lock file has, each once.
func TestWhichChartsAreSubscribedTo(t *testing.T) {
	sum := strings.Repeat("a", 64)
	for name, tt := range map[string]struct {
		ref     lock.Ref
		version string // that is locked; empty: none is
		want    string
		moves   bool
	}{
		"a range":                          {ref: chartAt(lock.Helm, "1.x"), version: "1.0.0", want: "1.x at 1.0.0@sha256:" + sum},
		"any":                              {ref: chartAt(lock.Helm, " "), version: "1.0.0", want: "* at 1.0.0@sha256:" + sum},
		"a range of a registry":            {ref: chartAt(lock.OCI, ">=1.0.0"), version: "1.0.0", want: ">=1.0.0 at 1.0.0@sha256:" + sum},
		"a version in full":                {ref: chartAt(lock.Helm, "1.0.0"), version: "1.0.0"},
		"a version of a registry":          {ref: chartAt(lock.OCI, "1.0.0"), version: "1.0.0"},
		"a digest of a registry":           {ref: chartAt(lock.OCI, "sha256:"+sum), version: "1.0.0"},
		"a tag of a registry":              {ref: chartAt(lock.OCI, "latest"), version: "1.0.0", want: "latest at latest@sha256:" + sum, moves: true},
		"a word that is no range":          {ref: chartAt(lock.Helm, "latest"), version: "1.0.0"},
		"what the lock file does not have": {ref: chartAt(lock.Helm, "1.x")},
	} {
		files := map[string]string{}
		if tt.version != "" {
			url := "https://charts.example/podinfo-1.0.0.tgz"
			if tt.ref.Kind == lock.OCI {
				url = "oci://ghcr.io/acme/charts/podinfo@sha256:" + sum
			}
			files[lock.FileName] = string(lock.Lock{}.With(lock.Entry{Ref: tt.ref, Version: tt.version, URL: url, Digest: "sha256:" + sum}).Encode())
		}
		by := []planner.Cited{{Pos: diag.Pos{File: "r.yaml", Line: 3}, What: "HelmRelease shop/podinfo"}}
		of, s := readFrom(t, files, updates.Charts{Uses: []planner.ChartUse{{Ref: tt.ref, By: by}, {Ref: tt.ref, By: by}}, Unsure: true})
		var got []string
		for i := range of.Subscriptions {
			sub := &of.Subscriptions[i]
			got = append(got, fmt.Sprintf("%s at %s@%s", sub.Chart.Range(), sub.Current.Tag, sub.Current.Digest))
			if sub.What() != "chart" || !slices.Equal(sub.Places(), []string{"r.yaml:3"}) || sub.Interval() != time.Hour || sub.Chart.Moves() != tt.moves {
				t.Errorf("%s: it is a %s at %v, asked for each %s; it moves: %t", name, sub.What(), sub.Places(), sub.Interval(), sub.Chart.Moves())
			}
			values, err := updates.ValuesAt(s, of.Subscriptions)
			if d := cmp.Diff(map[images.Name]marker.Image{sub.Name(): sub.Current}, values); d != "" || err != nil {
				t.Errorf("%s: read again it is %s, %v", name, d, err)
			}
		}
		if strings.Join(got, ", ") != tt.want || updates.Subscribes(tt.ref) != (tt.want != "" || tt.version == "") || !of.Unsure {
			t.Errorf("%s: it is %q, want %q; subscribes: %t", name, got, tt.want, updates.Subscribes(tt.ref))
		}
	}
}

// unreadable is a snapshot in which one file cannot be read.
type unreadable struct {
	sources.Snapshot

	file string
	why  error
}

// ReadFile implements sources.Snapshot.
func (u unreadable) ReadFile(name string) ([]byte, error) {
	if name == u.file {
		return nil, u.why
	}
	return u.Snapshot.ReadFile(name)
}

// TestASourceThatCannotBeRead is an error: what is not seen is not taken for gone.
func TestASourceThatCannotBeRead(t *testing.T) {
	away := errors.New("the disk is away")
	files := map[string]string{"p.yaml": imageOfWeb + policyOf("web", ""), "a.yaml": valueOf("ghcr.io/acme/web:1.0.0", "web"), lock.FileName: string(lock.Lock{}.Encode())}
	of, s := readFrom(t, files, updates.Charts{})
	read, err := render.Load(t.Context(), s, render.With{})
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"a.yaml", lock.FileName} {
		is := unreadable{s, file, away}
		if _, err := updates.Read(is, &read, updates.Charts{}); !errors.Is(err, away) {
			t.Errorf("without %s: %v", file, err)
		}
		if values, err := updates.ValuesAt(is, of.Subscriptions); !errors.Is(err, away) {
			t.Errorf("without %s the values are %v, %v", file, values, err)
		}
	}
	values, err := updates.ValuesAt(s, of.Subscriptions)
	if want := map[images.Name]marker.Image{shop: {Name: repository, Tag: "1.0.0"}}; err != nil || !maps.Equal(values, want) {
		t.Errorf("the values are %v, %v; want %v", values, err, want)
	}
}

// TestWhatIsWritten: all values of the policies that take something, wherever they are, and the entry of a chart, and nothing else.
func TestWhatIsWritten(t *testing.T) {
	ref := chartAt(lock.Helm, "1.x")
	entry := func(version, letter string) lock.Entry {
		return lock.Entry{Ref: ref, Version: version, URL: "https://charts.example/podinfo-" + version + ".tgz", Digest: "sha256:" + strings.Repeat(letter, 64)}
	}
	const old = "ghcr.io/acme/web:1.0.0"
	files := map[string]string{
		"p.yaml": imageOfWeb + policyOf("web", "") + policyOf("api", ""), "a.yaml": valueOf(old, "web") + valueOf(old, "api"), "b/c.yaml": valueOf(old, "web"), "d.yaml": valueOf(old, "api"),
		lock.FileName: string(lock.Lock{}.With(entry("1.0.0", "a")).Encode()),
	}
	of, _ := readFrom(t, files, updates.Charts{Uses: []planner.ChartUse{{Ref: ref}}})
	f := known("1.0.0", "1.1.0")
	f.Memory.See(updates.RepositoryOf(ref), registry.Known{Tags: []string{"1.0.0", "1.1.0"}}, judged)
	verdicts := map[string]*updates.Verdict{}
	for i := range of.Subscriptions {
		v := updates.Judge(&of.Subscriptions[i], f)
		if v.Chart != nil {
			v.Lock(entry("1.1.0", "b"))
		}
		verdicts[strings.Split(v.Name().Name, "-")[0]] = &v
	}
	const next = "ghcr.io/acme/web:1.1.0"
	locked := string(lock.Lock{}.With(entry("1.1.0", "b")).Encode())
	for what, want := range map[string]map[string]string{
		"web":         {"a.yaml": valueOf(next, "web") + valueOf(old, "api"), "b/c.yaml": valueOf(next, "web")},
		"web api":     {"a.yaml": valueOf(next, "web") + valueOf(next, "api"), "b/c.yaml": valueOf(next, "web"), "d.yaml": valueOf(next, "api")},
		"podinfo":     {lock.FileName: locked},
		"podinfo api": {lock.FileName: locked, "a.yaml": valueOf(old, "web") + valueOf(next, "api"), "d.yaml": valueOf(next, "api")},
		"":            {},
	} {
		var all []*updates.Verdict
		for name := range strings.FieldsSeq(what) {
			all = append(all, verdicts[name])
		}
		changed, err := of.Edit(all)
		got := map[string]string{}
		for file, data := range changed {
			got[file] = string(data)
		}
		if d := cmp.Diff(want, got); d != "" || err != nil {
			t.Errorf("%s: %v, (-want +got)\n%s", what, err, d)
		}
	}
}

// TestAChartOfATagThatMoves: what is asked is the digest that the tag stands for, and the entry that is written has that of the archive.
func TestAChartOfATagThatMoves(t *testing.T) {
	ref := chartAt(lock.OCI, "latest")
	entry := func(version, letter string) lock.Entry {
		sum := strings.Repeat(letter, 64)
		return lock.Entry{Ref: ref, Version: version, URL: "oci://ghcr.io/acme/charts/podinfo@sha256:" + sum, Digest: "sha256:" + sum}
	}
	was, next := entry("1.0.0", "a"), entry("1.1.0", "b")
	of, _ := readFrom(t, map[string]string{lock.FileName: string(lock.Lock{}.With(was).Encode())}, updates.Charts{Uses: []planner.ChartUse{{Ref: ref}}})
	for digest, takes := range map[string]bool{was.Digest: false, next.Digest: true} {
		v := updates.Judge(&of.Subscriptions[0], known())
		if !v.Moved() || v.Asks() != "oci://ghcr.io/acme/charts/podinfo:latest" {
			t.Fatalf("it moves: %t; asked is %s", v.Moved(), v.Asks())
		}
		v.Lock(next)
		if v.Pin(digest, known()); v.Takes() != takes || takes && v.Key() != "latest@"+digest {
			t.Errorf("%s: it is taken: %t, as %s", digest, v.Takes(), v.Key())
		}
		if !takes {
			continue
		}
		changed, err := of.Edit([]*updates.Verdict{&v})
		if want := string(lock.Lock{}.With(next).Encode()); err != nil || string(changed[lock.FileName]) != want {
			t.Errorf("the lock file is %s, %v; want %s", changed[lock.FileName], err, want)
		}
	}
}

// Markers stand in plain files of YAML and JSON, wherever they are, and in no others.
func TestWhereMarkersStand(t *testing.T) {
	text := valueOf("ghcr.io/acme/web:1.0.0", "web")
	most := text + "#" + strings.Repeat("x", 5<<20-len(text)-1)
	tree := twin.Tree{"link.yaml": twin.Link("a.yaml"), "large.yaml": twin.File([]byte(most + "x")), "all.yaml": twin.File([]byte(most))}
	for _, name := range []string{"a.yaml", "b/c.yml", "d.json", "e.txt", "yaml", "f.yaml.md"} {
		tree[name] = twin.File([]byte(text))
	}
	repo := twin.New("fleet")
	repo.Write("main", "a source", tree.Folder())
	s, err := repo.Snapshot(t.Context(), "main", "")
	if err != nil {
		t.Fatal(err)
	}
	all, err := updates.Markers(s)
	if names := slices.Sorted(maps.Keys(all)); err != nil || !slices.Equal(names, []string{"a.yaml", "all.yaml", "b/c.yml", "d.json"}) {
		t.Errorf("they stand in %q: %v", names, err)
	}
}
