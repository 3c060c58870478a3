package state

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/groups"
	"github.com/waybill-dev/waybill/reconciler/reason"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/files"
)

var stagedWeb = object.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"}

// goesOut is content of a unit shop/web that goes out to clusters: each word is one, "c1:pending:kept", with what the record
// says of it and how the object is left there; "-" is nothing. One after "!" is not sent the object.
func goesOut(text string) Content {
	c := Content{Left: map[object.Ref]groups.By[Left]{}}
	b := binding(stagedWeb, "apps/v1")
	b.Annotations[policyNamespaceAnnotation], b.Annotations[policyNameAnnotation], b.Spec.Clusters = "shop", "web", nil
	r := rollouts.Rollout{Unit: rollouts.Unit{Namespace: "shop", Name: "web"}, Clusters: map[string]rollouts.Cluster{}}
	r.Status = rollouts.Status{Phase: rollouts.Updating, Target: rollouts.Version{Commit: "c0ffee", Digest: "d"}, Run: "1"}
	var left groups.Builder[Left]
	for i, word := range strings.Fields(text) {
		word, notSent := strings.CutPrefix(word, "!")
		is := strings.Split(word, ":")
		cluster := karmada.Cluster{ObjectMeta: metav1.ObjectMeta{Name: is[0]}}
		c.Clusters = append(c.Clusters, policies.Cluster{Spec: cluster})
		if !notSent {
			b.Spec.Clusters = append(b.Spec.Clusters, karmada.TargetCluster{Name: is[0]})
		}
		switch is[1] {
		case "pending":
			r.Clusters[is[0]] = rollouts.Cluster{Stage: "s", State: rollouts.Pending}
		case "unchanged":
			r.Clusters[is[0]] = rollouts.Cluster{Stage: "s", State: rollouts.Unchanged, Shows: "c0ffee"}
		case "released":
			at := metav1.NewTime(time.Unix(1, 0))
			r.Clusters[is[0]] = rollouts.Cluster{Stage: "s", State: rollouts.Released, Shows: "c0ffee", Released: at}
		}
		switch is[2] {
		case "kept", "missed":
			left.Add(i, Left{Kept: is[2] == "kept", Reason: reason.WaitsForStage})
		case "held":
			left.Add(i, Left{Kept: true, Reason: reason.Held})
		}
	}
	if by := left.By(); len(by) > 0 {
		c.Left[stagedWeb] = by
	}
	c.Bindings = []*karmada.ResourceBinding{b}
	if len(r.Clusters) > 0 {
		c.Rollouts = []rollouts.Rollout{r}
	}
	return c
}

// said lists what a binding says of clusters.
func said(b *karmada.ResourceBinding) string {
	var all []string
	for _, item := range b.Status.AggregatedStatus {
		is := "held"
		if item.Reason == string(reason.WaitsForStage) {
			is = map[bool]string{true: "kept", false: "missed"}[item.Applied]
		}
		all = append(all, item.ClusterName+":"+is)
	}
	return strings.Join(all, " ")
}

// TestWhatTheRecordTellsIsNotListed encodes bindings of a unit that goes out, and reads them again.
func TestWhatTheRecordTellsIsNotListed(t *testing.T) {
	for _, tt := range []struct {
		name, content, form string
		written             string // the annotation, and what is listed in the file
	}{
		{"it waits in all clusters", "c1:pending:kept c2:pending:kept", stagedFormat, "kept "},
		{"it comes to all of them", "c1:pending:missed c2:pending:missed", stagedFormat, "missed "},
		{"one has its turn", "c1:released:- c2:pending:kept c3:pending:kept", stagedFormat, "kept "},
		{"one does not change", "c1:unchanged:- c2:pending:kept", stagedFormat, "kept "},
		{"one is held, of those that wait", "c1:pending:held c2:pending:kept", stagedFormat, "kept c1:held"},
		{"one is held, of those that do not", "c1:released:held c2:pending:kept", stagedFormat, "kept c1:held"},
		{"one loses it last", "c1:pending:kept !c2:pending:kept", stagedFormat, "kept c2:kept"},
		{"it is in some only", "c1:pending:kept c2:pending:missed c3:pending:kept", stagedFormat, "kept c2:missed"},
		{"it changes in some only", "c1:pending:- c2:pending:kept", format, " c2:kept"},
		{"it changes in some only, of which the first does", "c1:pending:kept c2:pending:- c3:pending:kept", format, " c1:kept c3:kept"},
		{"it waits in none", "c1:pending:held c2:pending:-", format, " c1:held"},
		{"one that was released waits", "c1:released:kept c2:pending:kept", stagedFormat, "kept c1:kept"},
		{"the record does not know one that waits", "c1:-:kept c2:pending:kept", stagedFormat, "kept c1:kept"},
		{"nothing is recorded", "c1:-:kept c2:-:kept", format, " c1:kept c2:kept"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			content := goesOut(tt.content)
			folder, err := Encode(content, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			e, _ := folder.Lookup("bindings/shop/web-deployment.yaml")
			data, _ := e.Blob.Bytes()
			raw, _, err := read{}.decode(data)
			if err != nil {
				t.Fatal(err)
			}
			if got := raw.Annotations[stagedAnnotation] + " " + said(raw); got != tt.written {
				t.Errorf("the file says %q, want %q", got, tt.written)
			}
			e, _ = folder.Lookup(formatFile)
			if is, _ := e.Blob.Bytes(); strings.TrimSpace(string(is)) != tt.form {
				t.Errorf("it is written in form %s, want %s", is, tt.form)
			}
			want, _ := content.recorded(nil)
			s, err := Decode(folder, nil)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(want[0], s.Bindings[stagedWeb]); d != "" {
				t.Error(d)
			}
			e, _ = folder.Lookup("bindings/shop/web-deployment.yaml")
			b, followsRun, err := NewBindingReader(folder).Read(e.Blob)
			if d := cmp.Diff(want[0], b); d != "" || err != nil || followsRun != (tt.form == stagedFormat) {
				t.Errorf("read alone: follows a run: %t, %v%s", followsRun, err, d)
			}
		})
	}
}

