package page

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/waybill-dev/waybill/reconciler/preview"
	"github.com/waybill-dev/waybill/sources/words"
)

// listed knows a list of names again, where many changes have the same.
type listed struct {
	first *string
	n     int
}

// cluster is the number of a cluster, which is added if it is new.
func (e *encoder) cluster(name string) int {
	n, ok := e.clusters[name]
	if !ok {
		n = len(e.Clusters)
		e.clusters[name] = n
		e.Clusters = append(e.Clusters, cluster{Name: words.Printable(name), Region: number(e.regions, &e.Regions, "")})
	}
	return n
}

// others adds the clusters in which nothing changes, and something is left as it is.
func (e *encoder) others(c *preview.Comparison) {
	for i := range c.Changes {
		for _, l := range c.Changes[i].Left {
			for _, name := range l.Clusters {
				e.cluster(name)
			}
		}
	}
}

// set is the number of a set of clusters.
func (e *encoder) set(names []string) int {
	key := listed{&names[0], len(names)}
	if n, ok := e.seen[key]; ok {
		return n
	}
	members := make([]int, len(names))
	for i, name := range names {
		members[i] = e.cluster(name)
	}
	slices.Sort(members)
	n := number(e.sets, &e.Sets, encodeSet(slices.Compact(members)))
	e.seen[key] = n
	return n
}

// encodeSet writes a set of numbers as ranges, "0-99,105", or where that is longer, as bits in base64:
// "*" and bytes, of which the lowest bit of the first is the number 0.
func encodeSet(members []int) string {
	var ranges []string
	for i := 0; i < len(members); {
		last := i
		for last+1 < len(members) && members[last+1] == members[last]+1 {
			last++
		}
		if last == i {
			ranges = append(ranges, strconv.Itoa(members[i]))
		} else {
			ranges = append(ranges, fmt.Sprintf("%d-%d", members[i], members[last]))
		}
		i = last + 1
	}
	text := strings.Join(ranges, ",")
	if bytes := members[len(members)-1]/8 + 1; base64.StdEncoding.EncodedLen(bytes) < len(text) {
		bits := make([]byte, bytes)
		for _, m := range members {
			bits[m/8] |= 1 << (m % 8)
		}
		return "*" + base64.StdEncoding.EncodeToString(bits)
	}
	return text
}
