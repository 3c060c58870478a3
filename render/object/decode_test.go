package object

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/waybill-dev/waybill/render/diag"
)

// refs lists the refs and places of what a file held.
func refs(d Decoded) []string {
	var out []string
	for _, o := range d.Objects {
		out = append(out, fmt.Sprintf("%s %s", o.Pos(), o.Ref()))
	}
	return out
}

func TestDecode(t *testing.T) {
	for _, tt := range []struct {
		name, file, in string
		want           []string
		notManifests   int
	}{
		{
			"documents keep their lines", "a.yaml", "# head\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: ns}\n---\n\napiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: b\n",
			[]string{"a.yaml:3 ConfigMap/ns/a", "a.yaml:8 Deployment.apps/b"},
			0,
		},
		{"a marker inside a block scalar does not split", "a.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  x: |\n    ---\n    y\n", []string{"a.yaml:1 ConfigMap/a"}, 0},
		{"what has no kind is counted", "a.yaml", "a: 1\n---\n- x\n---\nhello\n---\n", nil, 3},
		{"a List is flattened, with lines", "a.yaml", "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Secret\n  metadata: {name: s}\n- apiVersion: v1\n  kind: Service\n  metadata: {name: t}\n", []string{"a.yaml:4 Secret/s", "a.yaml:7 Service/t"}, 0},
		{"a List without items is empty", "a.yaml", "apiVersion: v1\nkind: List\n", nil, 0},
		{"items of a List may be aliases", "a.yaml", "apiVersion: v1\nkind: List\nitems:\n- &a\n  apiVersion: v1\n  kind: Secret\n  metadata: {name: s}\n- *a\n", []string{"a.yaml:4 Secret/s", "a.yaml:4 Secret/s"}, 0},
		{"what has no metadata is counted", "a.yaml", "apiVersion: v1\nkind: Pod\nspec: {}\n", nil, 1},
		{"what has a name, and neither a kind nor a version, is counted", "a.yaml", "metadata: {name: a}\nspec: {}\n", nil, 1},
		{"items of a typed list take its kind", "a.yaml", "apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleList\nitems:\n- metadata: {name: r}\n", []string{"a.yaml:4 Role.rbac.authorization.k8s.io/r"}, 0},
		{"a kind that ends in List and has a name is an object", "a.yaml", "apiVersion: x.io/v1\nkind: AllowList\nmetadata: {name: r}\nitems: [a]\n", []string{"a.yaml:1 AllowList.x.io/r"}, 0},
		{"JSON, with tabs, keeps its lines", "a.json", "{\n\t\"apiVersion\": \"v1\",\n\t\"kind\": \"ConfigMap\",\n\t\"metadata\": {\"name\": \"a\"}\n}\n{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"metadata\":{\"name\":\"b\"}}", []string{"a.json:1 ConfigMap/a", "a.json:6 Secret/b"}, 0},
		{"a byte order mark is no matter", "a.yaml", "\xef\xbb\xbfapiVersion: v1\nkind: Secret\nmetadata: {name: b}\n", []string{"a.yaml:1 Secret/b"}, 0},
		{"a document ends at dots, and what follows is another", "a.yaml", "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\n...\napiVersion: v1\nkind: Secret\nmetadata: {name: b}\n... # end\n...\n---\nx: 1\n...", []string{"a.yaml:1 Secret/a", "a.yaml:5 Secret/b"}, 1},
		{"dots inside a block scalar end nothing", "a.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  x: |\n    ...\n    y\n", []string{"a.yaml:1 ConfigMap/a"}, 0},
		{"a byte order mark before JSON", "a.json", "\xef\xbb\xbf{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"metadata\":{\"name\":\"b\"}}", []string{"a.json:1 Secret/b"}, 0},
		{"JSON values that are no manifests", "a.json", "1 \"x\" null [true, {}] {\"a\": {}}", nil, 4},
		{"items of a JSON list keep their lines", "a.json", "{\"apiVersion\": \"v1\", \"kind\": \"List\", \"items\": [\n {\"apiVersion\": \"v1\", \"kind\": \"Secret\",\n \"metadata\": {\"name\": \"s\"}},\n\n {\"apiVersion\": \"v1\", \"kind\": \"Secret\", \"metadata\": {\"name\": \"t\"}}]}", []string{"a.json:2 Secret/s", "a.json:5 Secret/t"}, 0},
		{"a hundred aliases", "a.yaml", head + "x: &x 1\ny: [" + strings.Repeat("*x, ", 100) + "]\n", []string{"a.yaml:1 ConfigMap/a"}, 0},
		{"a hundred levels", "a.yaml", head + "x: " + strings.Repeat("[", 98) + strings.Repeat("]", 98) + "\n", []string{"a.yaml:1 ConfigMap/a"}, 0},
		{"items that are an alias", "a.yaml", "apiVersion: v1\nkind: List\nx: &x\n- apiVersion: v1\n  kind: Secret\n  metadata: {name: s}\nitems: *x\n", []string{"a.yaml:1 Secret/s"}, 0},
		{"Windows line ends", "a.yaml", "apiVersion: v1\r\nkind: Secret\r\nmetadata:\r\n  name: b\r\n---\r\na: 1\r\n", []string{"a.yaml:1 Secret/b"}, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := Decode(tt.file, []byte(tt.in))
			if diff := cmp.Diff(tt.want, refs(d)); diff != "" {
				t.Error(diff, d.Diags)
			}
			if d.NotManifests != tt.notManifests || d.Broken || len(d.Diags) > 0 {
				t.Errorf("%d documents were no manifests, want %d; broken %t, %v", d.NotManifests, tt.notManifests, d.Broken, d.Diags)
			}
		})
	}
}

