package engines_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/render/draw"
	"github.com/waybill-dev/waybill/render/engine"
	"github.com/waybill-dev/waybill/render/engine/engines"
	"github.com/waybill-dev/waybill/render/helm"
	"github.com/waybill-dev/waybill/render/kustomize"
	"github.com/waybill-dev/waybill/sources"
)

// drawing is a job that draws from a subkey.
func drawing(of draw.Subkey, post ...kustomize.Overlay) engine.Job {
	return engine.Job{Helm: &engine.Helm{
		Chart: engine.Chart{Path: "c"}, Post: post,
		Release: helm.Release{Name: "r", Draw: &of, Allow: []string{"randAlpha"}},
	}}
}

func keyOf(t *testing.T, secret string) draw.Key {
	t.Helper()
	k, err := draw.NewKey([]byte(secret))
	if err != nil {
		t.Fatal(err)
	}
	return k
}

const (
	oneKey     = "0123456789abcdefghijklmnopqrstuv"
	anotherKey = "another 0123456789abcdefghijklmno"
)

// render does a job over a chart with one template.
func render(t *testing.T, j engine.Job, template string) (engine.Rendered, string) {
	t.Helper()
	job, err := json.Marshal(j)
	if err != nil {
		t.Fatal(err)
	}
	out, err := engines.Run(job, sources.Tree(map[string][]byte{
		"c/Chart.yaml": []byte("apiVersion: v2\nname: c\nversion: 1.0.0\n"), "c/templates/x.yaml": []byte(template),
	}))
	if err != nil {
		t.Fatal(err)
	}
	r, err := engine.Decode(out)
	if err != nil {
		t.Fatal(err)
	}
	return r, string(out)
}

const configMap = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"

// password is what the first call of a chart draws.
func password(t *testing.T, of draw.Subkey) string {
	t.Helper()
	r, _ := render(t, drawing(of), configMap+"data: {p: {{ randAlpha 20 }}}\n")
	if r.Failed() {
		t.Fatal(r.Diags)
	}
	data, _ := r.Manifests[0].Object.Content()["data"].(map[string]any)
	text, _ := data["p"].(string)
	return text
}

func TestTheKeyOfAJobDependsOnTheRandomKeyAndDoesNotHoldIt(t *testing.T) {
	one := keyOf(t, oneKey)
	seen := map[string]string{}
	for name, of := range map[string]draw.Subkey{
		"one": one.For("s", "eu", "a/r"), "another key": keyOf(t, anotherKey).For("s", "eu", "a/r"),
		"another cluster": one.For("s", "us", "a/r"), "another release": one.For("s", "eu", "a/q"), "another source": one.For("z", "eu", "a/r"),
	} {
		j := drawing(of)
		key := j.Key()
		if other, ok := seen[key]; ok {
			t.Errorf("%s and %s have one key", name, other)
		}
		seen[key] = name
		if len(j.Helm.Release.Draw.Secret) == 0 {
			t.Error("asking for the key of a job has taken its subkey away")
		}
		of.Secret = []byte("another secret of the same name")
		if drawing(of).Key() != key {
			t.Errorf("%s: the key is made from the secret", name)
		}
	}
}

func TestWhatIsDrawnIsInTheManifestsAndInNothingThatIsSaid(t *testing.T) {
	of := keyOf(t, oneKey).For("s", "eu", "a/r")
	secret := password(t, of)
	if len(secret) != 20 {
		t.Fatalf("it drew %q", secret)
	}
	tests := []struct{ name, template, want string }{
		{"an error", `{{ fail (randAlpha 20) }}`, "execution error"},
		{"a notice", configMap + `data: {p: {{ lookup "v1" (randAlpha 20) "a" "b" | toJson }}}`, "gives nothing"},
		{"a document that does not parse", configMap + "data: {p: {{ randAlpha 20 }}\n", ""},
		{"a document that is no manifest", "p: {{ randAlpha 20 }}\n", "without apiVersion"},
	}
	for _, tt := range tests {
		j := drawing(of)
		j.Helm.Release.Allow = []string{"lookup", "randAlpha"}
		r, _ := render(t, j, tt.template)
		said := fmt.Sprint(r.Diags)
		if len(r.Diags) == 0 || !strings.Contains(said, tt.want) || strings.Contains(said, secret) {
			t.Errorf("%s: it says %q", tt.name, said)
		}
	}
	bad := kustomize.Overlay{Patches: []kustomize.Patch{{Patch: "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\n"}}}
	r, _ := render(t, drawing(of, bad), configMap+"data: {p: {{ randAlpha 20 }}}\n")
	if !r.Failed() || strings.Contains(r.Diags[0].String(), secret) {
		t.Errorf("a patch that fails: %v", r.Diags)
	}
}

func TestWhatIsDrawnFromAKeyThatIsThrownAwayIsMasked(t *testing.T) {
	k, err := draw.Throwaway(strings.NewReader(oneKey))
	if err != nil {
		t.Fatal(err)
	}
	of := k.For("s", "eu", "a/r")
	if !drawing(of).DrawsOnce() || drawing(keyOf(t, oneKey).For("s", "eu", "a/r")).DrawsOnce() {
		t.Error("a key that is thrown away is not told from others")
	}
	open := of
	open.Masked = false
	secret := password(t, open)
	_, out := render(t, drawing(of), configMap+"data: {p: {{ randAlpha 20 }}, q: {{ \"x\" | quote }}}\n")
	r, err := engine.Decode([]byte(out))
	if err != nil || r.Failed() {
		t.Fatal(err, r.Diags)
	}
	data, _ := r.Manifests[0].Object.Content()["data"].(map[string]any)
	if data["p"] != strings.Repeat("x", 20) || strings.Contains(out, secret) {
		t.Errorf("it renders to %v", data)
	}
}
