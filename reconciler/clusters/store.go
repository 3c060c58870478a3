package clusters

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/waybill-dev/waybill/reconciler/apply"
	"github.com/waybill-dev/waybill/reconciler/inventory"
)

// Namespace holds the inventories.
const Namespace = inventory.Namespace

const (
	inventoryLabel = "waybill.dev/inventory"
	headKey        = "head"
	entriesKey     = "entries"

	mostShards = 1 << 12
)

var (
	// Inventories are Secrets: a digest of a file tells those who read it whether they guessed
	// what is in the file, and who may see ConfigMaps may not see every Secret.
	secrets    = schema.GroupVersionResource{Version: "v1", Resource: "secrets"}
	namespaces = schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}
)

// idOf is what the Secrets of a source's inventory are called by.
func idOf(owner string) string {
	sum := sha256.Sum256([]byte(owner))
	return hex.EncodeToString(sum[:5])
}

func headName(owner string) string { return "waybill-" + idOf(owner) }

func shardName(owner string, n, at int) string {
	return fmt.Sprintf("%s-%d-%d", headName(owner), n, at)
}

// Inventory implements apply.Cluster. It asks who the cluster is first.
func (c *Client) Inventory(ctx context.Context, owner string) (apply.Stored, error) {
	uid, err := c.identity(ctx)
	if err != nil {
		return apply.Stored{}, err
	}
	l, err := c.shards(ctx, owner)
	if err != nil {
		return apply.Stored{}, err
	}
	byName := map[string]*unstructured.Unstructured{}
	stored := apply.Stored{Versions: map[string]string{}}
	for i := range l.Items {
		byName[l.Items[i].GetName()] = &l.Items[i]
		stored.Versions[l.Items[i].GetName()] = l.Items[i].GetResourceVersion()
	}
	if stored.Inventory, err = decode(owner, byName); err != nil {
		return apply.Stored{}, err
	}
	switch had := stored.Inventory.UID; {
	case had == "":
		stored.Inventory.UID = uid
	case had != uid:
		return apply.Stored{}, fmt.Errorf("this is not %s: the Namespace kube-system there had the UID %s, and here it has %s; nothing was written; have its kubeconfig looked at, and if the cluster was made anew from a backup, delete the Secret %s/%s", c.name, had, uid, Namespace, headName(owner))
	}
	return stored, nil
}

// identity returns the UID of kube-system, if it is the one that is expected.
func (c *Client) identity(ctx context.Context) (string, error) {
	var uid string
	err := retried(ctx, func(ctx context.Context) error {
		ns, err := c.metadata.Resource(namespaces).Get(ctx, metav1.NamespaceSystem, metav1.GetOptions{})
		if err == nil {
			uid = string(ns.UID)
		}
		return err
	})
	if err != nil {
		return "", fmt.Errorf("asking which cluster this is: %w", err)
	}
	if c.expected != "" && c.expected != uid {
		return "", fmt.Errorf("this is not %s: its Cluster has the id %s, and this one has %s; nothing was written; have its kubeconfig looked at", c.name, c.expected, uid)
	}
	return uid, nil
}

// decode reads an inventory from its Secrets.
func decode(owner string, byName map[string]*unstructured.Unstructured) (inventory.Inventory, error) {
	head, ok := byName[headName(owner)]
	if !ok {
		return inventory.Inventory{}, nil
	}
	broken := func(name string, err error) error {
		return fmt.Errorf("the Secret %s/%s cannot be read: %w; delete it, and what is on the branch and ours is known again after one round", Namespace, name, err)
	}
	var x inventory.Encoded
	text, err := data(head, headKey)
	if err == nil {
		err = json.Unmarshal(text, &x.Head)
	}
	if err != nil {
		return inventory.Inventory{}, broken(head.GetName(), err)
	}
	if x.Head.Shards < 1 || x.Head.Shards > mostShards {
		return inventory.Inventory{}, broken(head.GetName(), fmt.Errorf("it says that there are %d shards", x.Head.Shards))
	}
	if x.Head.Owner != owner {
		return inventory.Inventory{}, broken(head.GetName(), fmt.Errorf("it is that of %s", x.Head.Owner))
	}
	x.Shards = make([][]byte, x.Head.Shards)
	for at := range x.Shards {
		name := shardName(owner, x.Head.Shards, at)
		shard, ok := byName[name]
		if !ok {
			continue
		}
		if x.Shards[at], err = data(shard, entriesKey); err != nil {
			return inventory.Inventory{}, broken(name, err)
		}
	}
	i, err := inventory.Decode(x)
	if err != nil {
		return i, broken(head.GetName(), err)
	}
	return i, nil
}

// data returns what a Secret holds by a key.
func data(u *unstructured.Unstructured, key string) ([]byte, error) {
	text, _, _ := unstructured.NestedString(u.Object, "data", key)
	data, err := base64.StdEncoding.DecodeString(text)
	if err == nil && len(data) == 0 {
		err = fmt.Errorf("it has no %s", key)
	}
	return data, err
}

// Discard implements apply.Cluster.
func (c *Client) Discard(ctx context.Context, owner string) error {
	l, err := c.shards(ctx, owner)
	if err != nil {
		return err
	}
	for i := range l.Items {
		err := retried(ctx, func(ctx context.Context) error {
			return c.objects.Resource(secrets).Namespace(Namespace).Delete(ctx, l.Items[i].GetName(), metav1.DeleteOptions{})
		})
		if err != nil && !apierrors.IsNotFound(err) {
			return err
		}
	}
	return nil
}

