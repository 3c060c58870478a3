package published

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/reconciler/apply"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/render/seal/unseal"
	"github.com/waybill-dev/waybill/render/tree"
)

// objectsOf reads the manifests of a published tree.
func objectsOf(ctx context.Context, p tree.Published, identities func(context.Context) (unseal.Identities, error)) ([]apply.Object, error) {
	paths, err := p.Paths()
	if err != nil {
		return nil, err
	}
	slices.Sort(paths)
	objects := make([]apply.Object, 0, len(paths))
	keys := onceAsked(ctx, identities)
	for _, path := range paths {
		e, _ := p.Built.Lookup(path)
		if e.Blob == nil {
			return nil, fmt.Errorf("%s is listed, and is not there", path)
		}
		data, err := e.Blob.Bytes()
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", path, err)
		}
		o, err := manifestOf(path, data, keys)
		if err != nil {
			return nil, err
		}
		o.Content = e.Blob.ID()
		objects = append(objects, o)
	}
	return objects, nil
}

// onceAsked returns what asks for identities once, and only if they are needed.
func onceAsked(ctx context.Context, identities func(context.Context) (unseal.Identities, error)) func() (unseal.Identities, error) {
	var keys unseal.Identities
	var err error
	asked := identities == nil
	return func() (unseal.Identities, error) {
		if !asked {
			keys, err = identities(ctx)
			asked = true
		}
		return keys, err
	}
}

// manifestOf reads a manifest of a branch. One that SOPS encrypted is decrypted, or else is
// unfit: ciphertext is never applied.
func manifestOf(path string, data []byte, keys func() (unseal.Identities, error)) (apply.Object, error) {
	content, err := object.DecodeCanonical(data)
	_, sealed := content["sops"] // Waybill writes it canonically, too
	if err != nil || sealed {    // or it was passed on as it was written
		single, diags := object.Single(path, data)
		if single == nil {
			return apply.Object{}, fmt.Errorf("reading %s: %s", path, diags[0])
		}
		content = single.Content()
		_, sealed = single.Sealed()
	}
	o := objectOf(content)
	if !sealed {
		return o, nil
	}
	o.Private = true
	identities, err := keys()
	if err != nil {
		return o, fmt.Errorf("%s is encrypted by SOPS: %w", path, err)
	}
	content, err = identities.Document(data)
	switch plain := objectOf(content); {
	case errors.Is(err, unseal.ErrNoIdentity):
		o.Unfit = fmt.Sprintf("it is encrypted by SOPS: %v; --age-identity-file names a file with identities, --sops-secret a Secret; ciphertext is never applied", err)
	case err != nil:
		o.Unfit = fmt.Sprintf("it is encrypted by SOPS, and cannot be decrypted: %v; ciphertext is never applied", err)
	case plain.Ref != o.Ref || plain.APIVersion != o.APIVersion:
		o.Unfit = "it is encrypted by SOPS, and its apiVersion, kind, name or namespace is encrypted as well; encrypt data and stringData only (encrypted_regex)"
	default:
		o.Manifest = content
	}
	return o, nil
}

// objectOf is the object of a manifest.
func objectOf(content map[string]any) (o apply.Object) {
	meta, _ := content["metadata"].(map[string]any)
	o.APIVersion, _ = content["apiVersion"].(string)
	o.Ref.Group, _ = object.GroupVersion(o.APIVersion)
	o.Ref.Kind, _ = content["kind"].(string)
	o.Ref.Namespace, _ = meta["namespace"].(string)
	o.Ref.Name, _ = meta["name"].(string)
	o.Manifest, o.Private = content, strings.HasSuffix(o.Ref.Kind, "Secret")
	return o
}
