package facts

import (
	"encoding/base64"
	"maps"
	"strings"

	"github.com/waybill-dev/waybill/policies/virtual"
	"github.com/waybill-dev/waybill/reconciler/preview/fields"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/reconciler/status/reports"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/render/tree"
	"github.com/waybill-dev/waybill/sources/files"
)

// leastSecret is how long a value of a Secret is that is looked for in other manifests: shorter ones
// are in every text.
const leastSecret = 4

// redactor keeps values of Secrets from being shown. Those of Secrets that are on branches it knows. What
// a release took from a Secret of the source it does not: of what releases render it shows images and
// numbers of replicas, and no other value.
type redactor struct {
	rendered map[object.Ref]bool
	states   map[files.ID]bool // folders of releases that were read
	learned  map[files.ID]bool // folders
	secrets  []string
	known    map[string]bool
}

// newRedactor is one for what went from a state to another; the first may be nil.
func newRedactor(states ...*files.Folder) *redactor {
	c := &redactor{rendered: map[object.Ref]bool{}, states: map[files.ID]bool{}, learned: map[files.ID]bool{}, known: map[string]bool{}}
	for _, root := range states {
		c.rendering(root)
	}
	return c
}

// rendering takes note of what releases rendered to in a state, which may be nil.
func (c *redactor) rendering(root *files.Folder) {
	if root == nil {
		return
	}
	e, ok := root.Lookup(state.ReleasesFolder)
	if !ok || c.states[e.ID] {
		return
	}
	c.states[e.ID] = true
	maps.Insert(c.rendered, maps.All(state.Rendered(root)))
}

// learn takes note of the Secrets of a tree, which may be nil.
func (c *redactor) learn(root *files.Folder) {
	if root == nil {
		return
	}
	e, ok := root.Lookup(tree.ManifestDir)
	if !ok || e.Dir == nil {
		return
	}
	for _, namespace := range e.Dir.Entries() {
		if namespace.Dir == nil {
			continue
		}
		secrets, ok := namespace.Dir.Lookup("secret")
		if !ok || secrets.Dir == nil || c.learned[secrets.ID] {
			continue
		}
		c.learned[secrets.ID] = true
		for path, f := range secrets.Dir.All() {
			if content := contentOf(path, f.Blob); content != nil {
				c.values(content)
			}
		}
	}
}

// values takes note of the values of a Secret.
func (c *redactor) values(content map[string]any) {
	note := func(value string) {
		if len(value) >= leastSecret && !c.known[value] {
			c.known[value] = true
			c.secrets = append(c.secrets, value)
		}
	}
	data, _ := content["data"].(map[string]any)
	for _, v := range data {
		text, _ := v.(string)
		note(text)
		if plain, err := base64.StdEncoding.DecodeString(text); err == nil {
			note(string(plain))
			note(strings.TrimSpace(string(plain)))
		}
	}
	plain, _ := content["stringData"].(map[string]any)
	for _, v := range plain {
		text, _ := v.(string)
		note(text)
	}
}

// of says which object of a cluster a change is about, by the name that templates have.
func (c *redactor) of(ch *Changed, m *reports.Cluster) {
	if ch.Ref.Kind == "" {
		content := contentOf(ch.Path, ch.now)
		if content == nil {
			content = contentOf(ch.Path, ch.old)
		}
		ch.Ref = refOf(content)
	}
	ch.Hidden = ch.Hidden || c.rendered[virtual.Of(m.Registered).Template(ch.Ref)]
}

// look fills in the fields that change.
func (c *redactor) look(ch *Changed) {
	old, now := contentOf(ch.Path, ch.old), contentOf(ch.Path, ch.now)
	if old == nil || now == nil { // it was added or removed, or cannot be read
		return
	}
	ch.Fields = fields.Diff(old, now, c.secrets)
	if !ch.Hidden {
		return
	}
	for i := range ch.Fields {
		if f := &ch.Fields[i]; !strings.HasSuffix(f.Path, ".image") && !strings.HasSuffix(f.Path, ".replicas") {
			f.From, f.To, f.Lines, f.Hidden = nil, nil, "", true
		}
	}
}

// contentOf decodes a manifest of a branch; nil if it cannot be.
func contentOf(path string, b *files.Blob) map[string]any {
	if b == nil {
		return nil
	}
	data, err := b.Bytes()
	if err != nil {
		return nil
	}
	if content, err := object.DecodeCanonical(data); err == nil {
		return content
	}
	if o, _ := object.Single(path, data); o != nil {
		return o.Content()
	}
	return nil
}

// refOf names a manifest.
func refOf(content map[string]any) object.Ref {
	apiVersion, _ := content["apiVersion"].(string)
	kind, _ := content["kind"].(string)
	meta, _ := content["metadata"].(map[string]any)
	name, _ := meta["name"].(string)
	namespace, _ := meta["namespace"].(string)
	group, _ := object.GroupVersion(apiVersion)
	return object.Ref{Group: group, Kind: kind, Namespace: namespace, Name: name}
}
