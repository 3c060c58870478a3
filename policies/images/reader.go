package images

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	strictjson "sigs.k8s.io/json"

	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
)

// reader reads one object, and collects what is wrong with it.
type reader struct {
	object *object.Object
	wrong  []diag.Diagnostic
}

// field is a path below an object.
type field []any

func (r *reader) add(at field, code diag.Code, severity diag.Severity, message, hint string) {
	if p := object.FieldPath(at); p != "" {
		message = p + " " + message
	}
	r.wrong = append(r.wrong, diag.Diagnostic{
		Code: code, Severity: severity, Pos: r.object.FieldPos(at), Hint: hint,
		Message: fmt.Sprintf("%s %s: %s", r.object.Ref().Kind, nameOf(r.object), message),
	})
}

// fail notes a mistake, for which nothing comes of the object.
func (r *reader) fail(at field, hint, format string, args ...any) {
	r.add(at, diag.BadSubscription, diag.Error, fmt.Sprintf(format, args...), hint)
}

// ignored notes a field that is set and has no meaning here.
func (r *reader) ignored(why string, at ...any) {
	r.add(at, diag.SubscriptionIgnored, diag.Warning, "is passed over: "+why, "remove it when Flux reads the object no more")
}

// failed reports whether there is a mistake.
func (r *reader) failed() bool { return diag.HasErrors(r.wrong) }

// decode decodes the object into a type of Flux's, strictly. What a controller writes into its status does not count.
func (r *reader) decode(into any) bool {
	if v := r.object.APIVersion(); !slices.Contains(versions, v) {
		r.fail(field{"apiVersion"}, "write "+strings.Join(versions, " or "), "is %q, which is not read", v)
		return false
	}
	content := map[string]any{}
	for key, v := range r.object.Content() {
		if key != "status" {
			content[key] = v
		}
	}
	data, err := json.Marshal(content)
	if err != nil {
		panic("images: a decoded manifest is no JSON: " + err.Error())
	}
	strict, err := strictjson.UnmarshalStrict(data, into)
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		r.fail(object.ParseFieldPath(wrong.Field), "docs/updates.md says what is read", "is a %s; want %s", wrong.Value, wrong.Type)
		return false
	}
	if err != nil {
		r.fail(nil, "docs/updates.md says what is read", "it cannot be read: %v", err)
		return false
	}
	for _, e := range strict {
		if unknown, ok := errors.AsType[strictjson.FieldError](e); ok {
			r.add(object.ParseFieldPath(unknown.FieldPath()), diag.UnknownField, diag.Error, "is not a field here", "remove it, or mend its name")
		}
	}
	return !r.failed()
}