func TestDecodeRefuses(t *testing.T) {
	deep := strings.Repeat("{a: ", 101) + "1" + strings.Repeat("}", 101)
	for _, tt := range []struct{ name, file, in, want string }{
		{"malformed YAML", "a.yaml", "a: 1\n---\nb: [1\nc: 2\n", "a.yaml:3: error: the document is no valid YAML"},
		{"malformed JSON", "a.json", "{\n\"a\": 1,\n}", "a.json:3: error: the file is no valid JSON"},
		{"a second document after a carriage return", "a.yaml", "a: 1\r---\rb: 2\r", "a.yaml:2: error: another document begins here"},
		{"text behind dots", "a.yaml", "a: 1\n... b: 2\n", "a.yaml:2: error: the document is no valid YAML"},
		{"text behind the end of a flow mapping", "a.yaml", "\n{a: 1}\nb: 2\n", "a.yaml:3: error: the document is no valid YAML"},
		{"a key twice", "a.yaml", head + "data:\n  x: a\n  y: b\n  x: c\n", `a.yaml:7: error: the key "x" stands twice`},
		{"a key twice in JSON", "a.json", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"x":"1","x":"2"}}`, `a.json:1: error: the key "x" stands twice`},
		{"over 100 aliases", "a.yaml", head + "x: &x 1\ny: [" + strings.Repeat("*x, ", 101) + "]\n", "a.yaml:1: error: the document has 101 aliases; the limit is 100"},
		{"an alias bomb", "a.yaml", bomb(9, 9), "grows over 10 times"},
		{"an alias of itself", "a.yaml", head + "x: &x [*x]\n", "contains itself"},
		{"over 100 levels", "a.yaml", head + "x: " + deep + "\n", "nested over 100 levels"},
		{"over 100 levels by an alias", "a.yaml", head + "x: &x " + strings.Repeat("[", 60) + strings.Repeat("]", 60) + "\ny: " + strings.Repeat("[", 60) + "*x" + strings.Repeat("]", 60) + "\n", "nested over 100 levels"},
		{"over 10,000 levels", "a.yaml", strings.Repeat("[", 20000), "no valid YAML"},
		{"a large file", "a.yaml", head + padding(MaxFile), "a.yaml: error: the file has 5242931 bytes that are no CustomResourceDefinition; the limit is 5242880"},
		{"a large CRD", "a.yaml", crd + padding(MaxCRDFile), "the limit is 5242880, and 16777216 with its CustomResourceDefinitions"},
		{"a large document before a CRD", "a.yaml", head + padding(MaxFile) + "---\n" + crd, "5242931 bytes that are no CustomResourceDefinition"},
		{"a large document behind a CRD", "a.yaml", crd + "---\n" + head + padding(MaxFile), "5242935 bytes that are no CustomResourceDefinition"},
		{"many documents beside a CRD", "a.yaml", strings.Repeat(head+padding(1<<20)+"---\n", 6) + crd, "6291782 bytes that are no CustomResourceDefinition"},
		{"a large document that names a CRD", "a.yaml", head + "x: CustomResourceDefinition\n" + padding(MaxFile), "a.yaml:1: error: the file has 5242959 bytes up to here that are no CustomResourceDefinition"},
		{"a large list of a CRD and another", "a.yaml", list(crd, head) + padding(MaxFile), "a.yaml:1: error: the file has 5243063 bytes up to here"},
		{"a large JSON document behind a CRD", "a.json", asJSON(t, crd) + asJSON(t, head+"x: "+strings.Repeat("x", MaxFile)), "a.json:1: error: the file has 5242949 bytes up to here"},
		{"an item of a list that is none", "a.yaml", "apiVersion: v1\nkind: List\nitems:\n- 1\n", "a.yaml:4: error: item 0 of the list is no manifest"},
		{"an LFS pointer", "a.yaml", "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n", "a.yaml:1: error: the file is a Git LFS pointer"},
		{"generateName", "a.yaml", "apiVersion: v1\nkind: Pod\nmetadata: {generateName: a-}\n", "a.yaml:3: error: Pod: it has generateName"},
		{"a kind that ends in List, without items", "a.yaml", "apiVersion: x.io/v1\nkind: AllowList\nmetadata: {}\n", "a.yaml:3: error: AllowList: it has no metadata.name"},
		{"a number sign right behind dots", "a.yaml", "a: 1\n...#\n", "a.yaml:2: error: the document is no valid YAML"},
		{"a number that JSON cannot hold", "a.json", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"x":1e999}`, "a number is beyond all that can be read"},
		{"no name", "a.yaml", "apiVersion: v1\nkind: Pod\nmetadata: {}\n", "a.yaml:3: error: Pod: it has no metadata.name"},
		{"a name that YAML reads as a number", "a.yaml", "apiVersion: v1\nkind: Pod\nmetadata: {name: 12}\n", "metadata.name is 12, which YAML reads as no string"},
		{"a name that is a path", "a.yaml", "apiVersion: v1\nkind: Pod\nmetadata: {name: ../x}\n", `metadata.name "../x" is not valid: may not contain '/'`},
		{"metadata that is not indented", "a.yaml", "apiVersion: v1\nkind: Pod\nmetadata:\nname: p\n", "a.yaml:3: error: Pod: its metadata is no mapping"},
		{"a policy without metadata", "a.yaml", "apiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\nspec: {}\n", "PropagationPolicy: its metadata is no mapping"},
		{"a kind with a capital", "a.yaml", "apiVersion: v1\nKind: Pod\nmetadata: {name: p}\n", "the document looks like a manifest and has no kind"},
		{"a version with a capital", "a.yaml", "apiversion: v1\nkind: Pod\nmetadata: {name: p}\n", "the document looks like a manifest and has no apiVersion"},
		{"a policy without kind", "a.yaml", "apiVersion: policy.karmada.io/v1alpha1\nspec: {}\n", "has no kind"},
		{"a name with an escape", "a.yaml", "apiVersion: v1\nkind: Pod\nmetadata: {name: a%2fb}\n", `metadata.name "a%2fb" is not valid`},
		{"a name with a control character", "a.yaml", "apiVersion: v1\nkind: Pod\nmetadata: {name: \"a\\e[31m\"}\n", `it has control characters`},
		{"a namespace that is a folder's", "a.yaml", "apiVersion: v1\nkind: Pod\nmetadata: {name: x, namespace: .git}\n", `metadata.namespace ".git" is not valid`},
		{"a namespace above", "a.yaml", "apiVersion: v1\nkind: Pod\nmetadata: {name: x, namespace: ..}\n", `metadata.namespace ".." is not valid`},
		{"a kind with a slash", "a.yaml", "apiVersion: x.io/v1\nkind: A/b\nmetadata: {name: x}\n", `kind "A/b" is not valid`},
		{"a version with two slashes", "a.yaml", "apiVersion: x.io/v1/v2\nkind: A\nmetadata: {name: x}\n", `apiVersion "x.io/v1/v2" is not valid`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			start := time.Now()
			d := Decode(tt.file, []byte(tt.in))
			if !d.Broken || len(d.Diags) != 1 || !strings.Contains(d.Diags[0].String(), tt.want) {
				t.Errorf("broken %t, want %q, got %v", d.Broken, tt.want, d.Diags)
			}
			if took := time.Since(start); took > 5*time.Second {
				t.Errorf("it took %s to refuse", took)
			}
		})
	}
}

