package updates_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/policies/images"
	"github.com/waybill-dev/waybill/reconciler/planner"
	"github.com/waybill-dev/waybill/reconciler/updates"
	"github.com/waybill-dev/waybill/sources/lock"
)

// TestChartsAreInTheOrderOfNames, after the images, and each reference is there once, wherever it is named again.
func TestChartsAreInTheOrderOfNames(t *testing.T) {
	var locked lock.Lock
	var uses []planner.ChartUse
	for _, name := range []string{"web", "api", "mail", "web", "api", "web"} {
		ref := chartAt(lock.Helm, "1.x")
		ref.Name = name
		uses = append(uses, planner.ChartUse{Ref: ref})
		locked = locked.With(lock.Entry{
			Ref: ref, Version: "1.0.0", URL: "https://charts.example/" + name + "-1.0.0.tgz", Digest: "sha256:" + strings.Repeat("a", 64),
		})
	}
	files := map[string]string{
		"p.yaml": imageOfWeb + policyOf("web", ""), "a.yaml": valueOf("ghcr.io/acme/web:1.0.0", "web"), lock.FileName: string(locked.Encode()),
	}
	of, _ := readFrom(t, files, updates.Charts{Uses: uses})
	var names []images.Name
	var short []string
	for i := range of.Subscriptions {
		names = append(names, of.Subscriptions[i].Name())
		word, _, _ := strings.Cut(of.Subscriptions[i].Name().Name, "-")
		short = append(short, word)
	}
	if got := strings.Join(short, " "); got != "web api mail web" || !slices.IsSortedFunc(names[1:], images.Name.Compare) {
		t.Errorf("they are %v", names)
	}
}
