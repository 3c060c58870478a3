package state

import (
	"bytes"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/files"
)

// A binding is long because it lists clusters: those that it sends its template to, and those in which the object is not as decided.
// Many bindings have the same lists, so that a list is written once, and read once.

// field is a field of a binding with such a list, as it is written: what stands before the list and after it, what stands there in a
// binding without it, and what each line of it begins with. Path leads to it from the top.
type field struct{ path, before, after, without, indent string }

var (
	ofDecision = &field{"", "\nspec:\n  clusters:\n", "", "\nspec:\n", "  "}
	ofNeed     = &field{"spec:", "\n  requiredBy:\n  - clusters:\n", "    name: ", "\n  requiredBy:\n  - name: ", "    "}
	ofStatus   = &field{"", "\nstatus:\n  aggregatedStatus:\n", "", "\nstatus:\n", "  "}
)

// list is a list by where it is, and the field in which it is written.
type list struct {
	first any
	n     int
	field *field
}

// written are the lists that were written: the text of each, and of those that are in a binding together the first file with them.
type written struct {
	texts map[list]string
	files map[[2]list]patched
}

// patched is a file, and the lists in it.
type patched struct {
	file  *files.Blob
	lists []files.Piece
}

func newWritten() *written { return &written{map[list]string{}, map[[2]list]patched{}} }

// encode returns the file of a binding. The clusters of a decision are the first field of its spec, and where the object is not as
// decided is the first one of its status. Of what no policy sends, and one other needs, the clusters are those of that.
func (w *written) encode(b *karmada.ResourceBinding) (*files.Blob, error) {
	rest, clusters, at := *b, b.Spec.Clusters, ofDecision
	switch {
	case len(clusters) > 0:
		rest.Spec.Clusters = nil
	case len(b.Spec.RequiredBy) == 1:
		need := b.Spec.RequiredBy[0]
		clusters, at, need.Clusters = need.Clusters, ofNeed, nil
		rest.Spec.RequiredBy = []karmada.BindingSnapshot{need}
	}
	rest.Status.AggregatedStatus = nil
	data, err := encode(&rest)
	if err != nil {
		return nil, err
	}
	if left := b.Status.AggregatedStatus; len(left) > 0 && !bytes.Contains(data, []byte(ofStatus.without)) {
		data = append(data, ofStatus.without[1:]...)
	}
	var lists [2]list
	var texts [2]string
	if lists[0], texts[0], err = textOf(w, clusters, at); err == nil {
		lists[1], texts[1], err = textOf(w, b.Status.AggregatedStatus, ofStatus)
	}
	if err != nil {
		return nil, err
	}
	return w.join(data, lists, texts), nil
}

// textOf returns a list as it stands in a field; the zero values for an empty one.
func textOf[T any](w *written, all []T, in *field) (key list, text string, err error) {
	if len(all) == 0 {
		return list{}, "", nil
	}
	key = list{&all[0], len(all), in}
	if text, known := w.texts[key]; known {
		return key, text, nil
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&struct {
		List []T `json:"list"`
	}{all})
	if err != nil {
		return list{}, "", err
	}
	var b strings.Builder
	for line := range strings.Lines(strings.TrimPrefix(string(object.Encode(content)), "list:\n")) {
		b.WriteString(in.indent + line)
	}
	w.texts[key] = b.String()
	return key, b.String(), nil
}

// join puts lists into what is written without them.
func (w *written) join(data []byte, lists [2]list, texts [2]string) *files.Blob {
	known, isKnown := w.files[lists]
	var pieces []files.Piece
	var whole []byte
	for n, l := range lists {
		if l.n == 0 {
			continue
		}
		before, after, _ := bytes.Cut(data, []byte(l.field.without))
		own := slices.Concat(before, []byte(l.field.before))
		data = slices.Concat([]byte(l.field.after), after)
		if isKnown {
			pieces = append(pieces, files.Piece{Text: own}, known.lists[len(pieces)/2])
			continue
		}
		known.lists = append(known.lists, files.Piece{At: len(whole) + len(own), Len: len(texts[n])})
		whole = slices.Concat(whole, own, []byte(texts[n]))
	}
	if isKnown {
		return files.Patched(known.file, append(pieces, files.Piece{Text: data})...)
	}
	known.file = files.NewBlob(append(whole, data...))
	if len(known.lists) > 0 {
		w.files[lists] = known
	}
	return known.file
}

// read are the lists that were read, each in a binding of its own, by the field and the text.
type read map[inField]*karmada.ResourceBinding

type inField struct {
	field *field
	text  string
}

// decode reads a binding: fast if it is written as Encode writes. It shares its lists with those that were read before.
func (r read) decode(data []byte) (b *karmada.ResourceBinding, isOurs bool, err error) {
	if b := r.shared(string(data)); b != nil {
		return b, true, nil
	}
	b = &karmada.ResourceBinding{}
	if content, err := object.DecodeCanonical(data); err == nil {
		return b, true, runtime.DefaultUnstructuredConverter.FromUnstructured(content, b)
	}
	return b, false, sigsyaml.Unmarshal(data, b) // somebody wrote it in another way
}

// shared reads a binding and its lists apart from each other; nil if that cannot be done.
func (r read) shared(text string) *karmada.ResourceBinding {
	rest, clusters := cut(text, ofDecision)
	if clusters.text == "" {
		rest, clusters = cut(rest, ofNeed)
	}
	rest, status := cut(rest, ofStatus)
	b, sent, left := canonical(rest), r.list(clusters), r.list(status)
	if b == nil || sent == nil || left == nil || clusters.field == ofNeed && len(b.Spec.RequiredBy) == 0 {
		return nil
	}
	switch clusters.field {
	case ofDecision:
		b.Spec.Clusters = sent.Spec.Clusters
	case ofNeed:
		b.Spec.RequiredBy[0].Clusters = sent.Spec.RequiredBy[0].Clusters
	}
	b.Status.AggregatedStatus = left.Status.AggregatedStatus
	return b
}

// canonical is a text that Encode wrote; nil for another one.
func canonical(text string) *karmada.ResourceBinding {
	b := &karmada.ResourceBinding{}
	content, err := object.DecodeCanonical([]byte(text))
	if err != nil || runtime.DefaultUnstructuredConverter.FromUnstructured(content, b) != nil {
		return nil
	}
	return b
}

// cut returns what is written without the list in a field, and the list; the zero value where there is none.
func cut(text string, f *field) (rest string, is inField) {
	before, after, found := strings.Cut(text, f.before)
	n := 0
	for line := range strings.Lines(after) {
		if !strings.HasPrefix(line, f.indent+"- ") && !strings.HasPrefix(line, f.indent+"  ") {
			break
		}
		n += len(line)
	}
	end, isWhole := strings.CutPrefix(after[n:], f.after)
	switch {
	case !found || !isWhole:
		return text, inField{}
	case f.after == "" && !strings.HasPrefix(end, " "): // it is all that there is
		return before + "\n" + end, inField{f, after[:n]}
	}
	return before + f.without + end, inField{f, after[:n]}
}

// list is a binding with no more than a list, if any; nil if that cannot be read.
func (r read) list(is inField) *karmada.ResourceBinding {
	if is.text == "" {
		return &karmada.ResourceBinding{}
	}
	if r[is] == nil {
		r[is] = canonical(strings.TrimPrefix(is.field.path+is.field.before, "\n") + is.text)
	}
	return r[is]
}