// A file that a limit refuses as a whole has no object: which of them stand before the limit would
// be an accident of their order.
func TestNothingOfARefusedFileCounts(t *testing.T) {
	for _, tt := range []struct{ name, file, in, want string }{
		{"over 5,000 documents", "a.yaml", strings.Repeat("---\n"+head, 5001), "a.yaml:20001: error: the file has over 5000 documents"},
		{"over 5,000 values of JSON", "a.json", strings.Repeat(asJSON(t, head)+"\n", 5001), "error: the file has over 5000 documents"},
		{"too large after a while", "a.yaml", head + "---\n" + head + "x: CustomResourceDefinition\n" + padding(MaxFile) + "---\n" + head, "a.yaml:5: error: the file has 5243"},
		{"JSON that is too large after a while", "a.json", asJSON(t, head) + asJSON(t, crd) + asJSON(t, head+"x: "+strings.Repeat("x", MaxFile)), "up to here"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := Decode(tt.file, []byte(tt.in))
			if len(d.Objects) > 0 || !d.Broken || len(d.Diags) != 1 || !strings.Contains(d.Diags[0].String(), tt.want) {
				t.Errorf("%d objects count, broken %t, want %q, got %v", len(d.Objects), d.Broken, tt.want, d.Diags)
			}
		})
	}
}

