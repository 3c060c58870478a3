package consumer_test

import (
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/reconciler/report/consumer"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/tree"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/test/twin"
)

const address = "https://github.com/acme/branches"

// TestWhoSyncsWhat: clusters that are published, of those that are asked for; another one is an error, and one that has no branch yet is
// said beside.
func TestWhoSyncsWhat(t *testing.T) {
	for _, tt := range []struct {
		name       string
		change     func(p *plan.Plan)
		argoCD     consumer.ArgoCD
		published  []string
		want, note string
		says       string // the error
	}{
		{"all", nil, consumer.ArgoCD{URL: address}, []string{"eu", "us"}, "cluster: eu, cluster: us", "", ""},
		{"one of two", nil, consumer.ArgoCD{URL: address, Clusters: []string{"us"}}, []string{"eu", "us"}, "cluster: us", "", ""},
		{"one has no branch", nil, consumer.ArgoCD{URL: address}, []string{"us"}, "cluster: us", "cluster eu has no branch yet", ""},
		{"none has a branch", nil, consumer.ArgoCD{URL: address}, nil, "", "cluster us has no branch yet", "no cluster has a branch that Argo CD could sync"},
		{"the one has no branch", nil, consumer.ArgoCD{URL: address, Clusters: []string{"us"}}, []string{"eu"}, "", "cluster us has no branch yet", "no cluster has a branch"},
		{"one that is not registered", nil, consumer.ArgoCD{URL: address, Clusters: []string{"us", "ap"}}, []string{"us"}, "", "", `there is no cluster "ap"`},
		{"no URL", nil, consumer.ArgoCD{}, []string{"us"}, "", "", "give it with --url"},
		{"the source says the URL", func(p *plan.Plan) { p.Config.Publish.Repository = "https://git.example.com/theirs" }, consumer.ArgoCD{}, []string{"us"}, "repoURL: https://git.example.com/theirs", "", ""},
		{"the source says another URL", func(p *plan.Plan) { p.Config.Publish.Repository = "https://git.example.com/theirs" }, consumer.ArgoCD{URL: address}, []string{"us"}, "repoURL: " + address, "", ""},
		{"a branch each", nil, consumer.ArgoCD{URL: address}, []string{"us"}, "branch: refs/heads/waybill/cluster/us, targetRevision: '{{.branch}}', path: manifests", "", ""},
		{"a folder each", func(p *plan.Plan) {
			p.Config.Publish.Layout, p.Config.Publish.Branch = render.LayoutFolders, "waybill/clusters"
		}, consumer.ArgoCD{URL: address}, []string{"us"}, "targetRevision: refs/heads/waybill/clusters, path: '{{.cluster}}/manifests'", "cluster eu has no folder yet", ""},
		{"what leaves the list stays", nil, consumer.ArgoCD{URL: address, Project: "ours", Namespace: "argo"}, []string{"us"}, "preserveResourcesOnDeletion: true, project: ours, namespace: argo", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := fixture(t)
			if tt.change != nil {
				tt.change(p)
			}
			published := map[string]tree.Published{}
			for _, name := range tt.published {
				published[name] = tree.Published{Built: p.Clusters[0].Tree}
			}
			var out, notes strings.Builder
			err := tt.argoCD.Write(&out, &notes, p, published)
			if (err != nil) != (tt.says != "") || err != nil && !strings.Contains(err.Error(), tt.says) {
				t.Errorf("it says %v, want %q", err, tt.says)
			}
			if !strings.Contains(notes.String(), tt.note) || tt.note == "" && tt.says == "" && len(tt.argoCD.Clusters) == 0 && len(tt.published) == 2 && notes.Len() > 0 {
				t.Errorf("beside it says %q, want %q", notes.String(), tt.note)
			}
			if (out.Len() > 0) != (err == nil) {
				t.Errorf("it prints %s", out.String())
			}
			for want := range strings.SplitSeq(tt.want, ", ") {
				if !strings.Contains(out.String(), want) {
					t.Errorf("%q is not in\n%s", want, out.String())
				}
			}
			if n := strings.Count(out.String(), "- "+"branch: ") + strings.Count(out.String(), "- cluster: "); err == nil && len(tt.argoCD.Clusters) > 0 && n != len(tt.argoCD.Clusters) {
				t.Errorf("it has %d clusters:\n%s", n, out.String())
			}
		})
	}
}

