package ui

import (
	"net/http"

	"github.com/waybill-dev/waybill/reconciler/facts"
	"github.com/waybill-dev/waybill/reconciler/ui/pages/subscriptions"
)

func updates(u *UI, r *http.Request, f *facts.Facts) (answer, error) {
	memory, err := f.Memory()
	if err != nil {
		return answer{}, err
	}
	subscribed, err := facts.Subscriptions(r.Context(), u.Reader)
	if err != nil {
		return answer{}, err
	}
	ctx := r.Context()
	known := subscriptions.Known{Subscribed: subscribed, Memory: &memory, Site: f.Site}
	known.Author = func(commit string) *facts.Author { return u.Reader.Author(ctx, commit) }
	body := subscriptions.Of(known, r.URL.Query(), u.Now())
	return answer{page: "updates", title: "Updates", here: "updates", body: body}, nil
}
