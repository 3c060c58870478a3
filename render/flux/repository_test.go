package flux_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/render/flux"
	"github.com/waybill-dev/waybill/render/object"
)

// written decodes objects, one a line, as "FILE KIND NAMESPACE/NAME SPEC"; of what has data in place of a spec more fields may stand
// after that, behind a semicolon each.
func written(t *testing.T, lines string) (objs []*object.Object) {
	t.Helper()
	groups := map[string]string{
		"Kustomization": "kustomize.toolkit.fluxcd.io/v1", "HelmRelease": "helm.toolkit.fluxcd.io/v2", "ArtifactGenerator": "source.extensions.fluxcd.io/v1beta1",
		"Receiver": "notification.toolkit.fluxcd.io/v1", "Service": "v1", "Widget": "example.com/v1", "ConfigMap": "v1", "Secret": "v1",
		"ExternalSecret": "external-secrets.io/v1", "SealedSecret": "bitnami.com/v1alpha1", "Certificate": "cert-manager.io/v1",
	}
	for line := range strings.Lines(lines) {
		fields := strings.SplitN(strings.TrimSpace(line), " ", 4)
		if len(fields) != 4 {
			continue
		}
		group := groups[fields[1]]
		if group == "" {
			group = "source.toolkit.fluxcd.io/v1"
		}
		namespace, name, _ := strings.Cut(fields[2], "/")
		key := "spec"
		if group == "v1" {
			key, fields[3] = "data", strings.ReplaceAll(fields[3], "; ", "\n")
		}
		text := fmt.Sprintf("apiVersion: %s\nkind: %s\nmetadata: {name: %s, namespace: %s}\n%s: %s\n", group, fields[1], name, namespace, key, fields[3])
		d := object.Decode(fields[0], []byte(text))
		if len(d.Objects) != 1 {
			t.Fatalf("%s: %v", text, d.Diags)
		}
		objs = append(objs, d.Objects...)
	}
	return objs
}

// source is a ref as the configuration names it.
func source(t *testing.T, text string) object.Ref {
	t.Helper()
	ref, ok := flux.ParseSource(text)
	if !ok {
		t.Fatalf("%q is no source", text)
	}
	return ref
}