// TestWhereFluxReports: at the forge that is named or that the URL is of, and nowhere else.
func TestWhereFluxReports(t *testing.T) {
	for _, tt := range []struct {
		name string
		flux consumer.Flux
		want string
		says string
	}{
		{"by the URL", consumer.Flux{URL: address}, "type: github", ""},
		{"by the URL of another one", consumer.Flux{URL: "https://codeberg.org/acme/branches"}, "type: gitea", ""},
		{"it is named", consumer.Flux{URL: "https://git.example.com/x", Rollout: consumer.FluxRollout{Forge: "gitlab", Secret: "statuses"}}, "type: gitlab", ""},
		{"it is named otherwise than the URL", consumer.Flux{URL: address, Rollout: consumer.FluxRollout{Forge: "forgejo"}}, "type: gitea", ""},
		{"nobody knows", consumer.Flux{URL: "https://git.example.com/x"}, "", "what kind of forge the URL is of is not known"},
		{"there is no such forge", consumer.Flux{URL: address, Rollout: consumer.FluxRollout{Forge: "sourcehut"}}, "", `--forge is "sourcehut"`},
		{"with the steps to one root", consumer.Flux{URL: address, Migrate: true}, "", "use one of them"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := fixture(t)
			published := map[string]tree.Published{"eu": {Built: p.Clusters[0].Tree}, "us": {Built: p.Clusters[1].Tree}}
			tt.flux.Rollout.Wanted = true
			var out, notes strings.Builder
			err := tt.flux.Write(&out, &notes, p, published)
			if (err != nil) != (tt.says != "") || err != nil && !strings.Contains(err.Error(), tt.says) {
				t.Errorf("it says %v, want %q", err, tt.says)
			}
			for _, want := range []string{tt.want, "wait: true", tt.flux.Rollout.Secret} {
				if err == nil && !strings.Contains(out.String(), want) {
					t.Errorf("%q is not in\n%s", want, out.String())
				}
			}
			without := tt.flux
			without.Rollout.Wanted, without.Migrate = false, false
			out.Reset()
			if err := without.Write(&out, &notes, p, published); err != nil || strings.Contains(out.String(), "notification") || strings.Contains(out.String(), "wait: true") {
				t.Errorf("without roll-outs it prints %s, %v", out.String(), err)
			}
		})
	}
}

// TestWhatIsInNeitherCluster: that what moves is in neither while Flux looks again is said where something may move, and nothing waits.
func TestWhatIsInNeitherCluster(t *testing.T) {
	for _, tt := range []struct {
		name     string
		change   func(p *plan.Plan)
		clusters []string
		said     bool
	}{
		{"two clusters", func(*plan.Plan) {}, nil, true},
		{"one of them", func(*plan.Plan) {}, []string{"eu"}, false},
		{"both by name", func(*plan.Plan) {}, []string{"eu", "us"}, true},
		{"one cluster", func(p *plan.Plan) { p.Clusters = p.Clusters[:1] }, nil, false},
		{"the old copy waits", func(p *plan.Plan) { p.Config.Publish.Moves.Wait.Duration = time.Minute }, nil, false},
	} {
		p := fixture(t)
		published := map[string]tree.Published{"eu": {Built: p.Clusters[0].Tree}, "us": {Built: p.Clusters[1].Tree}}
		tt.change(p)
		var out, notes strings.Builder
		if err := (consumer.Flux{URL: address, Clusters: tt.clusters}).Write(&out, &notes, p, published); err != nil {
			t.Fatal(err)
		}
		if said := strings.Contains(notes.String(), "is in neither"); said != tt.said {
			t.Errorf("%s: it is said: %t", tt.name, said)
		}
	}
}

// TestWhereSomethingIsSealedFluxDecrypts: what is published, what comes with the next publication, or what else may come.
func TestWhereSomethingIsSealedFluxDecrypts(t *testing.T) {
	const sealed = "apiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: shop}\n" +
		"stringData: {p: 'ENC[AES256_GCM,data:x]'}\nsops: {mac: 'ENC[AES256_GCM,data:x]', version: 3.9.0}\n"
	for _, tt := range []struct {
		name            string
		was, comes, may bool
		want            bool
	}{
		{"nothing is", false, false, false, false},
		{"a Secret that is published", true, false, false, true},
		{"the first comes", false, true, false, true},
		{"it may come", false, false, true, true},
	} {
		p := fixture(t)
		secret := func(is bool) *files.Folder {
			of := twin.Of(p.Clusters[0].Tree)
			if is {
				of[tree.ManifestDir+"/shop/secret/s.yaml"] = twin.File([]byte(sealed))
			}
			return of.Folder()
		}
		published := map[string]tree.Published{"eu": {Built: secret(tt.was)}}
		p.Clusters[0].Tree, p.Clusters[0].Sync.Encrypted = secret(tt.comes), tt.may
		var out, notes strings.Builder
		if err := (consumer.Flux{URL: address, Clusters: []string{"eu"}}).Write(&out, &notes, p, published); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(out.String(), "decryption:"); got != tt.want {
			t.Errorf("%s: that it decrypts is %t, want %t:\n%s", tt.name, got, tt.want, out.String())
		}
	}
}
