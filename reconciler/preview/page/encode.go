package page

import (
	"fmt"
	"strings"

	"github.com/waybill-dev/waybill/reconciler/preview"
	"github.com/waybill-dev/waybill/reconciler/preview/fields"
	"github.com/waybill-dev/waybill/reconciler/reason"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/words"
)

// data is a comparison as the script reads it. What repeats stands once, and is known by its number:
// sets of clusters, kinds, namespaces, and the fields in which manifests differ.
type data struct {
	Letters    map[string]string `json:"letters"`
	Clusters   []cluster         `json:"clusters"`
	Regions    []string          `json:"regions"`
	Sets       []string          `json:"sets"` // see encodeSet
	Kinds      []string          `json:"kinds"`
	Namespaces []string          `json:"namespaces"`
	Diffs      []diff            `json:"diffs"`
	Changes    []change          `json:"changes"`
}

type cluster struct {
	Name     string `json:"name"`
	Region   int    `json:"region"`
	Added    int    `json:"added,omitempty"`
	Changed  int    `json:"changed,omitempty"`
	Removed  int    `json:"removed,omitempty"`
	Left     int    `json:"left,omitempty"`
	Objects  [2]int `json:"objects"`
	Replicas [2]int `json:"replicas"`
	Note     string `json:"note,omitempty"`
	Listed   bool   `json:"listed,omitempty"` // it is in the table of clusters
}

type change struct {
	ID       string       `json:"id"`
	Verb     preview.Verb `json:"verb"`
	Does     string       `json:"does"`
	Objects  []ref        `json:"objects"`
	Causes   [][2]string  `json:"causes,omitempty"` // what, and where that stands
	Parts    []part       `json:"parts"`
	Replicas *[2]int      `json:"replicas,omitempty"`
}

type ref struct {
	Kind      int    `json:"k"`
	Namespace int    `json:"n"`
	Name      string `json:"m"`
}

// part is what a change is in a set of clusters. It is as a verb, where moving is to arrive and to
// leave.
type part struct {
	Is     string    `json:"is"`
	Set    int       `json:"set"`
	Scale  *[2]int32 `json:"scale,omitempty"` // replicas before and after
	Diff   *int      `json:"diff,omitempty"`  // nil of a part that changes: there is no room for it
	Reason string    `json:"reason,omitempty"`
	Kept   bool      `json:"kept,omitempty"`
}

type diff struct {
	Fields  []field `json:"fields"`
	Routine int     `json:"routine,omitempty"` // how many fields follow, and are not among them
}

type field struct {
	Path  string    `json:"path"`
	Op    fields.Op `json:"op"`
	From  *string   `json:"from,omitempty"`
	To    *string   `json:"to,omitempty"`
	Lines string    `json:"lines,omitempty"`
	// Hidden is said in place of values of Secrets.
	Hidden bool `json:"hidden,omitempty"`
}

// The most of field texts that a page has, in bytes, and of different ones in one change.
const (
	maxTexts = 1 << 20
	maxDiffs = 200
)

// encoder numbers what repeats.
type encoder struct {
	data

	clusters, regions, sets, kinds, namespaces, diffs, ids map[string]int
	seen                                                   map[listed]int
	room                                                   int
}

func encode(c *preview.Comparison) data {
	e := encoder{
		clusters: map[string]int{}, regions: map[string]int{}, sets: map[string]int{}, kinds: map[string]int{}, namespaces: map[string]int{},
		diffs: map[string]int{}, ids: map[string]int{}, seen: map[listed]int{}, room: maxTexts,
	}
	e.data = data{Letters: letters, Clusters: []cluster{}, Diffs: []diff{}, Changes: make([]change, 0, len(c.Changes))}
	for _, cl := range c.Clusters {
		n := e.cluster(cl.Name)
		e.Clusters[n] = cluster{
			Name: words.Printable(cl.Name), Region: number(e.regions, &e.Regions, words.Printable(cl.Region)), Added: cl.Added, Changed: cl.Changed, Removed: cl.Removed, Left: cl.Left,
			Objects: span(cl.Objects), Replicas: span(cl.Replicas), Note: note(cl), Listed: true,
		}
	}
	e.others(c)
	for i := range c.Changes {
		e.Changes = append(e.Changes, e.change(&c.Changes[i]))
	}
	return e.data
}

// number is the number of a text in a list, to which it is added if it is new.
func number(known map[string]int, all *[]string, text string) int {
	n, ok := known[text]
	if !ok {
		n = len(*all)
		known[text] = n
		*all = append(*all, text)
	}
	return n
}

func span(s preview.Span) [2]int { return [2]int{s.Before, s.After} }

// note is what else there is to say of a cluster.
func note(c preview.Cluster) string {
	switch {
	case c.Held != "":
		return "held: " + words.Printable(c.Held)
	case c.New:
		return "new"
	case c.Gone:
		return "no longer registered; its branch stays"
	}
	return ""
}

func (e *encoder) change(c *preview.Change) change {
	out := change{ID: e.id(c.Objects[0]), Verb: c.Verb, Does: c.Does()}
	for _, r := range c.Objects {
		kind := r.Kind
		if r.Group != "" {
			kind += "." + r.Group
		}
		out.Objects = append(out.Objects, ref{
			number(e.kinds, &e.Kinds, words.Printable(kind)), number(e.namespaces, &e.Namespaces, words.Printable(r.Namespace)), words.Printable(r.Name),
		})
	}
	for _, cause := range c.Causes {
		where := ""
		if cause.Pos.File != "" {
			where = words.Printable(cause.Pos.String())
		}
		out.Causes = append(out.Causes, [2]string{words.Printable(cause.Message), where})
	}
	if c.Replicas != nil {
		s := span(*c.Replicas)
		out.Replicas = &s
	}
	out.Parts = e.parts(c)
	return out
}

func (e *encoder) parts(c *preview.Change) []part {
	all := []part{}
	in := func(is string, clusters []string) {
		if len(clusters) > 0 {
			all = append(all, part{Is: is, Set: e.set(clusters)})
		}
	}
	come, leave := string(preview.Appears), string(preview.Disappears)
	if c.Verb == preview.Moves {
		come, leave = "arrives", "leaves"
	}
	in(come, c.Added)
	in(leave, c.Removed)
	in(string(preview.Stays), c.Detached)
	for _, s := range c.Scaled {
		all = append(all, part{Is: string(preview.Scales), Set: e.set(s.Clusters), Scale: &[2]int32{s.From, s.To}})
	}
	all = append(all, e.contents(c.Changed)...)
	for _, l := range c.Left {
		is := string(preview.Frozen)
		if l.Code == reason.Held {
			is = string(preview.Held)
		}
		all = append(all, part{Is: is, Set: e.set(l.Clusters), Reason: words.Printable(l.Reason), Kept: l.Kept})
	}
	return all
}

// id is the anchor of a change: the name of its first object, in letters that a link may have.
func (e *encoder) id(r object.Ref) string {
	plain := func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-' || c == '.' {
			return c
		}
		return '-'
	}
	const most = 120
	name := strings.Map(plain, strings.ToLower(strings.ReplaceAll(r.String(), "/", "-")))
	id := "change-" + name[:min(most, len(name))]
	e.ids[id]++
	if n := e.ids[id]; n > 1 {
		return fmt.Sprintf("%s_%d", id, n)
	}
	return id
}
