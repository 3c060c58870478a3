package render_test

import (
	"testing"

	"github.com/waybill-dev/waybill/render"
)

func TestNamespacePatterns(t *testing.T) {
	for _, tt := range []struct {
		entry, namespace string
		matches          bool
	}{
		{"shop", "shop", true},
		{"shop", "shop-2", false},
		{"shop", "my-shop", false},
		{"kube-*", "kube-system", true},
		{"kube-*", "my-kube-system", false},
		{"kube-*", "kubeflow", false},
		{"*-system", "kube-system", true},
		{"*", "shop", true},
		{"kube-.*", "kube-system", true},
		{"kube-.*", "my-kube-system", false},
		{"team-(a|b)", "team-b", true},
		{"a|b", "ab", false},
		{"team-[0-9]+", "team-12", true},
	} {
		p, err := render.NamespacePattern(tt.entry)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.MatchString(tt.namespace); got != tt.matches {
			t.Errorf("%q matches %s: %t, want %t", tt.entry, tt.namespace, got, tt.matches)
		}
	}
	for _, entry := range []string{"", "team-(a", "[z-a]"} {
		if p, err := render.NamespacePattern(entry); err == nil {
			t.Errorf("%q compiles to %s", entry, p)
		}
	}
}
