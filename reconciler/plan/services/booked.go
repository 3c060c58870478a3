package services

import (
	"slices"
	"strings"

	rules "github.com/waybill-dev/waybill/policies/services"
	"github.com/waybill-dev/waybill/reconciler/plan/layout"
	"github.com/waybill-dev/waybill/render/exchange"
	"github.com/waybill-dev/waybill/render/tree"
)

// Booked says which services clusters export by their books, for those who read these. Clusters that export the same are named together.
func (l *Laid) Booked() []rules.Booked {
	if l == nil {
		return nil
	}
	return l.booked
}

// booked is what the files of trees say of that. Of a cluster whose branch stays that is the file that is published; one that cannot be
// read says nothing.
func (l *layer) booked(in *layout.Input, trees []layout.Tree) (all []rules.Booked) {
	if l.exchange.endpoints != exchange.Apply {
		return nil
	}
	at := map[string]int{}
	for i, name := range l.exchange.clusters {
		if in.Virtual.At(i) != nil {
			continue
		}
		names := l.bookedBy(i)
		if _, stays := in.Stays[i]; stays || trees[i].Err != nil {
			names = bookedBefore(in, i)
		}
		slices.Sort(names)
		names = slices.Compact(names)
		if len(names) == 0 {
			continue
		}
		key := strings.Join(names, " ")
		if _, known := at[key]; !known {
			at[key] = len(all)
			all = append(all, rules.Booked{Services: names})
		}
		all[at[key]].Clusters = append(all[at[key]].Clusters, name)
	}
	return all
}

func (l *layer) bookedBy(cluster int) (names []string) {
	for _, e := range l.of[cluster] {
		if name := l.lines[e].Booked(); name != "" {
			names = append(names, name)
		}
	}
	return names
}

func bookedBefore(in *layout.Input, cluster int) (names []string) {
	built := in.Flux[cluster].Before.Built
	if built == nil {
		return nil
	}
	e, ok := built.Lookup(tree.ServicesFile)
	if !ok || e.Blob == nil {
		return nil
	}
	data, err := e.Blob.Bytes()
	if err != nil {
		return nil
	}
	f, err := rules.Decode(data)
	if err != nil {
		return nil
	}
	for i := range f.Exports {
		line := f.Exports[i].Line()
		names = append(names, line.Booked())
	}
	return slices.DeleteFunc(names, func(name string) bool { return name == "" })
}
