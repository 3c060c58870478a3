// The schema of SARIF, as its standard has it. It is in a module of its own, of which
// nothing is built.
module github.com/waybill-dev/waybill/test/formats/tools

go 1.26.0

require github.com/owenrumney/go-sarif/v3 v3.3.1

require (
	github.com/xeipuuv/gojsonpointer v0.0.0-20180127040702-4e3ac2762d5f // indirect
	github.com/xeipuuv/gojsonreference v0.0.0-20180127040603-bd5ef7bd5415 // indirect
	github.com/xeipuuv/gojsonschema v1.2.0 // indirect
)
