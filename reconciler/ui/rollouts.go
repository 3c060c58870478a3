package ui

import (
	"fmt"
	"net/http"

	"github.com/waybill-dev/waybill/reconciler/facts"
	staged "github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/reconciler/ui/pages/units"
)

func rollouts(u *UI, r *http.Request, f *facts.Facts) (answer, error) {
	return answer{page: "rollouts", title: "Roll-outs", here: "rollouts", body: units.OfAll(f, r.URL.Query(), u.Now())}, nil
}

func rollout(u *UI, r *http.Request, f *facts.Facts) (answer, error) {
	name := r.PathValue("folder") + "/" + r.PathValue("name")
	unit, ok := staged.ParseUnit(name)
	if !ok {
		return answer{}, fmt.Errorf("%.200q names nothing that goes out in stages: %w", name, errNowhere)
	}
	is := f.Rollout(unit)
	if is == nil {
		return answer{}, fmt.Errorf("nothing is recorded of %.200q going out in stages: %w", name, errNowhere)
	}
	return answer{page: "rollout", title: name, here: "rollouts", body: units.Of(f, is, r.URL.Query(), u.Now())}, nil
}
