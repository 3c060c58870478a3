package apply

import "testing"

// TestAStatefulSetThatDeletesItsVolumesIsNotRecreated because its data would go with it, as with a PersistentVolumeClaim.
func TestAStatefulSetThatDeletesItsVolumesIsNotRecreated(t *testing.T) {
	for when, want := range map[string]Renewal{"Delete": RenewNever, "Retain": RenewRefused, "": RenewRefused} {
		spec := map[string]any{}
		if when != "" {
			spec["persistentVolumeClaimRetentionPolicy"] = map[string]any{"whenDeleted": when, "whenScaled": "Delete"}
		}
		o := manifest("apps/v1 StatefulSet shop/db", spec, RecreateAnnotation+"=true")
		if got := renewal(&o); got != want {
			t.Errorf("%q: %v, want %v", when, got, want)
		}
	}
}

func TestRenewal(t *testing.T) {
	for _, c := range []struct {
		name, annotation string
		want             Renewal
	}{
		{"apps/v1 Deployment shop/web", "waybill.dev/recreate=true", RenewRefused},
		{"apps/v1 Deployment shop/web", "waybill.dev/recreate=yes", RenewNever},
		{"apps/v1 Deployment shop/web", "other=true", RenewNever},
		{"apps/v1 Deployment shop/web", "kustomize.toolkit.fluxcd.io/force=Enabled", RenewRefused},
		{"apps/v1 Deployment shop/web", "kustomize.toolkit.fluxcd.io/force=disabled", RenewNever},
		{"apps/v1 Deployment shop/web", "argocd.argoproj.io/sync-options=Replace=true, Force=true", RenewRefused},
		{"apps/v1 Deployment shop/web", "argocd.argoproj.io/sync-options=Replace=true,Force=true", RenewRefused},
		{"apps/v1 Deployment shop/web", "argocd.argoproj.io/sync-options=Replace=true", RenewNever},
		{"v1 PersistentVolumeClaim shop/data", "waybill.dev/recreate=true", RenewNever},
		{"v1 PersistentVolume data", "waybill.dev/recreate=true", RenewNever},
		{"v1 Namespace shop", "waybill.dev/recreate=true", RenewNever},
		{"apiextensions.k8s.io/v1 CustomResourceDefinition widgets.example.com", "waybill.dev/recreate=true", RenewNever},
	} {
		if o := manifest(c.name, nil, c.annotation); renewal(&o) != c.want {
			t.Errorf("%s with %s: %d, want %d", c.name, c.annotation, renewal(&o), c.want)
		}
	}
}
