// Package rendering compares what Waybill renders with what the programs give that
// people use: helm template and kustomize build. They are built from the module in
// tools, in the versions of the libraries that Waybill uses, and run as programs, so
// that nothing of Waybill, nor of the way it calls those libraries, is in them.
//
// Charts and kustomizations are those of testdata, one txtar file each, and those that
// other people wrote: the latter lie beside the checkout, in ../shared/corpus, or where
// WAYBILL_CORPUS says; without them their tests are skipped, and say so.
package rendering
