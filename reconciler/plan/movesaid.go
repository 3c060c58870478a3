package plan

import (
	"fmt"
	"time"

	"github.com/waybill-dev/waybill/reconciler/plan/move"
	"github.com/waybill-dev/waybill/reconciler/reason"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/fluxsync"
	"github.com/waybill-dev/waybill/sources/words"
)

// How says how a move goes, in a sentence without its end.
func (m Move) How() string {
	switch {
	case m.Stays == reason.LastCopy:
		return "the old copy stays although its time is over: no new one is healthy"
	case m.Stays == reason.Needed:
		return "the old copy stays until what leaves with it may go"
	case m.Stays == reason.GivenTime:
		return "the old copy stays " + m.limit("for ", "until ") + ": nobody says how the new ones are"
	case m.Stays != "":
		return "the old copy stays until the new ones are healthy; " + m.limit("after ", "after ") + " one of them is enough"
	case m.Way == move.AtOnce:
		return "at once: " + string(m.Direct)
	}
	return "the old copy goes"
}

// limit says when time alone may change something: of a move that begins after how long, of another one when.
func (m Move) limit(from, at string) string {
	if m.Began {
		return at + m.Until.UTC().Format(time.RFC3339)
	}
	return from + m.Within.String()
}

// Nowhere says for how long the object may be nowhere, in a sentence without its end.
func (m Move) Nowhere() string {
	switch m.Way {
	case move.AtOnce:
	case move.ByHealth:
		return "it is always in a cluster"
	case move.ByTime:
		return "it is nowhere only if the new copies are not there when the old one goes"
	}
	return fmt.Sprintf("it may be nowhere until who applies to %s has looked and it has come up there: for seconds where Waybill applies, "+
		"for up to %s and %s by Flux as waybill get flux prints it", words.List(m.To), fluxsync.SourceInterval, fluxsync.Interval)
}

// IsThatOf reports that another plan has the same object leave the same cluster.
func (m Move) IsThatOf(o Move) bool { return m.Object == o.Object && m.From == o.From }

// reportMoves says what stays in clusters that it leaves for others: of each cluster, and for each reason, once.
func reportMoves(all []Move) (diags []diag.Diagnostic) {
	type why struct {
		from  string
		stays reason.Reason
	}
	var order []why
	first, refs := map[why]Move{}, map[why][]string{}
	for _, m := range all {
		key := why{m.From, m.Stays}
		if m.Stays == "" || m.Stays == reason.Needed {
			continue
		}
		if _, known := first[key]; !known {
			order, first[key] = append(order, key), m
		}
		refs[key] = append(refs[key], m.Object.String())
	}
	for _, key := range order {
		m := first[key]
		d := diag.Diagnostic{
			Code: diag.MoveWaits, Severity: diag.Notice,
			Message: fmt.Sprintf("%s: from cluster %s to others; %s", words.List(refs[key]), m.From, m.How()),
			Hint:    "the controller publishes again then; where a job does, run it again",
		}
		if m.Stays == reason.LastCopy {
			d.Code, d.Severity = diag.LastCopy, diag.Warning
			d.Hint = fmt.Sprintf("look at the new copies; to give the old one up, annotate %s with %s: %s", m.Object, move.Annotation, move.AnnotationDirect)
		}
		diags = append(diags, d)
	}
	return diags
}