// TestForeign holds which sources are the repository that is read, by what the commit says alone.
func TestForeign(t *testing.T) {
	const fleet, other = "{url: https://git.example.com/fleet}", "{url: https://git.example.com/other}"
	const unsaid, another = "and nothing says that it is this repository", "another repository than this one"
	for _, tt := range []struct {
		name   string
		said   string // by the configuration
		around string // objects in no folder of a cluster
		bound  string // objects in that of eu
		ref    string // of which is asked
		want   string // why it is not this repository; empty if it is
	}{
		{name: "what is not in the source is", ref: "GitRepository/a/any"},
		{name: "but a Git repository alone", ref: "OCIRepository/a/any", want: unsaid},
		{name: "what the configuration says is", said: "OCIRepository/a/any", ref: "OCIRepository/a/any"},
		{name: "in that namespace", said: "OCIRepository/b/any", ref: "OCIRepository/a/any", want: unsaid},
		{name: "the only one is", around: "x.yaml GitRepository a/x " + fleet, ref: "GitRepository/a/x"},
		{name: "of two none is", around: "x.yaml GitRepository a/x " + fleet + "\nx.yaml GitRepository a/y " + other, ref: "GitRepository/a/x", want: "git.example.com/fleet, " + unsaid},
		{name: "two of one place are one", around: "x.yaml GitRepository a/x " + fleet + "\nx.yaml GitRepository b/y " + fleet, ref: "GitRepository/a/x"},
		{name: "bootstrap's name is", around: "x.yaml GitRepository a/flux-system " + fleet + "\nx.yaml GitRepository a/y " + other, ref: "GitRepository/a/flux-system"},
		{name: "and then others are not", around: "x.yaml GitRepository a/flux-system " + fleet + "\nx.yaml GitRepository a/y " + other, ref: "GitRepository/a/y", want: "git.example.com/other, " + another},
		{name: "a chart repository of that name is none", around: "x.yaml HelmRepository a/flux-system " + fleet + "\nx.yaml GitRepository a/y " + other, ref: "GitRepository/a/y"},
		{name: "the one that a Kustomization calls so is", around: "x.yaml Kustomization a/x {path: apps, sourceRef: {kind: OCIRepository, name: flux-system}}", ref: "OCIRepository/a/flux-system"},
		{
			name: "once the configuration says it, bootstrap's name is nobody's", said: "GitRepository/a/y",
			around: "x.yaml GitRepository a/flux-system " + fleet + "\nx.yaml GitRepository a/y " + other, ref: "GitRepository/a/flux-system", want: "git.example.com/fleet, " + another,
		},
		{
			name:   "one whose Kustomization stands in the folder that it builds is",
			around: "clusters/eu/sync.yaml Kustomization a/x {path: ./clusters/eu, sourceRef: {name: root}}\nx.yaml GitRepository a/root " + fleet + "\nx.yaml GitRepository a/y " + other, ref: "GitRepository/a/root",
		},
		{
			name:   "and others are not",
			around: "clusters/eu/sync.yaml Kustomization a/x {path: ./clusters/eu, sourceRef: {name: root}}\nx.yaml GitRepository a/root " + fleet + "\nx.yaml GitRepository a/y " + other, ref: "GitRepository/a/y", want: another,
		},
		{
			name:  "from the folder of a cluster, whose source stands outside",
			bound: "clusters/eu/sync.yaml Kustomization a/x {path: ./clusters/eu, sourceRef: {name: root}}", around: "x.yaml GitRepository a/root " + fleet + "\nx.yaml GitRepository a/y " + other,
			ref: "GitRepository/a/y", want: another,
		},
		{
			name:   "one that builds another folder is not",
			around: "sync.yaml Kustomization a/x {path: ./clusters/eu, sourceRef: {name: root}}\nx.yaml GitRepository a/root " + fleet + "\nx.yaml GitRepository a/y " + other, ref: "GitRepository/a/root", want: unsaid,
		},
		{
			name:   "one that builds the whole repository is not",
			around: "sync.yaml Kustomization a/x {path: ./, sourceRef: {name: root}}\nx.yaml GitRepository a/root " + fleet + "\nx.yaml GitRepository a/y " + other, ref: "GitRepository/a/root", want: unsaid,
		},
		{name: "of the same place is", said: "GitRepository/a/y", around: "x.yaml GitRepository a/y " + fleet + "\nx.yaml GitRepository a/z {url: 'ssh://git@GIT.example.com/fleet.git', ref: {branch: master}}", ref: "GitRepository/a/z"},
		{name: "another branch of it is not", said: "GitRepository/a/y", around: "x.yaml GitRepository a/y " + fleet + "\nx.yaml GitRepository a/z {url: https://git.example.com/fleet, ref: {branch: next}}", ref: "GitRepository/a/z", want: "which is the branch next of this repository, and another is read"},
		{name: "a commit counts before a branch", said: "GitRepository/a/y", around: "x.yaml GitRepository a/y " + fleet + "\nx.yaml GitRepository a/z {url: https://git.example.com/fleet, ref: {branch: master, commit: abc}}", ref: "GitRepository/a/z", want: "which is the commit abc of"},
		{
			name: "a branch by its whole name is the branch", said: "GitRepository/a/y",
			around: "x.yaml GitRepository a/y {url: https://git.example.com/fleet, ref: {branch: main}}\nx.yaml GitRepository a/z {url: https://git.example.com/fleet, ref: {name: refs/heads/main}}", ref: "GitRepository/a/z",
		},
		{
			name: "a tag by its whole name is the tag", said: "GitRepository/a/y",
			around: "x.yaml GitRepository a/y {url: https://git.example.com/fleet, ref: {tag: v1}}\nx.yaml GitRepository a/z {url: https://git.example.com/fleet, ref: {name: refs/tags/v1}}", ref: "GitRepository/a/z",
		},
		{name: "an artifact has no branch by default", said: "OCIRepository/a/y", around: "x.yaml OCIRepository a/y {url: 'oci://r.example.com/fleet'}\nx.yaml OCIRepository a/z {url: 'oci://r.example.com/fleet', ref: {branch: master}}", ref: "OCIRepository/a/z", want: "of this repository, and another is read"},
		{
			name: "a bucket is its name and prefix", said: "Bucket/a/y",
			around: "x.yaml Bucket a/y {endpoint: s3.example.com, bucketName: fleet, prefix: eu}\nx.yaml Bucket a/z {endpoint: s3.example.com, bucketName: fleet, prefix: eu}", ref: "Bucket/a/z",
		},
		{
			name: "a bucket of another name is not", said: "Bucket/a/y",
			around: "x.yaml Bucket a/y {endpoint: s3.example.com, bucketName: fleet}\nx.yaml Bucket a/z {endpoint: s3.example.com, bucketName: other}", ref: "Bucket/a/z", want: "which is the other/ of this repository",
		},
		{name: "a bucket of the same place is no Git repository", said: "GitRepository/a/y", around: "x.yaml GitRepository a/y " + fleet + "\nx.yaml Bucket a/z {endpoint: 'https://git.example.com/fleet'}", ref: "Bucket/a/z", want: another},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var said []string
			if tt.said != "" {
				said = []string{tt.said, "not a source"}
			}
			around, bound := written(t, tt.around), map[string][]*object.Object{"eu": written(t, tt.bound)}
			r := flux.Identify(said, around, bound)
			why := r.Foreign(source(t, tt.ref), flux.NewIndex(bound["eu"], around))
			if (why == "") != (tt.want == "") || !strings.Contains(why, tt.want) {
				t.Errorf("it says %q, want %q", why, tt.want)
			}
			if why != "" && !strings.HasPrefix(why, "its source is the "+strings.Replace(tt.ref, "/", " ", 1)) {
				t.Errorf("it does not say of what: %q", why)
			}
		})
	}
}

