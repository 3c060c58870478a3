package interpret_test

import (
	"testing"

	"github.com/waybill-dev/waybill/policies/interpret"
	"github.com/waybill-dev/waybill/render/object"
)

// TestWhatServicesAreDerivedFrom: ServiceImports of either version, and what the Service is called.
func TestWhatServicesAreDerivedFrom(t *testing.T) {
	for _, tt := range []struct {
		apiVersion, kind, annotations string
		want                          bool
		name                          string
	}{
		{"multicluster.x-k8s.io/v1alpha1", "ServiceImport", "{}", true, "derived-web"},
		{"multicluster.x-k8s.io/v1beta1", "ServiceImport", `{waybill.dev/derived-service: web-everywhere}`, true, "web-everywhere"},
		{"multicluster.x-k8s.io/v1", "ServiceImport", `{waybill.dev/derived-service: ""}`, false, "derived-web"},
		{"multicluster.x-k8s.io/v1alpha1", "ServiceExport", "{}", false, "derived-web"},
		{"v1", "ServiceImport", "{}", false, "derived-web"},
	} {
		text := "apiVersion: " + tt.apiVersion + "\nkind: " + tt.kind + "\nmetadata: {name: web, namespace: shop, annotations: " + tt.annotations + "}\n"
		o := object.Decode("a.yaml", []byte(text)).Objects[0]
		if got := interpret.IsServiceImport(o); got != tt.want {
			t.Errorf("from a %s %s Services are derived: %t", tt.apiVersion, tt.kind, got)
		}
		if name := interpret.DerivedName(o.Content()); name != tt.name {
			t.Errorf("%s: the Service is %s, want %s", tt.annotations, name, tt.name)
		}
	}
}
