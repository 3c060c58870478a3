package main

import (
	"github.com/waybill-dev/waybill/reconciler/renderer"
	"github.com/waybill-dev/waybill/render"
)

// newEngine returns what renders Kustomize roots and releases.
func newEngine() render.Engine {
	return renderer.New(&renderer.Local{}, nil)
}
