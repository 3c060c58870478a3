package fluxsync

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/waybill-dev/waybill/render/object"
)

func of(cluster string) Sync {
	s := Default()
	sync, _ := s.For(cluster, nil)
	return sync
}

func TestNamesAreValidAndDiffer(t *testing.T) {
	long := strings.Repeat("c", 48)
	deep := strings.Repeat("n", 63)
	seen := map[string]string{}
	for what, name := range map[string]string{
		"root":                       of("eu").RootName(),
		"root of a long name":        of(long).RootName(),
		"part":                       of("eu").ChildName("part.1"),
		"part of a long name":        of(long).ChildName("part.1"),
		"ten parts of a long name":   of(long).ChildName("part.10"),
		"eleven parts":               of(long).ChildName("part.11"),
		"folder":                     of("eu").FolderName("shop"),
		"folder named like a part":   of("eu").FolderName("part-1"),
		"folder of a long namespace": of(long).FolderName(deep),
		"of one a letter shorter":    of(long).FolderName(deep[1:]),
	} {
		if p := validation.IsValidLabelValue(name); len(p) > 0 {
			t.Errorf("%s: %q is no label value: %v", what, name, p)
		}
		if p := validation.IsDNS1123Subdomain(name); len(p) > 0 {
			t.Errorf("%s: %q is no name: %v", what, name, p)
		}
		if other, ok := seen[name]; ok {
			t.Errorf("%s and %s are both %q", what, other, name)
		}
		seen[name] = what
	}
	if got := of("eu-1").RootName(); got != "waybill-eu-1" {
		t.Errorf("the root is %q", got)
	}
}

func TestRootAndSource(t *testing.T) {
	s := of("eu-1")
	s.Encrypted = true
	s.ServiceAccountName = "fleet"
	got := string(object.Encode(s.GitRepository("https://git.example.com/fleet.git", "waybill/cluster/eu-1", "git-read"))) + "---\n" + string(object.Encode(s.Root()))
	want := `apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata:
  name: waybill-eu-1
  namespace: flux-system
spec:
  interval: 1m
  ref:
    branch: waybill/cluster/eu-1
  secretRef:
    name: git-read
  url: https://git.example.com/fleet.git
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata:
  name: waybill-eu-1
  namespace: flux-system
spec:
  decryption:
    provider: sops
    secretRef:
      name: sops-age
  interval: 10m
  path: ./
  prune: true
  retryInterval: 1m
  serviceAccountName: fleet
  sourceRef:
    kind: GitRepository
    name: waybill-eu-1
  timeout: 5m
`
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestAnnotationsOverride(t *testing.T) {
	s := Default()
	s.Form, s.Source = FormRoot, "fleet-<cluster>"
	got, problems := s.For("eu-1", map[string]string{
		"waybill.dev/flux-form": FormSplit, "waybill.dev/flux-namespace": "gitops", "waybill.dev/flux-decryption-secret": "keys", "waybill.dev/flux-service-account": "sync",
	})
	want := Sync{Cluster: "eu-1", Settings: Settings{Form: FormSplit, Namespace: "gitops", Source: "fleet-eu-1", DecryptionSecret: "keys", ServiceAccountName: "sync"}}
	if d := cmp.Diff(want, got); d != "" || len(problems) > 0 {
		t.Error(d, problems)
	}
	got, problems = s.For("eu-1", map[string]string{"waybill.dev/flux-form": "roots", "waybill.dev/flux-source": "mine"})
	if len(problems) != 1 || problems[0].Annotation != "waybill.dev/flux-form" || got.Form != FormRoot || got.Source != "mine" {
		t.Errorf("a form that is none: %+v, %v", got, problems)
	}
}

func TestCheck(t *testing.T) {
	for _, tt := range []struct {
		field string
		set   func(*Settings)
	}{
		{"", func(*Settings) {}},
		{"", func(s *Settings) { s.Form = FormOrphan }},
		{"form", func(s *Settings) { s.Form = "Root" }},
		{"namespace", func(s *Settings) { s.Namespace = "" }},
		{"source", func(s *Settings) { s.Source = "waybill-<name>" }},
		{"decryptionSecret", func(s *Settings) { s.DecryptionSecret = "no name" }},
		{"serviceAccountName", func(s *Settings) { s.ServiceAccountName = "-" }},
	} {
		s := Default()
		tt.set(&s)
		if field, problem := s.Check(); field != tt.field || (problem == "") != (field == "") {
			t.Errorf("%+v: %q %s; want %q", s, field, problem, tt.field)
		}
	}
}
