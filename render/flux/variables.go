package flux

import (
	"encoding/base64"
	"fmt"
	"maps"

	"github.com/waybill-dev/waybill/render/kustomize"
	"github.com/waybill-dev/waybill/render/object"
)

// variables fills the variables of postBuild in: later ones of substituteFrom win, and substitute over
// all. Those of an encrypted Secret fail what uses them, and nothing else.
func (r *reader) variables(f *kustomize.Flux) {
	values, sealed := map[string]string{}, map[string]string{}
	for i, ref := range f.SubstituteFrom {
		data, encrypted := r.substitutes(ref, []any{"spec", "postBuild", "substituteFrom", i})
		for name := range data {
			delete(sealed, name)
		}
		for name := range encrypted {
			delete(values, name)
		}
		maps.Copy(values, data)
		maps.Copy(sealed, encrypted)
	}
	for name, value := range f.Overlay.Substitute {
		values[name] = value
		delete(sealed, name)
	}
	if f.Overlay.Substitute != nil || len(f.SubstituteFrom) > 0 {
		f.Overlay.Substitute = values
	}
	if len(sealed) > 0 {
		f.Overlay.Sealed = sealed
	}
}

// substitutes returns the variables of an entry of substituteFrom, or, of one that is encrypted, in
// what they are.
func (r *reader) substitutes(ref kustomize.Reference, field []any) (data, encrypted map[string]string) {
	o, err := r.lookup(ref.Kind, ref.Name)
	if o == nil {
		switch made := r.missing(ref.Kind, ref.Name); {
		case ref.Optional:
		case made != nil:
			r.fail(field, made.Error(), "")
		case err != nil:
			r.fail(field, err.Error(), "put one into the folder of the cluster, or outside of all of these")
		default:
			r.fail(field, fmt.Sprintf("the %s %s/%s is not in the source", ref.Kind, r.release.Ref().Namespace, ref.Name), "put it into the source, beside the release")
		}
		return nil, nil
	}
	if _, isSealed := o.Sealed(); !isSealed {
		if data, err = r.plain(o, ref.Kind); err != nil {
			r.fail(field, err.Error(), "")
		}
		return data, nil
	}
	encrypted = map[string]string{}
	for _, field := range []string{"data", "stringData"} {
		values, _ := fieldAt(o.Content(), field).(map[string]any)
		for name := range values {
			encrypted[name] = fmt.Sprintf("%s %s/%s", ref.Kind, o.Ref().Namespace, o.Ref().Name)
		}
	}
	return nil, encrypted
}

// lookup returns a ConfigMap or Secret beside the release: nil if it is not in the source. One in
// the folder of another cluster is none.
func (r *reader) lookup(kind, name string) (*object.Object, error) {
	o := r.shelf.find("", kind, r.release.Ref().Namespace, name)
	if o == nil || !r.setting.Repository.apart(o, r.release) {
		return o, nil
	}
	return nil, fmt.Errorf("the %s %s of %s is another cluster's", kind, name, o.Origin().File)
}

// data returns what a ConfigMap or Secret beside the release holds: nil if it is not
// in the source.
func (r *reader) data(kind, name string) (map[string]string, error) {
	o, err := r.lookup(kind, name)
	if o == nil {
		return nil, err
	}
	if _, sealed := o.Sealed(); sealed {
		return nil, fmt.Errorf("the %s %s is encrypted, and only what applies it to a cluster can read it", kind, name)
	}
	return r.plain(o, kind)
}

// plain returns what a ConfigMap or Secret holds that is not encrypted, and hides what is secret.
func (r *reader) plain(o *object.Object, kind string) (map[string]string, error) {
	out, err := texts(o, kind)
	if err != nil {
		return nil, err
	}
	if kind == "Secret" && r.setting.Random.Disguised {
		for key, text := range out {
			out[key] = masked(text)
		}
	}
	switch {
	case kind != "Secret":
	case r.masked:
		for key, text := range out {
			out[key] = masked(text)
		}
	default:
		for _, text := range out {
			r.hide(text)
		}
	}
	return out, nil
}

// texts returns what a ConfigMap or Secret holds, decoded. Flux looks at no binaryData, and an API server puts stringData over data.
func texts(o *object.Object, kind string) (map[string]string, error) {
	out, fields := map[string]string{}, []string{"data"}
	if kind == "Secret" {
		fields = append(fields, "stringData")
	}
	for _, field := range fields {
		values, _ := fieldAt(o.Content(), field).(map[string]any)
		encoded := kind == "Secret" && field == "data"
		for key, v := range values {
			text, ok := v.(string)
			if !ok {
				continue
			}
			if encoded {
				raw, err := base64.StdEncoding.DecodeString(text)
				if err != nil {
					return nil, fmt.Errorf("the %s %s has a key %q that is no base64", kind, o.Ref().Name, key)
				}
				text = string(raw)
			}
			out[key] = text
		}
	}
	return out, nil
}

// Waits reports whether a release takes values from what is not on the shelf itself, so that it may
// be what another release renders, which comes before what is behind the shelf.
func (s *Index) Waits(release *object.Object) bool {
	field := []string{"spec", "valuesFrom"}
	if isKustomization(release) {
		field = []string{"spec", "postBuild", "substituteFrom"}
	}
	for _, from := range listAt(release.Content(), field...) {
		ref := object.Ref{Kind: textAt(from, "kind"), Namespace: release.Ref().Namespace, Name: textAt(from, "name")}
		if (ref.Kind == "ConfigMap" || ref.Kind == "Secret") && s.byRef[ref] == nil {
			return true
		}
	}
	return false
}
