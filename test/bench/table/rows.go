package main

import (
	"time"

	"github.com/waybill-dev/waybill/test/bench"
)

// row is a workload and what it must reach on two cores.
type row struct {
	name, target string
	measure      func(*workbench) (measured, error)
	reached      func(measured) bool
}

// within says what is fast enough and small enough.
func within(wall time.Duration, memory int64) func(measured) bool {
	return func(m measured) bool { return m.wall <= wall && (memory == 0 || m.memory <= memory) }
}

// times says how often the peer's cost may be had.
func times(n float64) func(measured) bool {
	return func(m measured) bool { return m.wall.Seconds() <= n*m.peer.Seconds() }
}

// both asks for two things.
func both(a, b func(measured) bool) func(measured) bool {
	return func(m measured) bool { return a(m) && b(m) }
}

const gib = 1 << 30

var (
	regional = bench.Shape{Clusters: 1000, Templates: 1000, Regions: 10, Overridden: 20}
	unique   = bench.Shape{Clusters: 1000, Templates: 1000, Regions: 10, Overridden: 20, Unique: true}
	large    = bench.Shape{Clusters: 5000, Templates: 2000, Regions: 10, Overridden: 20}
	divided  = bench.Shape{Clusters: 5000, Templates: 4000, Regions: 10, Overridden: 20} // branches have parts
	largest  = bench.Shape{Clusters: 10000, Templates: 10000, Regions: 10, Overridden: 20}
)

// all are the rows, in the order of the table.
var all = []row{
	{"cold: 1,000 x 1,000, ten regions", "5 s, 1 GiB", cold(regional), within(5*time.Second, gib)},
	{"cold: 200,000 distinct files", "1.3x fast-import, 1 GiB", coldAgainstGit(unique), both(times(1.3), within(time.Minute, gib))},
	{"warm: a line that 1,000 clusters hold", "2x (fast-import + push)", warmAgainstGit, times(2)},
	{"warm: a change to one cluster", "150 ms", warm("one-cluster"), within(150*time.Millisecond, 0)},
	{"warm: nothing changed", "50 ms", warm("nothing"), within(50*time.Millisecond, 0)},
	{"cold: a chart to 1,000 clusters, ten values", "1/50 of helm", chart, func(m measured) bool { return 50*m.wall <= m.peer }},
	{"restart: nothing to publish", "5 s", restart(regional), within(5*time.Second, gib)},
	{"warm: preview of a line", "300 ms", warm("preview"), within(300*time.Millisecond, 0)},
	{"growth: 100 publishes to 100 clusters", "1.5x git's bytes", growth, func(m measured) bool { return float64(m.bytes[0]) <= 1.5*float64(m.bytes[1]) }},
	{"cold: 5,000 x 2,000", "60 s, 3 GiB", cold(large), within(60*time.Second, 3*gib)},
	{"cold: 5,000 x 4,000", "5 s", cold(divided), within(5*time.Second, 0)},
	{"cold: 10,000 x 10,000", "30 s, 4 GiB", cold(largest), within(30*time.Second, 4*gib)},
	{"scale: 10 x 1,000", "-", cold(scaled(10, 1000)), within(time.Minute, 0)},
	{"scale: 100 x 1,000", "-", cold(scaled(100, 1000)), within(time.Minute, 0)},
	{"scale: 1,000 x 100", "-", cold(scaled(1000, 100)), within(time.Minute, 0)},
	{"scale: 1,000 x 10,000", "-", cold(scaled(1000, 10000)), within(time.Minute, 0)},
	{"scale: 5,000 x 1,000", "-", cold(scaled(5000, 1000)), within(time.Minute, 0)},
}

func scaled(clusters, templates int) bench.Shape {
	return bench.Shape{Clusters: clusters, Templates: templates, Regions: 10, Overridden: 20}
}