func TestParseSource(t *testing.T) {
	for text, want := range map[string]bool{
		"GitRepository/a/b": true, "OCIRepository/a/b": true, "Bucket/a/b": true, "HelmRepository/a/b": false,
		"GitRepository/a": false, "GitRepository/a/b/c": false, "GitRepository//b": false, "GitRepository/a/": false, "": false,
	} {
		if _, got := flux.ParseSource(text); got != want {
			t.Errorf("%q is a source: %v", text, got)
		}
	}
}

// TestSyncsItself holds which Kustomization is how a cluster syncs itself.
func TestSyncsItself(t *testing.T) {
	const sync = "clusters/eu/sync.yaml Kustomization a/x {path: ./clusters/eu, sourceRef: {name: flux-system}}"
	for _, tt := range []struct {
		name, objs string
		want       bool
	}{
		{"of this repository", sync + "\nx.yaml GitRepository a/flux-system {url: https://git.example.com/fleet}", true},
		{"in a folder below", strings.Replace(sync, "eu/sync", "eu/flux-system/sync", 1), true},
		{"in a folder whose name begins so", strings.Replace(sync, "eu/sync", "eu-2/sync", 1), false},
		{"elsewhere", strings.Replace(sync, "clusters/eu/sync", "sync", 1), false},
		{"into another cluster", strings.Replace(sync, "{path", "{kubeConfig: {secretRef: {name: far}}, path", 1), false},
		{"of what is no source of files", strings.Replace(sync, "{name: flux", "{kind: HelmRepository, name: flux", 1), false},
		{"of a repository that is only assumed to be this one", strings.Replace(strings.Replace(sync, "./clusters/eu", "./", 1), "flux-system", "any", 1), false},
		{"no Kustomization", "clusters/eu/sync.yaml HelmRelease a/x {path: ./clusters/eu, sourceRef: {name: flux-system}}", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			objs := written(t, tt.objs)
			r := flux.Identify(nil, nil, map[string][]*object.Object{"eu": objs})
			if got := r.SyncsItself(objs[0], flux.NewIndex(objs)); got != tt.want {
				t.Errorf("it syncs itself: %v", got)
			}
		})
	}
}