func TestFiveThousandDocumentsAreNotTooMany(t *testing.T) {
	for _, in := range []string{strings.Repeat("---\n"+head, 5000), strings.Repeat(head+"---\n", 4999) + head} {
		if d := Decode("a.yaml", []byte(in)); len(d.Objects) != 5000 || d.Broken {
			t.Errorf("%d objects, %v", len(d.Objects), d.Diags)
		}
	}
}

// bomb returns a document in which each level names the one below several times.
func bomb(levels, width int) string {
	var b strings.Builder
	b.WriteString("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\na0: &a0 lol\n")
	for i := 1; i <= levels; i++ {
		refs := strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i-1), width), ", ")
		fmt.Fprintf(&b, "a%d: &a%d [%s]\n", i, i, refs)
	}
	return b.String()
}

const crd = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: a}\n"

// padding is a comment of so many bytes.
func padding(n int) string { return "#" + strings.Repeat("x", n-2) + "\n" }

// list is a List of manifests.
func list(manifests ...string) string {
	var b strings.Builder
	b.WriteString("apiVersion: v1\nkind: List\nitems:\n")
	for _, m := range manifests {
		fmt.Fprintf(&b, "- %s\n", strings.ReplaceAll(strings.TrimSuffix(m, "\n"), "\n", "\n  "))
	}
	return b.String()
}

func asJSON(t *testing.T, manifest string) string {
	t.Helper()
	data, err := sigsyaml.YAMLToJSON([]byte(manifest))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// A file that is larger than the largest that is read is refused by its size alone.
func TestTooLarge(t *testing.T) {
	for size, want := range map[int64]string{
		0: "", MaxFile + 1: "", MaxCRDFile: "", MaxCRDFile + 1: "the file has 16777217 bytes",
	} {
		d, is := TooLarge("a.yaml", size)
		if is != (want != "") || !strings.HasPrefix(d.Message, want) || is && (d.Pos.File != "a.yaml" || d.Severity != diag.Error) {
			t.Errorf("of %d bytes it is %t: %v", size, is, d)
		}
	}
}

func TestLargeCRDsAreRead(t *testing.T) {
	second := strings.Replace(crd, "name: a", "name: b", 1)
	for _, tt := range []struct {
		name, file, in string
		objects        int
	}{
		{"one", "a.yaml", crd + padding(MaxFile), 1},
		{"the largest", "a.yaml", crd + "#" + strings.Repeat("x", MaxCRDFile-len(crd)-1), 1},
		{"two, and a document beside them", "a.yaml", crd + padding(MaxFile) + "---\n" + head + padding(1<<20) + "---\n" + second + padding(MaxFile), 3},
		{"a list of two", "a.yaml", list(crd, second) + padding(MaxFile), 2},
		{"a list of their own", "a.yaml", strings.Replace(list("metadata: {name: x}"), "kind: List", "kind: CustomResourceDefinitionList", 1) + padding(MaxFile), 1},
		{"JSON", "a.json", asJSON(t, crd+"x: "+strings.Repeat("x", MaxFile)) + asJSON(t, head), 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if d := Decode(tt.file, []byte(tt.in)); len(d.Objects) != tt.objects || len(d.Diags) > 0 {
				t.Errorf("%d objects, want %d; %v", len(d.Objects), tt.objects, d.Diags)
			}
		})
	}
}

