package peers

import "testing"

// TestTheProgramsAreOfTheVersionsThatWaybillUses fails when only one of the two modules
// is updated.
func TestTheProgramsAreOfTheVersionsThatWaybillUses(t *testing.T) {
	t.Parallel()
	list := []string{"list", "-m", "helm.sh/helm/v3", "sigs.k8s.io/kustomize/api", "sigs.k8s.io/kustomize/kyaml"}
	want, err := Go(".", list...)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Go("tools", list...)
	if err != nil {
		t.Fatal(err)
	}
	if want != got {
		t.Errorf("Waybill uses\n%sand is compared with\n%s", want, got)
	}
}
