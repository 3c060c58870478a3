package manifest

import (
	"github.com/waybill-dev/waybill/policies/hpa"
	"github.com/waybill-dev/waybill/policies/ingress"
	"github.com/waybill-dev/waybill/policies/interpret"
	"github.com/waybill-dev/waybill/policies/place"
	"github.com/waybill-dev/waybill/policies/template"
	"github.com/waybill-dev/waybill/reconciler/plan/schedule"
	"github.com/waybill-dev/waybill/render/diag"
)

// class is what a template's manifest in a cluster depends on.
type class struct {
	variant     int
	replicas    int32
	completions int64         // -1: as written
	share       hpa.Share     // of what is made of a FederatedHPA; zero of any other template
	scaled      bool          // what is made of a FederatedHPA decides the replicas
	rules       string        // one byte a rule: does it match there?
	recipients  string        // of a plain Secret: to whom it is encrypted
	preserved   string        // the labels that hold the status of the copy that failed, as JSON
	backends    ingress.Names // what Services are called there, of what sends traffic to them
	virtual     int           // the index of a virtual cluster, and one; 0 for a cluster of its own
}

// result is the manifest of a class, or why there is none.
type result struct {
	made     *made
	blob     int32 // the number of made
	err      *diag.Diagnostic
	clusters []string // of a class without a manifest
}

// refused reports that there is no manifest. Of a draft that is known once it is encoded.
func (r *result) refused() bool {
	if r.err == nil {
		r.err = r.made.bad
	}
	return r.err != nil
}

// inCluster is what a template is in a cluster, by its index.
type inCluster struct {
	cluster int
	name    string
	is      *result
}

// classes are the results of a template.
type classes struct {
	make  func(class, template.Variant) *result
	known map[class]*result
	all   []inClass // in the order in which they were asked for
	last  class     // which the next cluster is often in, too
	is    *result
	// isUniform reports that a manifest follows from its source alone, which from is of the last one.
	isUniform bool
	from      source
}

// like is the result of the last cluster if the manifest in the next one follows from the same; nil if that is to be seen.
func (c *classes) like(from source) *result {
	if c.isUniform && from == c.from {
		return c.is
	}
	return nil
}

// inClass is a class and its result.
type inClass struct {
	class class
	is    *result
}

func (c *classes) result(k class, v template.Variant) *result {
	if c.is != nil && k == c.last {
		return c.is
	}
	if c.last, c.is = k, c.known[k]; c.is == nil {
		c.is = c.make(k, v)
		c.known[k], c.all = c.is, append(c.all, inClass{k, c.is})
	}
	return c.is
}

// results are the results of the classes, in their order.
func (c *classes) results() []*result {
	all := make([]*result, len(c.all))
	for i := range c.all {
		all[i] = c.all[i].is
	}
	return all
}

// outcome is what there is to say of the results, once they have numbers.
func (c *classes) outcome() (failed []*result, texts []told) {
	for _, in := range c.all {
		if in.is.err != nil {
			failed = append(failed, in.is)
			continue
		}
		for _, t := range in.is.made.texts {
			texts = append(texts, told{t, in.class.virtual - 1})
		}
	}
	return failed, texts
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
func completions(d *schedule.Decision) map[string]int64 {
	total, ok := interpret.Completions(d.Template.Content)
	if !ok || !d.Divided() || d.Size.Replicas <= 0 {
		return nil
	}
	return place.DivideLike(total, d.Scheduled)
}
