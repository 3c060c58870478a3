package walk

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/render/cache"
	"github.com/waybill-dev/waybill/test/twin"
)

// TestLayoutThereAndBack publishes to branches, to folders of one and to branches again, twice: one process that does all of it makes
// the same commits as processes that remember nothing.
func TestLayoutThereAndBack(t *testing.T) {
	t.Parallel()
	one := &walker{repo: twin.New("walk"), cache: cache.Memory(), now: began}
	each := &walker{repo: twin.New("walk"), cache: cache.Memory(), now: began}
	one.r = one.over(one.repo)
	object := &doc{kind: "ConfigMap", name: "o1", version: 1}
	source := world{units: []*unit{
		{kind: "file", path: "u1.yaml", docs: []*doc{{kind: "Cluster", name: "c1"}, {kind: "Cluster", name: "c2"}, {kind: "Cluster", name: "c3"}}},
		{kind: "file", path: "u2.yaml", docs: []*doc{{kind: "Policy", name: "p1", selects: []string{"o1"}, clusters: []string{"c1", "c2"}}}},
		{kind: "release", name: "u3", path: "u3.yaml", docs: []*doc{object}},
	}}
	for n := range 8 {
		source.folders = n%4 == 1 || n%4 == 2
		if n%2 == 0 {
			object.version++
		}
		for _, w := range []*walker{one, each} {
			tree := twin.Tree{}
			for path, text := range source.files() {
				tree[path] = twin.File([]byte(text))
			}
			w.repo.Write("main", fmt.Sprint("step ", n), tree.Folder())
			w.now = w.now.Add(time.Minute)
			if w == each {
				w.r = w.over(w.repo)
			}
			if _, err := w.r.Publish(t.Context(), "main"); err != nil {
				t.Fatal(err)
			}
		}
		is, err := one.repo.Heads(t.Context())
		want, err2 := each.repo.Heads(t.Context())
		if err != nil || err2 != nil {
			t.Fatal(err, err2)
		}
		if d := cmp.Diff(want, is); d != "" {
			t.Fatalf("after %d publications heads are others: %s", n+1, d)
		}
	}
}
