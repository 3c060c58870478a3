package preview

import (
	"strings"

	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/words"
)

// Exchange is what changes in how clusters exchange a Service: which export it to others, and which import it.
type Exchange struct {
	Service  object.Ref `json:"service"`
	Exported Clusters   `json:"exported,omitzero"`
	Imported Clusters   `json:"imported,omitzero"`
}

// Clusters are those that begin to do something, those that end it, and those that do it otherwise, in the order of names.
type Clusters struct {
	Added   []string `json:"added,omitempty"`
	Removed []string `json:"removed,omitempty"`
	Changed []string `json:"changed,omitempty"`
}

// IsZero reports that there are none.
func (c Clusters) IsZero() bool { return len(c.Added)+len(c.Removed)+len(c.Changed) == 0 }

// String is the exchange in a line.
func (e *Exchange) String() string {
	var said []string
	say := func(what string, clusters []string) {
		if len(clusters) > 0 {
			said = append(said, what+" "+words.First(clusters, mostSaid))
		}
	}
	say("exported by", e.Exported.Added)
	say("no longer exported by", e.Exported.Removed)
	say("imported by", e.Imported.Added)
	say("no longer imported by", e.Imported.Removed)
	say("imported otherwise by", e.Imported.Changed)
	return e.Service.String() + ": " + strings.Join(said, "; ")
}

// mostSaid is how many clusters a line names.
const mostSaid = 6

// Exchanges are the lines of Services.
func (c *Comparison) Exchanges() (lines []string) {
	for i := range c.Services {
		lines = append(lines, c.Services[i].String())
	}
	return lines
}

// Steps are the lines of Rollouts.
func (c *Comparison) Steps() (lines []string) {
	for i := range c.Rollouts {
		lines = append(lines, c.Rollouts[i].String())
	}
	return lines
}

// exchanges says that clusters exchange services otherwise.
func (v *Verdict) exchanges(all []Exchange) {
	v.and()
	v.say("%s exchanged between clusters otherwise", words.Count(len(all), "service"))
}
