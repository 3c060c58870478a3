// Package replicas divides the work of a controller that runs several times: one plans and
// publishes, and each applies to some of the clusters. Leases of one namespace say who lives.
//
// Two replicas at one cluster, or two that publish, do no harm, because inventories and branches
// are written by compare-and-set. But each would do the other's work again; so the division
// avoids it. Each replica writes into its Lease by which replicas it divides, its view. It
// serves a cluster only if its own view, which it has published, gives the cluster to it, and
// no view of another one that lives gives the cluster to that one. It publishes a view only
// when it has left the clusters that the view takes from it. So whoever gains a cluster waits
// until whoever had it is away, or its Lease has run out.
package replicas

import (
	"crypto/sha256"
	"encoding/binary"
)

// Owner returns which of the members serves a cluster; "" where there is none. It is the one
// with the highest digest of both names (rendezvous hashing): when one comes or goes, only
// clusters that it gets or had move.
func Owner(cluster string, members []string) string {
	owner, most := "", uint64(0)
	for _, m := range members {
		sum := sha256.Sum256([]byte(m + "\x00" + cluster))
		if weight := binary.BigEndian.Uint64(sum[:]); owner == "" || weight > most || weight == most && m < owner {
			owner, most = m, weight
		}
	}
	return owner
}
