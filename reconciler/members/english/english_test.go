package english_test

import (
	"testing"

	_ "k8s.io/kubectl/pkg/cmd/top" // translates while it is initialised
	"k8s.io/kubectl/pkg/util/i18n"

	"github.com/waybill-dev/waybill/reconciler/members/english"
)

func TestNoTranslationsAreLoaded(t *testing.T) {
	if err := english.Late(); err != nil {
		t.Error(err)
	}
	if said := i18n.T("Display resource (CPU/memory) usage"); said != "Display resource (CPU/memory) usage" {
		t.Errorf("it says %q", said)
	}
}
