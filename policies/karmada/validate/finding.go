package validate

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/sources/words"
)

// field is a path under construction. Its methods never change it.
type field []any

func (f field) at(steps ...any) field { return append(slices.Clip(f), steps...) }

// findings collects what is wrong. Its methods hold for any field; what holds for a kind is in
// functions beside each other.
type findings []karmada.FieldError

func (fs *findings) fail(at field, code diag.Code, message, hint string) {
	*fs = append(*fs, karmada.FieldError{Path: at, Code: code, Message: message, Hint: hint})
}

func (fs *findings) warn(at field, code diag.Code, message, hint string) {
	*fs = append(*fs, karmada.FieldError{Path: at, Code: code, Message: message, Hint: hint, Warning: true})
}

// unchecked reports what check finds as warnings, because Karmada does not look
// there: the object stays in force. What comes of a mistake is said with it.
func (fs *findings) unchecked(comesOfIt string, check func(*findings)) {
	var found findings
	check(&found)
	for _, f := range found {
		if !f.Warning {
			f.Code, f.Warning, f.Message = diag.UncheckedValue, true, f.Message+"; "+comesOfIt
		}
		*fs = append(*fs, f)
	}
}

// invalid reports that value is not valid, for the given reasons. There may be none.
func (fs *findings) invalid(at field, value string, reasons []string) {
	if len(reasons) > 0 {
		fs.fail(at, diag.InvalidValue, fmt.Sprintf("%q is not valid: %s", value, strings.Join(reasons, "; ")), "")
	}
}

// require reports an empty string.
func (fs *findings) require(at field, value, hint string) {
	if value == "" {
		fs.fail(at, diag.RequiredField, "is required", hint)
	}
}

// missing reports a list or a mapping that is not there. It may be empty.
func (fs *findings) missing(at field) {
	fs.fail(at, diag.RequiredField, "is required", "write what belongs there, or an empty value")
}

// oneOf reports a value that is not among those allowed, and names the nearest.
// The empty value is as good as any other: callers leave it out or let it in.
func oneOf[T ~string](fs *findings, at field, value T, allowed ...T) {
	if slices.Contains(allowed, value) {
		return
	}
	names := make([]string, 0, len(allowed))
	for _, a := range allowed {
		if a != "" {
			names = append(names, string(a))
		}
	}
	if value == "" {
		fs.fail(at, diag.RequiredField, "is required", "write "+alternatives(names))
		return
	}
	fs.fail(at, diag.UnsupportedValue, fmt.Sprintf("%q is not supported; want %s", value, alternatives(names)), words.Meant(string(value), names, ""))
}

// alternatives spells a list as people do: "a", "b" or "c".
func alternatives(names []string) string {
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = strconv.Quote(n)
	}
	last := len(quoted) - 1
	if last < 1 {
		return strings.Join(quoted, "")
	}
	return strings.Join(quoted[:last], ", ") + " or " + quoted[last]
}

// atLeast reports a number below its least value.
func (fs *findings) atLeast(at field, value, least int64) {
	if value < least {
		fs.fail(at, diag.InvalidValue, fmt.Sprintf("%d is too small; want %d or more", value, least), "")
	}
}

// within reports a number that is given and outside its bounds.
func (fs *findings) within(at field, value *int32, least, most int32) {
	if value != nil && (*value < least || *value > most) {
		fs.fail(at, diag.InvalidValue, fmt.Sprintf("%d is out of range; want %d to %d", *value, least, most), "")
	}
}

// key reports what is no valid label key.
func (fs *findings) key(at field, key string) {
	if key == "" {
		fs.require(at, key, "")
		return
	}
	fs.invalid(at, key, validation.IsQualifiedName(key))
}

// clusterName reports a name that no cluster can have (Karmada section C.1).
func (fs *findings) clusterName(at field, name string) {
	if name == "" {
		fs.require(at, name, "")
		return
	}
	fs.invalid(at, name, clusterName(name))
}

// kind reports an apiVersion and kind that name no kind.
func (fs *findings) kind(at field, apiVersion, kind string) {
	fs.require(at.at("apiVersion"), apiVersion, "write group/version, as in apps/v1")
	fs.apiVersion(at.at("apiVersion"), apiVersion)
	fs.require(at.at("kind"), kind, "")
}

func (fs *findings) apiVersion(at field, apiVersion string) {
	if _, err := schema.ParseGroupVersion(apiVersion); err != nil {
		fs.fail(at, diag.InvalidValue, fmt.Sprintf("%q is not group/version", apiVersion), "write as in apps/v1")
	}
}

// labelSelector reports what in a label selector cannot be read. Karmada takes it, and
// lets it match nothing (section A.3), which deletes what it matched before.
func (fs *findings) labelSelector(at field, s *metav1.LabelSelector) {
	if s == nil {
		return
	}
	checkLabels(fs, at.at("matchLabels"), s.MatchLabels)
	for i, e := range s.MatchExpressions {
		at := at.at("matchExpressions", i)
		fs.key(at.at("key"), e.Key)
		oneOf(fs, at.at("operator"), e.Operator, "In", "NotIn", "Exists", "DoesNotExist")
		fs.values(at, e.Operator, e.Values)
		fs.labelValues(at.at("values"), e.Values)
	}
}

func (fs *findings) labelValues(at field, values []string) {
	for i, v := range values {
		fs.invalid(at.at(i), v, validation.IsValidLabelValue(v))
	}
}

// values reports values that are missing beside their operator, or mean nothing there.
func (fs *findings) values(at field, operator metav1.LabelSelectorOperator, values []string) {
	switch operator {
	case metav1.LabelSelectorOpIn, metav1.LabelSelectorOpNotIn:
		if len(values) == 0 {
			fs.fail(at.at("values"), diag.RequiredField, "is required", "write the values, or remove the expression")
		}
	case metav1.LabelSelectorOpExists, metav1.LabelSelectorOpDoesNotExist:
		if len(values) > 0 {
			fs.fail(at.at("values"), diag.ConflictingFields, fmt.Sprintf("has no meaning with operator %q", operator), "remove it, or write In or NotIn")
		}
	}
}
