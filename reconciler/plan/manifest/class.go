package manifest

import (
	"github.com/waybill-dev/waybill/policies/interpret"
	"github.com/waybill-dev/waybill/policies/place"
	"github.com/waybill-dev/waybill/policies/template"
	"github.com/waybill-dev/waybill/reconciler/plan/claim"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/sources/files"
)

// class is what a template's manifest in a cluster depends on.
type class struct {
	variant     int
	replicas    int32
	completions int64  // -1: as written
	rules       string // one byte a rule: does it match there?
	recipients  string // of a plain Secret: to whom it is encrypted
}

// result is the manifest of a class: a blob, or why there is none.
type result struct {
	made     *files.Blob
	blob     int32 // the number of made
	err      *diag.Diagnostic
	clusters []string // of a class without a blob
}

// classes are the results of a template.
type classes struct {
	encode func(class, template.Variant) *result
	known  map[class]*result
	failed []*result
	last   class // which the next cluster is often in, too
	is     *result
}

func (c *classes) result(k class, v template.Variant) *result {
	if c.is != nil && k == c.last {
		return c.is
	}
	if c.last, c.is = k, c.known[k]; c.is == nil {
		c.is = c.encode(k, v)
		if c.known[k] = c.is; c.is.err != nil {
			c.failed = append(c.failed, c.is)
		}
	}
	return c.is
}

// shareOf returns the completions of a cluster, -1 for as many as are written.
func shareOf(shares map[string]int64, cluster string) int64 {
	if n, ok := shares[cluster]; ok {
		return n
	}
	return -1
}

// completions divides a Job's completions over its own clusters by their replicas (Karmada
// section A.12).
func completions(d *claim.Decision) map[string]int64 {
	total, ok := interpret.Completions(d.Template.Content)
	if !ok || !d.Divided() || d.Size.Replicas <= 0 {
		return nil
	}
	return place.DivideLike(total, d.Own)
}
