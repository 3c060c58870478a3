// Package examples holds small source repositories. Each is also a scenario of the
// tests, and quickstart is what waybill init and waybill demo begin with.
package examples

import "embed"

// Quickstart is the repository that waybill init writes.
//
//go:embed all:quickstart
var Quickstart embed.FS

// ChartPerRegion is a chart with other values in each region, which waybill demo shows.
//
//go:embed all:chart-per-region
var ChartPerRegion embed.FS