func TestAFileWithOneBrokenDocumentKeepsTheOthers(t *testing.T) {
	d := Decode("a.yaml", []byte("apiVersion: v1\nkind: Secret\nmetadata: {name: a}\n---\nb: [\n---\napiVersion: v1\nkind: Secret\nmetadata: {name: c}\n"))
	if diff := cmp.Diff([]string{"a.yaml:1 Secret/a", "a.yaml:7 Secret/c"}, refs(d)); diff != "" || !d.Broken {
		t.Error(diff, d.Broken)
	}
}

func TestASOPSDocumentStaysAsItIs(t *testing.T) {
	doc := "kind: Secret\napiVersion: v1\nmetadata:\n    name: a # kept\ndata:\n    z: ENC[AES256_GCM,data:x]\n    a: ENC[AES256_GCM,data:y]\nsops:\n    mac: ENC[x]\n    lastmodified: \"2026-11-21T00:00:00Z\"\n"
	d := Decode("a.yaml", []byte("---\n"+doc+"---\n"))
	if got := string(d.Objects[0].YAML()); got != doc {
		t.Errorf("got\n%s\nwant\n%s", got, doc)
	}
}

func TestASOPSDocumentStaysAsItIsWhateverItSays(t *testing.T) {
	doc := "kind: Secret\napiVersion: v1\nmetadata:\n    name: &x n\n    annotations: {y: *x, z: N}\nsops:\n    mac: ENC[x]\n    version: N\n    list: [n,\n      y]\n"
	for _, file := range []string{doc, "---\n" + doc + "...\n", doc + "...\n" + head, head + "--- # next\n" + doc + "\n---\n" + head} {
		d := Decode("a.yaml", []byte(strings.ReplaceAll(file, head, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: other}\n")))
		i := slices.IndexFunc(d.Objects, func(o *Object) bool { return o.Ref().Kind == "Secret" })
		if i < 0 {
			t.Fatal(d.Diags)
		}
		if diff := cmp.Diff(doc, string(d.Objects[i].YAML())); diff != "" || d.Objects[i].Ref().Name != "n" {
			t.Error(diff, d.Objects[i].Ref())
		}
	}
}

func TestASOPSDocumentInJSONStaysAsItIs(t *testing.T) {
	doc := "{\"kind\": \"Secret\", \"apiVersion\": \"v1\",\n\t\"metadata\": {\"name\": \"a\"}, \"sops\": {\"mac\": \"ENC[\\/\", \"version\": \"3\"}}"
	d := Decode("a.json", []byte("[]\n"+doc+"\n"))
	if diff := cmp.Diff(doc+"\n", string(d.Objects[0].YAML())); diff != "" {
		t.Error(diff)
	}
}

func TestJSONTakesKeysOfAnyLength(t *testing.T) {
	key := strings.Repeat("k", 5000)
	in := "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"a\"},\n\"spec\":{\"" + key + "\":1.0,\"n\":12}}"
	if diff := cmp.Diff(map[string]any{key: 1.0, "n": int64(12)}, spec(t, "a.json", in)); diff != "" {
		t.Error(diff)
	}
	d := Decode("a.json", []byte(strings.Replace(in, "\"n\"", "\n\""+key+"\"", 1)))
	if len(d.Diags) != 1 || d.Diags[0].Code != diag.DuplicateKey || d.Diags[0].Pos.Line != 3 {
		t.Error(d.Diags)
	}
}

func TestSingle(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"one manifest, between empty documents", "---\n# c\n---\n" + head + "---\n", ""},
		{"a second manifest", head + "---\n\n" + head, "c.yaml:6: error: the file holds a second document, which would not be read [malformed]"},
		{"a second document that is no manifest", head + "...\nx: 1\n", "c.yaml:5: error: the file holds a second document"},
		{"none", "# c\n", "c.yaml:1: error: the file holds 0 manifests, not one"},
		{"a document that is no manifest", "x: 1\n", "c.yaml:1: error: the file holds 0 manifests, not one"},
		{"a list of two", "apiVersion: v1\nkind: ConfigMapList\nitems: [{metadata: {name: a}}, {metadata: {name: b}}]\n", "c.yaml:1: error: the file holds 2 manifests, not one"},
		{"what cannot be read", head + "x: [\n", "c.yaml:5: error: the document is no valid YAML"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o, ds := Single("c.yaml", []byte(tt.in))
			if tt.want == "" {
				if o == nil || len(ds) > 0 {
					t.Error(o, ds)
				}
				return
			}
			if o != nil || len(ds) != 1 || !strings.Contains(ds[0].String(), tt.want) {
				t.Errorf("want %q, got %v", tt.want, ds)
			}
		})
	}
}