// TestAStepWritesNoBinding: clusters have their turn, of which the record tells alone.
func TestAStepWritesNoBinding(t *testing.T) {
	one, err := Encode(goesOut("c1:released:- c2:pending:kept c3:pending:kept"), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Decode(one, nil)
	if err != nil {
		t.Fatal(err)
	}
	two, err := Encode(goesOut("c1:released:- c2:released:- c3:pending:kept"), &s, nil)
	if err != nil {
		t.Fatal(err)
	}
	var changed []string
	for d := range files.Diff(one, two) {
		changed = append(changed, d.Path)
	}
	if fmt.Sprint(changed) != "[rollouts/shop/web/s.yaml]" {
		t.Errorf("a step writes %v", changed)
	}
	next, err := Decode(two, &s)
	if err != nil {
		t.Fatal(err)
	}
	if got := said(next.Bindings[stagedWeb]); got != "c3:kept" {
		t.Errorf("after it the object waits in %q", got)
	}
	again, err := Decode(two, &next)
	if err != nil || again.Bindings[stagedWeb] != next.Bindings[stagedWeb] {
		t.Error("what is the same is read anew", err)
	}
}

// TestARecordThatIsLostReleasesNothing: of a binding that goes by a record which cannot be read the object waits in every cluster.
func TestARecordThatIsLostReleasesNothing(t *testing.T) {
	folder, err := Encode(goesOut("c1:released:- c2:pending:kept"), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	top := slices.DeleteFunc(slices.Clone(folder.Entries()), func(e files.Entry) bool { return e.Name == rolloutsDir })
	s, err := Decode(files.NewFolder(top), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := said(s.Bindings[stagedWeb]); got != "c1:kept c2:kept" {
		t.Errorf("the object waits in %q", got)
	}
}

// FuzzStaged holds what is encoded, beside a record and after another state, against what is decoded.
func FuzzStaged(f *testing.F) {
	f.Add([]byte{0, 1, 2, 3}, []byte{3, 2, 1, 0})
	f.Add([]byte{12, 24, 12, 36, 12}, []byte{12, 12, 12, 12, 12})
	f.Fuzz(func(t *testing.T, first, second []byte) {
		text := func(bytes []byte) string {
			var words []string
			for i, b := range bytes[:min(len(bytes), 8)] {
				recorded := []string{"-", "pending", "unchanged", "released"}[b%4]
				word := fmt.Sprintf("c%d:%s:%s", i, recorded, []string{"-", "kept", "missed", "held"}[b/4%4])
				if b/16%4 == 3 {
					word = "!" + word
				}
				words = append(words, word)
			}
			return strings.Join(words, " ")
		}
		var earlier *State
		for _, bytes := range [][]byte{first, second, second} {
			content := goesOut(text(bytes))
			want, _ := content.recorded(earlier)
			folder, err := Encode(content, earlier, nil)
			if err != nil {
				t.Fatal(err)
			}
			alone, err := Encode(content, nil, nil)
			if err != nil || alone.ID() != folder.ID() {
				t.Fatalf("%s: after an earlier state it is written otherwise: %v", text(bytes), err)
			}
			for _, was := range []*State{nil, earlier} {
				s, err := Decode(folder, was)
				if err != nil {
					t.Fatal(err)
				}
				if got := said(s.Bindings[stagedWeb]); got != said(want[0]) {
					t.Fatalf("%s: it says %q, want %q", text(bytes), got, said(want[0]))
				}
				earlier = &s
			}
		}
	})
}