// TestClaims holds which folders are a Kustomization's, so that what is in them is not taken for manifests on its own.
func TestClaims(t *testing.T) {
	const made = "x.yaml Kustomization a/x {path: %s, sourceRef: {kind: ExternalArtifact, name: made}}\n" +
		"x.yaml ArtifactGenerator a/g {sources: [{alias: repo, kind: GitRepository, name: r}], artifacts: [{name: made, copy: [%s]}]}"
	for _, tt := range []struct{ name, said, objs, want string }{
		{"a folder of this repository", "", "x.yaml Kustomization a/x {path: ./apps, sourceRef: {name: r}}", "apps"},
		{"a folder of another one, of which the release says so", "", "x.yaml Kustomization a/x {path: apps/, sourceRef: {name: r}}\nx.yaml GitRepository a/r {url: https://example.com/other}\nx.yaml GitRepository a/flux-system {url: https://example.com/fleet}", "apps"},
		{"the folder in which it stands", "", "apps/x.yaml Kustomization a/x {path: ./apps, sourceRef: {name: r}}", ""},
		{"all there is, in which it stands", "", "x.yaml Kustomization a/x {sourceRef: {name: r}}", ""},
		{"a folder beside its own", "", "apps-2/x.yaml Kustomization a/x {path: /apps, sourceRef: {name: r}}", "apps"},
		{"no folder outside", "", "x/x.yaml Kustomization a/x {path: ../../apps, sourceRef: {name: r}}", "apps"},
		{"a folder of an artifact that is not known", "", "x.yaml Kustomization a/x {path: apps, sourceRef: {kind: OCIRepository, name: r}}", ""},
		{"a folder of an artifact that is said to be this repository", "OCIRepository/a/r", "x.yaml Kustomization a/x {path: apps, sourceRef: {kind: OCIRepository, name: r}}", "apps"},
		{"no Kustomization", "", "x.yaml HelmRelease a/x {path: apps, sourceRef: {name: r}}", ""},

		{"what is copied to the root, all of it", "", fmt.Sprintf(made, "./", `{from: "@repo/app/**", to: "@artifact/"}`), "app"},
		{"what is copied to the root, a part of it", "", fmt.Sprintf(made, "./web", `{from: "@repo/app/**", to: "@artifact/"}`), "app/web"},
		{"what is copied to a folder, a part of it", "", fmt.Sprintf(made, "./in/web", `{from: "@repo/app/**", to: "@artifact/in/"}`), "app/web"},
		{"what is copied to a folder below", "", fmt.Sprintf(made, "./in", `{from: "@repo/app/**", to: "@artifact/in/web/"}`), "app"},
		{"what is copied elsewhere", "", fmt.Sprintf(made, "./in", `{from: "@repo/app/**", to: "@artifact/inside/"}`), ""},
		{"what is copied from several folders", "", fmt.Sprintf(made, "./", `{from: "@repo/app/**", to: "@artifact/"}, {from: "@repo/base/**", to: "@artifact/"}`), "app base"},
		{"what is copied in a way that is not known", "", fmt.Sprintf(made, "./", `{from: "@repo/app/**", to: "@artifact/", strategy: Merge}`), ""},
		{"what a generator elsewhere makes", "", strings.Replace(fmt.Sprintf(made, "./", `{from: "@repo/app/**", to: "@artifact/"}`), "ArtifactGenerator a/g", "ArtifactGenerator b/g", 1), ""},
		{"what is made under another name", "", strings.Replace(fmt.Sprintf(made, "./", `{from: "@repo/app/**", to: "@artifact/"}`), "{name: made, copy", "{name: other, copy", 1), ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var said, got []string
			if tt.said != "" {
				said = []string{tt.said}
			}
			for _, c := range flux.Claims(written(t, tt.objs), said) {
				got = append(got, c.Folder)
				if c.By != "x.yaml" && !strings.HasSuffix(c.By, "/x.yaml") {
					t.Errorf("the folder is claimed by %s", c.By)
				}
			}
			if got := strings.Join(got, " "); got != tt.want {
				t.Errorf("claimed is %q, want %q", got, tt.want)
			}
		})
	}
	c := flux.Claim{Folder: "apps"}
	for file, want := range map[string]bool{"apps/x.yaml": true, "apps/in/x.yaml": true, "apps": true, "apps-2/x.yaml": false, "x.yaml": false} {
		if c.Covers(file) != want {
			t.Errorf("%s is in the folder: %v", file, !want)
		}
	}
}

