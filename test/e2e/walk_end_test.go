//go:build e2e

package e2e

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/test/audit"
)

// heal ends all that is unusual, and holds that each cluster then has what its branch says, and its
// inventory, too; that what others made is there; and that the status says that all is well.
func (w *walk) heal() {
	w.t.Helper()
	maps.Copy(w.returning, w.drained)
	for _, marks := range []map[string]bool{w.cordoned, w.drained, w.suspended} {
		clear(marks)
	}
	w.store("the walk is over")
	w.settle("the end")
	for _, cluster := range w.clusters {
		eventually(w.t, "nothing leaves "+cluster, func() (bool, string) { return !w.isLeft(cluster), "" })
	}
	w.store("and all is back")
	w.settle("the end")
	eventually(w.t, "the status says that all is well", func() (bool, string) {
		code, out := w.run("status", "-C", w.source, "--to", w.bare, "--status-repository", w.statuses)
		return code == 0, out
	})
	for _, cluster := range w.clusters {
		eventually(w.t, "the inventory of "+cluster+" is as its branch", func() (bool, string) {
			has, wants := w.inventory(cluster), slices.Sorted(maps.Keys(w.manifests(cluster)))
			return slices.Equal(has, wants), fmt.Sprintf("it has\n%v\nand the branch\n%v", has, wants)
		})
	}
	for where, uid := range w.foreign {
		cluster, path, _ := strings.Cut(where, " ")
		if status, body := w.apis[cluster].do(http.MethodGet, path, "", nil); status != http.StatusOK || uidIn(w.t, body) != uid {
			w.t.Errorf("%s, which others made, is gone: %d", where, status)
		}
	}
	for _, name := range []string{"controller", "agent"} {
		end(w.t, w.running[name])
	}
}

// inventory is what Waybill notes to have applied to a cluster, read as docs/apply.md has it.
func (w *walk) inventory(cluster string) (names []string) {
	w.t.Helper()
	_, body := w.apis[cluster].do(http.MethodGet, "/api/v1/namespaces/waybill-system/secrets", "", nil)
	var l struct {
		Items []struct{ Data map[string][]byte }
	}
	if err := json.Unmarshal(body, &l); err != nil {
		w.t.Fatal(err)
	}
	for _, secret := range l.Items {
		entries := secret.Data["entries"]
		if entries == nil {
			continue
		}
		unzipped, err := gzip.NewReader(bytes.NewReader(entries))
		if err != nil {
			w.t.Fatal(err)
		}
		for lines := bufio.NewScanner(unzipped); lines.Scan(); {
			var entry []string
			if err := json.Unmarshal(lines.Bytes(), &entry); err != nil || len(entry) < 4 {
				w.t.Fatalf("%s: %v", lines.Text(), err)
			}
			path := resources[entry[1]]
			names = append(names, audit.Ref{Group: entry[0], Resource: path[strings.LastIndexByte(path, '/')+1:], Namespace: entry[2], Name: entry[3]}.String())
		}
	}
	slices.Sort(names)
	return names
}

// verdict has the oracle judge what was done, and tells what came of the walk.
func (w *walk) verdict(took time.Duration) {
	w.t.Helper()
	v, err := w.fleet.Judge()
	if err != nil {
		w.t.Fatal(err)
	}
	for _, wrong := range v.Wrong {
		w.t.Errorf("%s", wrong)
	}
	if v.Deletions == 0 && *stepsFlag > 10 {
		w.t.Error("nothing was deleted, so that nothing was judged")
	}
	slices.Sort(w.healings)
	longest, middle := w.healings[len(w.healings)-1], w.healings[len(w.healings)/2]
	var b strings.Builder
	fmt.Fprintf(&b, "%d steps in %d minutes, with %d kills of the controller or the agent. After them %d commits were on the branches of three clusters, and Waybill had made %d writes and "+
		"%d deletions there: %d moved what a cluster had lost, and %d were of a protected kind and allowed. Of %d more requests no API server lived to give the answer. "+
		"Not justified: %d. Half of the times all was as it should be within %.1f s, and always within %.1f s.\n",
		w.number+1, int(took.Minutes()), w.killsMade, v.Commits, v.Writes, v.Deletions, v.Moved, v.Allowed, v.Unanswered, len(v.Wrong), middle.Seconds(), longest.Seconds())
	for _, table := range []struct {
		of     string
		counts map[string]int
	}{{"step", w.stepsDone}, {"kill", w.killed}} {
		fmt.Fprintf(&b, "\n| %s | times |\n|---|---|\n", table.of)
		for _, name := range slices.Sorted(maps.Keys(table.counts)) {
			fmt.Fprintf(&b, "| %s | %d |\n", name, table.counts[name])
		}
	}
	w.t.Log(b.String())
	record.Lock()
	defer record.Unlock()
	record.walk = b.String()
}

func uidIn(t *testing.T, body []byte) string {
	t.Helper()
	var o object
	if err := json.Unmarshal(body, &o); err != nil {
		t.Fatal(err)
	}
	return o.Metadata.UID
}
