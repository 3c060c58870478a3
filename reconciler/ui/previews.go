package ui

import (
	"fmt"
	"net/http"
	"strconv"

	"github.com/waybill-dev/waybill/reconciler/facts"
	"github.com/waybill-dev/waybill/reconciler/ui/pages"
)

// errUnseen is that nobody looks at pull requests.
var errUnseen = fmt.Errorf("this controller does not look at pull requests; --previews has it do so, see docs/forges.md: %w", errNowhere)

func previews(u *UI, _ *http.Request, _ *facts.Facts) (answer, error) {
	if u.Previews == nil {
		return answer{}, errUnseen
	}
	all, working := u.Previews.All()
	return answer{page: "previews", title: "Previews", here: "previews", body: pages.OfPreviews(all, u.Reader.Rev, working, u.Now())}, nil
}

func preview(u *UI, r *http.Request, _ *facts.Facts) (answer, error) {
	if u.Previews == nil {
		return answer{}, errUnseen
	}
	number, err := strconv.Atoi(r.PathValue("number"))
	p, ok := u.Previews.Find(number)
	if err != nil || !ok {
		return answer{}, fmt.Errorf("no open pull request %.20q is known here: it may be closed, or another replica looks at it: %w", r.PathValue("number"), errNowhere)
	}
	var report []byte
	if p.Report != nil {
		if report, err = p.Report.HTML(); err != nil {
			return answer{}, err
		}
	}
	body := pages.OfPreview(&p, report, u.Now())
	return answer{page: "preview", title: body.Title, here: "previews", body: body}, nil
}
