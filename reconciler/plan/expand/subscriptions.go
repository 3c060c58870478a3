package expand

import (
	"github.com/waybill-dev/waybill/policies/images"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/flux"
	"github.com/waybill-dev/waybill/render/object"
)

// withoutSubscriptions leaves out the objects by which the source takes new versions of images, if they act here,
// and says what is wrong with them.
func withoutSubscriptions(
	config *render.ConfigSpec, repository *flux.Repository, objs []*object.Object,
) (rest []*object.Object, wrong []diag.Diagnostic) {
	if !config.Updates.Acts() {
		return objs, nil
	}
	_, rest, wrong = images.Split(config, repository, objs)
	return rest, wrong
}
