package pages

import (
	"fmt"
	"html/template"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/waybill-dev/waybill/reconciler/preview/store"
	"github.com/waybill-dev/waybill/sources/forge"
	"github.com/waybill-dev/waybill/sources/words"
)

// Previews is the page of the open pull requests.
type Previews struct {
	Branch string // that they go to
	Rows   []PreviewRow
	Full   int  // how many are kept, if there may be more
	Away   bool // another replica looks at them
}

// PreviewRow is a pull request, and what its head would do.
type PreviewRow struct {
	Number int
	Page   Link
	Author string
	From   string // of a stranger: fork or stranger
	Mark   Mark
	Says   string
	Head   string
	Since  Moment
}

// OfPreviews shows what is known of open pull requests to a branch.
func OfPreviews(all []store.Preview, branch string, working bool, now time.Time) Previews {
	p := Previews{Branch: branch, Away: !working}
	for i := range all {
		p.Rows = append(p.Rows, previewRow(&all[i], now))
	}
	if len(all) >= store.Most {
		p.Full = store.Most
	}
	return p
}

func previewRow(p *store.Preview, now time.Time) PreviewRow {
	row := PreviewRow{
		Number: p.Pull.Number, Page: Link{title(p), PreviewURL(p.Pull.Number)}, Author: words.Printable(p.Pull.Author.Login), From: from(&p.Pull),
		Says: words.Printable(p.Line), Head: short(p.Pull.Head), Since: MomentOf(p.Since, now), Mark: Mark{"Not made yet", "…", "muted"},
	}
	switch p.State {
	case forge.Success:
		row.Mark = Mark{"Sound", "✓", "good"}
	case forge.Failure:
		row.Mark = Mark{"Not sound", "✕", "bad"}
		if r := p.Report; r != nil && r.Head == p.Pull.Head && !r.Mistaken {
			row.Mark = Mark{"Would be held", "‖", "warn"}
		}
	case forge.Broken:
		row.Mark = Mark{"Not known", "?", "warn"}
	case forge.Pending:
		row.Mark = Mark{"Waits", "‖", "warn"}
	}
	return row
}

// from is a word for where a stranger's pull request is from; empty for a member's.
func from(p *forge.PullRequest) string {
	switch {
	case p.Fork:
		return "fork"
	case !p.Member:
		return "stranger"
	}
	return ""
}

// title names a pull request, with what whoever opened it wrote, cut to a line.
func title(p *store.Preview) string {
	const most = 160
	text := []rune(words.Printable(p.Pull.Title))
	if len(text) > most {
		text = append(text[:most-1], '…')
	}
	if len(text) == 0 {
		return fmt.Sprintf("Pull request %d", p.Pull.Number)
	}
	return fmt.Sprintf("#%d %s", p.Pull.Number, string(text))
}

// PreviewURL is the page of a pull request.
func PreviewURL(number int) string { return "/previews/" + strconv.Itoa(number) }

// Preview is the page of a pull request.
type Preview struct {
	Title  string
	Row    PreviewRow
	Forge  *Link
	Note   *Note
	Of     string        // commit and time of the report
	Report template.HTML // as package page writes it
}

// Note says why there is no report, or what is to be known of it.
type Note struct {
	Text, Code, Tone string
	Older            string // of which head the report is, if it is of an earlier one
}

// OfPreview shows what is known of a pull request, with the text of its report.
func OfPreview(p *store.Preview, report []byte, now time.Time) Preview {
	out := Preview{Title: title(p), Row: previewRow(p, now), Note: noteOf(p, now)}
	if u, err := url.Parse(p.Pull.URL); err == nil && (u.Scheme == "https" || u.Scheme == "http") {
		out.Forge = &Link{"pull request " + strconv.Itoa(p.Pull.Number), p.Pull.URL}
	}
	if len(report) > 0 {
		out.Of = p.Report.Head + " " + p.Report.At.UTC().Format(time.RFC3339Nano)
		out.Report = template.HTML(report) //nolint:gosec // a template of ours wrote it
	}
	return out
}

// noteOf says what else there is to know; nil for nothing.
func noteOf(p *store.Preview, now time.Time) *Note {
	older := ""
	if p.Report != nil && p.Report.Head != p.Pull.Head {
		older = fmt.Sprintf("Below is what the earlier head %s would do, as of %s.", short(p.Report.Head), MomentOf(p.Report.At, now).Ago)
	}
	switch {
	case p.State == "":
		return &Note{Text: "Nobody looked at this head yet: one pull request is looked at after the other.", Older: older}
	case p.State == forge.Pending:
		text, command, _ := strings.Cut(words.Printable(p.Line), "/waybill ")
		if command != "" {
			command = "/waybill " + command
		}
		return &Note{Text: "It waits: " + strings.TrimSpace(text), Code: command, Older: older, Tone: "warn"}
	case p.State == forge.Broken:
		return &Note{Text: "The versions could not be compared; the log of the controller says why.", Older: older, Tone: "bad"}
	case p.Report == nil || p.Report.Long:
		why := "The report was kept until newer ones took its room."
		if p.Report != nil {
			why = "The report is too long to be kept."
		}
		return &Note{Text: why + " The comment on the pull request has most of it, and this writes all:", Code: "waybill diff BASE " + p.Pull.Head + " -o html > page.html"}
	}
	return nil
}
