// Package deploy holds the chart of the agent, from which `waybill cluster join --agent` prints
// what runs it. The chart of the controller is beside it.
package deploy

import (
	"embed"
	"io/fs"
)

//go:embed all:agent
var charts embed.FS

// Agent is the chart of the agent.
func Agent() fs.FS {
	chart, err := fs.Sub(charts, "agent")
	if err != nil {
		panic("deploy: " + err.Error()) // the folder is embedded above
	}
	return chart
}