// shards lists the Secrets of an inventory: those with its label, and those that its head names, whose labels
// somebody may have taken away.
func (c *Client) shards(ctx context.Context, owner string) (l *unstructured.UnstructuredList, err error) {
	err = retried(ctx, func(ctx context.Context) (err error) {
		l, err = c.objects.Resource(secrets).Namespace(Namespace).List(ctx, metav1.ListOptions{LabelSelector: inventoryLabel + "=" + idOf(owner)})
		return err
	})
	if err != nil {
		return nil, err
	}
	head, err := c.named(ctx, l, headName(owner))
	if head == nil || err != nil {
		return l, err
	}
	var says inventory.Head
	if text, err := data(head, headKey); err != nil || json.Unmarshal(text, &says) != nil {
		return l, nil // whoever decodes it says so
	}
	for at := range min(says.Shards, mostShards) {
		if _, err := c.named(ctx, l, shardName(owner, says.Shards, at)); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// named returns the Secret of a name from a list, to which it is added if it is not in it; nil if there is none.
func (c *Client) named(ctx context.Context, l *unstructured.UnstructuredList, name string) (*unstructured.Unstructured, error) {
	if i := slices.IndexFunc(l.Items, func(u unstructured.Unstructured) bool { return u.GetName() == name }); i >= 0 {
		return &l.Items[i], nil
	}
	var u *unstructured.Unstructured
	err := retried(ctx, func(ctx context.Context) (err error) {
		u, err = c.objects.Resource(secrets).Namespace(Namespace).Get(ctx, name, metav1.GetOptions{})
		return err
	})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err == nil {
		l.Items = append(l.Items, *u)
	}
	return u, err
}

// Store implements apply.Cluster: shards that changed, then the head, so that what the head
// names is there. Shards of another number are taken away at the end.
func (c *Client) Store(ctx context.Context, before apply.Stored, now inventory.Inventory) (apply.Stored, error) {
	old, err := inventory.Encode(before.Inventory)
	if err != nil {
		return before, err
	}
	next, err := inventory.Encode(now)
	if err != nil {
		return before, err
	}
	w := &storer{Client: c, owner: now.Owner, stored: apply.Stored{Inventory: now, Versions: maps.Clone(before.Versions)}}
	same := old.Head.Shards == next.Head.Shards
	anew := false // a shard was not there: the head that is there may name others than what is left makes up
	for at, data := range next.Shards {
		name := shardName(now.Owner, next.Head.Shards, at)
		_, there := before.Versions[name]
		if there && same && bytes.Equal(old.Shards[at], data) {
			continue
		}
		anew = anew || !there
		if err := w.put(ctx, name, entriesKey, data); err != nil {
			return before, err
		}
	}
	if _, there := before.Versions[headName(now.Owner)]; !there || anew || old.Head != next.Head {
		text, err := json.Marshal(next.Head)
		if err != nil {
			return before, fmt.Errorf("encoding the head of the inventory: %w", err)
		}
		if err := w.put(ctx, headName(now.Owner), headKey, text); err != nil {
			return before, err
		}
	}
	w.sweep(ctx, next.Head.Shards)
	return w.stored, nil
}

type storer struct {
	*Client

	owner  string
	stored apply.Stored
}

// put creates or replaces a Secret, if it is still the one that was read.
func (w *storer) put(ctx context.Context, name, key string, data []byte) error {
	u := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Secret", "type": "waybill.dev/inventory", "data": map[string]any{key: base64.StdEncoding.EncodeToString(data)},
	}}
	u.SetNamespace(Namespace)
	u.SetName(name)
	u.SetLabels(map[string]string{inventoryLabel: idOf(w.owner)})
	u.SetAnnotations(map[string]string{apply.OwnerAnnotation: w.owner})
	version, there := w.stored.Versions[name]
	u.SetResourceVersion(version)
	at := w.objects.Resource(secrets).Namespace(Namespace)
	var live *unstructured.Unstructured
	write := func(ctx context.Context) (err error) {
		if there {
			live, err = at.Update(ctx, u, metav1.UpdateOptions{FieldManager: apply.Manager})
		} else {
			live, err = at.Create(ctx, u, metav1.CreateOptions{FieldManager: apply.Manager})
		}
		return err
	}
	err := retried(ctx, write)
	if apierrors.IsNotFound(err) && !there {
		if err = w.ensureNamespace(ctx); err == nil {
			err = retried(ctx, write)
		}
	}
	switch {
	case apierrors.IsConflict(err), apierrors.IsAlreadyExists(err), apierrors.IsNotFound(err):
		return fmt.Errorf("%w: the Secret %s/%s is not as it was read", apply.ErrRace, Namespace, name)
	case err != nil:
		return err
	}
	w.stored.Versions[name] = live.GetResourceVersion()
	return nil
}

func (w *storer) ensureNamespace(ctx context.Context) error {
	u := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace"}}
	u.SetName(Namespace)
	err := retried(ctx, func(ctx context.Context) error {
		_, err := w.objects.Resource(namespaces).Create(ctx, u, metav1.CreateOptions{FieldManager: apply.Manager})
		return err
	})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

// sweep deletes shards that the head does not name. One that stays does no harm.
func (w *storer) sweep(ctx context.Context, n int) {
	named := []string{headName(w.owner)}
	for at := range n {
		named = append(named, shardName(w.owner, n, at))
	}
	for name := range maps.Clone(w.stored.Versions) {
		if slices.Contains(named, name) {
			continue
		}
		err := w.objects.Resource(secrets).Namespace(Namespace).Delete(ctx, name, metav1.DeleteOptions{})
		if err == nil || apierrors.IsNotFound(err) {
			delete(w.stored.Versions, name)
		}
	}
}
