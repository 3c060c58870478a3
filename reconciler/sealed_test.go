package reconciler_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/reconciler/apply"
	"github.com/waybill-dev/waybill/render/seal/unseal"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/test/twin"
)

// Identities that were made for these tests, and the recipient of the first.
const (
	anna   = "AGE-SECRET-KEY-1Z6AX7297RMEN49XNLH5M2NVDXC2VF8CFW4TV9TVE686LZFRQUUQQSJJMSZ"
	cora   = "AGE-SECRET-KEY-166UVXL3323VAYJUHLPJ2EYL6DUT6AFPFAYDEA4CM7WAKMJHR9WVQLY6LF5"
	toAnna = "age1jgxhllsn8xkwypdyn5p7m6xye9dnxawg70mr5sh9j37tz24v853qktm3gm"
)

// sealedFleet has a Secret that Waybill encrypts, and a plain ConfigMap.
const sealedFleet = `apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: eu, annotations: {waybill.dev/age-recipients: ` + toAnna + `}}
spec: {syncMode: Push}
---
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: all, namespace: shop}
spec:
  resourceSelectors: [{apiVersion: v1, kind: Secret}, {apiVersion: v1, kind: ConfigMap}]
  placement: {}
---
apiVersion: v1
kind: Secret
metadata: {name: login, namespace: shop}
stringData: {password: CANARY}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: web, namespace: shop}
data: {a: b}
`

// delivered publishes a fleet and returns the objects of its cluster as they are to be applied.
func delivered(t *testing.T, fleet, identity string) map[string]apply.Object {
	t.Helper()
	repo := twin.New("sealed")
	repo.Write("main", "first", twin.Tree{"fleet.yaml": twin.File([]byte(fleet))}.Folder())
	r := &reconciler.Reconciler{Seen: reconciler.NewCache(), Source: repo, Target: repo, Now: func() time.Time { return time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC) }}
	if _, err := r.Publish(t.Context(), "main"); err != nil {
		t.Fatal(err)
	}
	if identity != "" {
		r.Identities = func(context.Context) (unseal.Identities, error) { return unseal.ParseIdentities([]byte(identity)) }
	}
	in, err := r.Published().Desired(t.Context(), "main", files.ID{})
	if err != nil {
		t.Fatal(err)
	}
	d, err := r.Published().Artifact(t.Context(), &in, "eu")
	if err != nil {
		t.Fatal(err)
	}
	objects := map[string]apply.Object{}
	for _, o := range d.Objects {
		objects[o.Ref.String()] = o
	}
	return objects
}

func TestWhatSOPSEncryptedIsDecryptedOrNotApplied(t *testing.T) {
	for _, tt := range []struct{ name, identity, want string }{
		{"the identity of a recipient", anna, ""},
		{"another identity", cora, "it is encrypted by SOPS: no identity fits of the 1 that are given; its recipients: " + toAnna + "; --age-identity-file names a file with identities, --sops-secret a Secret; ciphertext is never applied"},
		{"no identity", "", "it is encrypted by SOPS: no identity fits, for none is given; its recipients: " + toAnna + "; --age-identity-file names a file with identities, --sops-secret a Secret; ciphertext is never applied"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			objects := delivered(t, sealedFleet, tt.identity)
			login, web := objects["Secret/shop/login"], objects["ConfigMap/shop/web"]
			if login.Unfit != tt.want || !login.Private {
				t.Errorf("unfit %q, want %q; private %t", login.Unfit, tt.want, login.Private)
			}
			if web.Unfit != "" || web.Private {
				t.Errorf("what is not encrypted: %+v", web)
			}
			values, _ := login.Manifest["stringData"].(map[string]any)
			if _, sealed := login.Manifest["sops"]; tt.want == "" && (values["password"] != "CANARY" || sealed) {
				t.Errorf("it is applied as %v", login.Manifest)
			}
		})
	}
}

// A document that does not fit its own code passes through to the branch, and no further.
func TestATamperedDocumentIsNotApplied(t *testing.T) {
	const document = `apiVersion: v1
kind: ConfigMap
metadata: {name: passed, namespace: shop}
data: {p: 'ENC[AES256_GCM,data:YQ==,iv:YQ==,tag:YQ==,type:str]'}
sops:
  encrypted_regex: ^data$
  lastmodified: "2026-11-21T00:00:00Z"
  mac: ENC[AES256_GCM,data:YQ==,iv:YQ==,tag:YQ==,type:str]
  age: [{recipient: x, enc: y}]
`
	o := delivered(t, sealedFleet+"---\n"+document, anna)["ConfigMap/shop/passed"]
	const want = "it is encrypted by SOPS, and cannot be decrypted: what holds its data key is damaged (its recipients: x); ciphertext is never applied"
	if o.Unfit != want || !o.Private || strings.Contains(o.Unfit, "ENC[") {
		t.Errorf("unfit %q, want %q; private %t", o.Unfit, want, o.Private)
	}
}