func TestSingleLettersAreStrings(t *testing.T) {
	d := Decode("a.yaml", []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: n, annotations: {é: n, y: Y}}\ndata:\n  n: y\n  yes: 'N'\n  block: |\n    n\n  list: [n, y, no]\n"))
	want := map[string]any{"n": "y", "true": "N", "block": "n\n", "list": []any{"n", "y", false}}
	if diff := cmp.Diff(want, d.Objects[0].Content()["data"]); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]string{"é": "n", "y": "Y"}, d.Objects[0].Annotations()); diff != "" || d.Objects[0].Ref().Name != "n" {
		t.Error(diff, d.Objects[0].Ref())
	}
}

func TestJSONKeepsItsStrings(t *testing.T) {
	d := Decode("a.json", []byte("{\"apiVersion\":\"v1\",\n\t\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"a\"},\"data\":{\"s\":\"\\ud83d\\ude00\\/ \\\\ud83d\\t\",\"n\":\"y\"}}"))
	if len(d.Diags) > 0 || len(d.Objects) != 1 {
		t.Fatal(d.Diags)
	}
	want := map[string]any{"s": "😀/ \\ud83d\t", "n": "y"}
	if diff := cmp.Diff(want, d.Objects[0].Content()["data"]); diff != "" {
		t.Error(diff)
	}
}

func TestFieldPos(t *testing.T) {
	d := Decode("p.yaml", []byte("# x\napiVersion: policy.karmada.io/v1alpha1\nkind: OverridePolicy\nmetadata:\n  name: a\nspec:\n  overrideRules:\n  - overriders:\n      plaintext:\n      - path: /a\n        operator: add\n      - path: /b\n        operator: bad\n"))
	for _, tt := range []struct {
		path []any
		want string
	}{
		{[]any{"spec", "overrideRules", 0, "overriders", "plaintext", 1, "operator"}, "p.yaml:13"},
		{[]any{"spec", "overrideRules", 0, "nosuch", "field"}, "p.yaml:8"},
		{[]any{"spec", "overrideRules", 7}, "p.yaml:7"},
		{nil, "p.yaml:2"},
	} {
		if got := d.Objects[0].FieldPos(tt.path).String(); got != tt.want {
			t.Errorf("%v stands at %s, want %s", tt.path, got, tt.want)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add("a.yaml", []byte(deployment))
	f.Add("a.json", []byte(`{"apiVersion":"v1","kind":"List","items":[{"kind":"Secret"}]}`))
	f.Add("a.yaml", []byte(bomb(3, 3)))
	f.Fuzz(func(t *testing.T, file string, data []byte) {
		for _, o := range Decode(file, data).Objects {
			again := Decode("a.yaml", o.YAML())
			if len(again.Objects) != 1 || again.Objects[0].Ref() != o.Ref() {
				t.Fatalf("%s is not read back:\n%s", o.Ref(), o.YAML())
			}
			if _, sealed := o.Sealed(); !sealed && string(again.Objects[0].YAML()) != string(o.YAML()) {
				t.Fatalf("canonical YAML is not canonical:\n%s\n%s", o.YAML(), again.Objects[0].YAML())
			}
		}
	})
}

// TestScan holds what is said of YAML that a library is about to read.
func TestScan(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"what is well", "a: 1\n---\nb: [1]\n", ""},
		{"no YAML", "a: [\n", "a.yaml: error: the file is no valid YAML: "},
		{"too much", "a: " + strings.Repeat("x", MaxFile), "a.yaml: error: the file has 5242883 bytes"},
		{"as many documents as there may be", strings.Repeat("---\na: 1\n", maxDocuments), ""},
		{"more documents", strings.Repeat("---\na: 1\n", maxDocuments+1), "a.yaml: error: the file has over 5000 documents"},
		{"an alias bomb in the second document", "a: 1\n---\n" + bomb(9, 9), "grows over 10 times"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ds := Scan("a.yaml", []byte(tt.in))
			if (len(ds) == 0) != (tt.want == "") || tt.want != "" && !strings.Contains(ds[0].String(), tt.want) {
				t.Errorf("it says %v, want %q", ds, tt.want)
			}
		})
	}
}
