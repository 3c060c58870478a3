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
	body := subscriptions.Of(subscribed, &memory, f.Site, r.URL.Query(), u.Now())
	return answer{page: "updates", title: "Updates", here: "updates", body: body}, nil
}