// TestUsedUp holds which sources serve releases alone, which never reach a cluster.
func TestUsedUp(t *testing.T) {
	const release = "HelmRelease a/web {chart: {spec: {chart: web, sourceRef: {kind: HelmRepository, name: charts}}}}\n"
	const charts = "x.yaml HelmRepository a/charts {url: https://charts.example.com}\n"
	for _, tt := range []struct{ name, objs, want string }{
		{"a source of a release", "x.yaml " + release + charts, "charts"},
		{"a source that nobody names", charts, ""},
		{"a source in another namespace", "x.yaml " + strings.Replace(release, "a/web", "b/web", 1) + charts, ""},
		{"a source that is named with its namespace", "x.yaml " + strings.Replace(strings.Replace(release, "a/web", "b/web", 1), "name: charts", "name: charts, namespace: a", 1) + charts, "charts"},
		{"a source of another kind", "x.yaml " + release + strings.Replace(charts, "HelmRepository", "GitRepository", 1), ""},
		{"a source that what reaches a cluster names, too", "x.yaml " + release + charts + "x.yaml Receiver a/r {resources: [{kind: HelmRepository, name: charts}]}", ""},
		{"a source of which that names all", "x.yaml " + release + charts + "x.yaml Receiver a/r {resources: [{kind: HelmRepository, name: '*'}]}", ""},
		{"a source that a kind of Kubernetes seems to name", "x.yaml " + release + charts + "x.yaml ConfigMap a/r {kind: HelmRepository, name: charts}", "charts"},
		{"a source by way of another one", "x.yaml HelmRelease a/web {chartRef: {kind: HelmChart, name: web}}\nx.yaml HelmChart a/web {sourceRef: {kind: HelmRepository, name: charts}}\n" + charts, "charts web"},
		{
			"a source by way of what makes an artifact of it",
			"x.yaml Kustomization a/web {sourceRef: {kind: ExternalArtifact, name: made}}\nx.yaml ArtifactGenerator a/g {sources: [{kind: GitRepository, name: repo}], artifacts: [{name: other}, {name: made}]}\nx.yaml GitRepository a/repo {}\n", "g repo",
		},
		{"an artifact that nobody makes", "x.yaml Kustomization a/web {sourceRef: {kind: ExternalArtifact, name: none}}\nx.yaml ArtifactGenerator a/g {artifacts: [{name: made}]}\n", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			objs := written(t, tt.objs)
			releases := slices.DeleteFunc(slices.Clone(objs), func(o *object.Object) bool { return !flux.IsRelease(o) })
			var got []string
			for ref := range flux.UsedUp(objs, releases) {
				got = append(got, ref.Name)
			}
			slices.Sort(got)
			if got := strings.Join(got, " "); got != tt.want {
				t.Errorf("used up are %q, want %q", got, tt.want)
			}
		})
	}
}
