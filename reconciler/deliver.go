package reconciler

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/policies/deschedule"
	"github.com/waybill-dev/waybill/policies/interpret"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/ancestry"
	"github.com/waybill-dev/waybill/reconciler/apply"
	"github.com/waybill-dev/waybill/reconciler/health"
	"github.com/waybill-dev/waybill/reconciler/publish"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/reconciler/suspend"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/render/seal/unseal"
	"github.com/waybill-dev/waybill/render/tree"
	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git"
	"github.com/waybill-dev/waybill/sources/words"
)

// Deliverable is what there is to apply: the registered clusters and the heads of their
// branches, at one moment.
type Deliverable struct {
	// Clusters are those that the state branch registers, in the order of their names.
	Clusters []*karmada.Cluster
	Guard    render.Guard
	Apply    render.Apply
	// Judge knows who is healthy, by the customizations that were published.
	Judge *health.Judge

	windows  suspend.Windows
	waiting  *deschedule.Watch // of which workloads observers count the replicas that wait
	terms    [sha256.Size]byte // digest of the config and the customizations
	formerly []string          // what the source was known by
	revision sources.Revision
	at       render.Addresses
	heads    map[string]files.ID
	// state is the head of the state branch that was gone by, where it is to be remembered: by an agent, which goes by
	// none that does not come after it. Zero where nothing is signed, and whoever may push may say anything.
	state files.ID
}

// Delivery is a commit of a cluster's branch that may be applied.
type Delivery struct {
	Cluster string
	Address render.Address
	Owner   string // what the source is known by there, see sourceID and Deliverable.owner
	Commit  files.ID
	Head    files.ID // of the branch, which is newer than Commit where clusters share it
	Source  string   // the source commit
	Objects []apply.Object
	// Replaces is the commit that the branch may replace, and NameBefore what the cluster was registered as before;
	// empty for none.
	Replaces, NameBefore string
}

// Deliverable reads which clusters are registered and where their branches are. The config is
// that of the source at rev; for a reconciler without a source, as that of an agent, what the
// state branch says of it counts.
func (r *Reconciler) Deliverable(ctx context.Context, rev string) (d Deliverable, err error) {
	var terms state.Terms
	if r.Source != nil {
		if terms, err = r.termsAt(ctx, rev, &d); err != nil {
			return d, err
		}
	}
	if d.heads, err = r.Target.Heads(ctx); err != nil {
		return d, fmt.Errorf("reading what is published: %w", err)
	}
	head, err := r.stateHead(ctx, d.heads, d.revision, state.Branch)
	if err != nil {
		return d, err
	}
	if r.Source == nil {
		if err := r.goOn(ctx, head.Commit, r.memory().taken); err != nil {
			return d, err
		}
		if r.memory().taken = head.Commit; !r.Signers.IsZero() {
			d.state = head.Commit
		}
		d.revision = sources.Revision{Repo: publish.Trailer(head.Message, publish.TrailerRepository), Path: publish.Trailer(head.Message, publish.TrailerPath)}
		if terms, err = state.ReadTerms(head.Tree); err != nil {
			return d, err //nolint:wrapcheck // it names the file
		}
	}
	if err := d.take(&terms); err != nil {
		return d, err
	}
	if d.at, err = publishedAt(head.Tree, terms.Addresses()); err != nil {
		return d, err
	}
	r.memory() // rounds share it
	if d.Clusters, err = state.Clusters(head.Tree); err != nil {
		return d, err //nolint:wrapcheck // it names the file
	}
	if d.waiting, err = state.Descheduler(head.Tree); err != nil {
		return d, err //nolint:wrapcheck // it names the file
	}
	custom, err := state.Interpreters(head.Tree)
	if err != nil {
		return d, err //nolint:wrapcheck // it names the file
	}
	d.Judge = &health.Judge{Kinds: interpret.New(custom...), Prefer: health.Prefer(terms.Health.Prefer)}
	scripts, err := state.HealthScripts(head.Tree)
	if err != nil {
		return d, err //nolint:wrapcheck // it names the file
	}
	if scripts != nil {
		d.Judge.Own = scripts.Rules()
	}
	digest, err := json.Marshal([]any{terms, custom, scripts})
	d.terms = sha256.Sum256(digest)
	return d, err //nolint:wrapcheck // they were read from as much
}

// termsAt reads the terms that the source has at rev, and notes which commit that is.
func (r *Reconciler) termsAt(ctx context.Context, rev string, d *Deliverable) (state.Terms, error) {
	snapshot, err := r.Source.Snapshot(ctx, rev, r.Subdir)
	if err != nil {
		return state.Terms{}, fmt.Errorf("reading the source: %w", err)
	}
	d.revision = snapshot.Revision()
	config, err := configOf(snapshot)
	return state.TermsOf(&config), err
}

// take goes by terms.
func (d *Deliverable) take(t *state.Terms) (err error) {
	d.Guard, d.Apply = t.Guard, t.Apply
	for _, former := range t.Formerly {
		repository, folder, _ := strings.Cut(former, " ")
		d.formerly = append(d.formerly, sourceID(repository, folder))
	}
	if d.windows, err = suspend.Parse(t.Apply.SyncWindows); err != nil {
		return fmt.Errorf("%s: %w", render.ConfigFile, err)
	}
	return nil
}

// stateHead fetches branches, that of the state among them, and reads the state's head. It
// refuses one that was published from another source.
func (r *Reconciler) stateHead(ctx context.Context, heads map[string]files.ID, here sources.Revision, branches ...string) (git.Head, error) {
	if _, ok := heads[state.Branch]; !ok {
		return git.Head{}, fmt.Errorf("nothing is published in %s: there is no branch %s; waybill publish comes first", r.Target.Name(), state.Branch)
	}
	if err := r.Target.Fetch(ctx, branches...); err != nil {
		return git.Head{}, err //nolint:wrapcheck // it names the branches
	}
	head, _, err := r.Target.Branch(ctx, state.Branch)
	if err != nil {
		return git.Head{}, err //nolint:wrapcheck // it names the branch
	}
	if err := r.isSigned(state.Branch, head); err != nil {
		return git.Head{}, err
	}
	return head, r.sameSource(ctx, here, state.Branch, head)
}

// goOn refuses a head of the state branch that does not come after one that was gone by, signed or not: what was
// said since, as that a cluster is suspended, would not count any more.
func (r *Reconciler) goOn(ctx context.Context, head, last files.ID) error {
	if last.IsZero() || last == head || r.Rollback {
		return nil // by Rollback a person wants to go there
	}
	unknown := func(err error) error {
		return fmt.Errorf("whether %.12s of %s comes after %.12s is not known: %w", head.String(), state.Branch, last.String(), err)
	}
	t, err := traced(ctx, r.Target, head, last, func(h git.Head) bool {
		return ancestry.Replaces(h.Message, state.Branch, last) && r.isSigned(state.Branch, h) == nil
	})
	if err != nil {
		return unknown(err)
	}
	step := ancestry.Step{Signed: !r.Signers.IsZero(), Follows: t.follows || !t.said.IsZero()}
	if !step.Follows {
		if step.Follows, err = r.Target.IsAncestor(ctx, last, head); err == nil {
			step.Back, err = r.Target.IsAncestor(ctx, head, last)
		}
		if err != nil && !errors.Is(err, git.ErrMissing) {
			return unknown(err)
		}
	}
	if step.Allowed() {
		return nil
	}
	return &ancestry.RefusedError{State: true, Applied: last, Text: fmt.Sprintf("the head of %s, %.12s, does not come after %s, which counted already: somebody set the branch back, or this is a copy that lags behind; what was applied stays; publish again, with --restored if the repository was restored from a backup, or start the agent with --rollback once", state.Branch, head.String(), last)}
}

// isSigned refuses the head of a branch that nobody signed who may, where that is asked for.
func (r *Reconciler) isSigned(branch string, head git.Head) error {
	if r.Signers.IsZero() {
		return nil
	}
	if _, err := r.Signers.Verify(head.Signed, head.Signature, head.When); err != nil {
		return fmt.Errorf("the head of %s, %.12s, does not count: %w; what was applied stays; publish with --signing-key, or add who signed it to --allowed-signers", branch, head.Commit.String(), err)
	}
	return nil
}

// Address is where a cluster is published.
func (d *Deliverable) Address(cluster string) render.Address { return d.at.Of(cluster) }

// gist is all of a Deliverable that a round at one cluster goes by.
type gist struct {
	head    files.ID
	cluster string
	terms   [sha256.Size]byte
	source  string
}

// gist returns what a round at a cluster would go by.
func (r *Reconciler) gist(ctx context.Context, in *Deliverable, c *karmada.Cluster) (gist, error) {
	head, err := r.headOf(ctx, in.heads, in.Address(c.Name))
	if err != nil {
		return gist{}, err
	}
	cluster, err := json.Marshal(c)
	return gist{
		head: head, cluster: string(cluster), terms: in.terms, source: sourceID(in.revision.Repo, in.revision.Path),
	}, err //nolint:wrapcheck // it was read from as much
}

// configOf reads the config of a source. One with a mistake is an error.
func configOf(s sources.Snapshot) (render.ConfigSpec, error) {
	config, diags, err := render.ConfigOf(s)
	if err != nil {
		return config, err //nolint:wrapcheck // it names the file
	}
	if len(diags) > 0 {
		return config, &ConfigError{Diagnostic: diags[0]}
	}
	return config, nil
}

// ErrUnpublished is that nothing was published for a cluster: it is new, or is to hold nothing.
var ErrUnpublished = errors.New("nothing is published for it")

// Delivery reads the head of a cluster's branch. It refuses one that Waybill did not write, or
// that somebody edited, or that was published from another source or for another cluster.
func (r *Reconciler) Delivery(ctx context.Context, in *Deliverable, cluster string) (Delivery, error) {
	b, err := r.delivered(ctx, in, cluster)
	if err != nil {
		return Delivery{}, err
	}
	d := Delivery{
		Cluster: cluster, Address: in.Address(cluster), Commit: b.head.Commit, Head: in.heads[in.Address(cluster).Branch], Source: publish.Trailer(b.head.Message, publish.TrailerCommit),
		Owner: in.owner(cluster, sourceID(publish.Trailer(b.head.Message, publish.TrailerRepository), publish.Trailer(b.head.Message, publish.TrailerPath))),
	}
	if i := slices.IndexFunc(in.Clusters, func(c *karmada.Cluster) bool { return c.Name == cluster }); i >= 0 {
		d.Replaces, d.NameBefore = in.Clusters[i].Annotations[ReplacesAnnotation], in.Clusters[i].Annotations[FormerlyAnnotation]
	}
	d.Objects, err = r.objectsOf(ctx, b.published)
	return d, err
}

// delivered reads what is published for a cluster, whose newest commit may be applied.
func (r *Reconciler) delivered(ctx context.Context, in *Deliverable, cluster string) (branch, error) {
	a := in.Address(cluster)
	none := fmt.Errorf("%w: there is no %s in %s", ErrUnpublished, a.Words(), r.Target.Name())
	if _, ok := in.heads[a.Branch]; !ok {
		return branch{}, none
	}
	if err := r.Target.Fetch(ctx, a.Branch); err != nil {
		return branch{}, err //nolint:wrapcheck // it names the branch
	}
	b, ok, err := r.readAddress(ctx, in, a)
	if err != nil {
		return branch{}, err
	}
	if !ok {
		return branch{}, none
	}
	return b, r.genuine(ctx, in, cluster, b)
}

// readAddress reads the branch of a cluster, or its folder at the commit that changed it last; false
// where there is none.
func (r *Reconciler) readAddress(ctx context.Context, in *Deliverable, a render.Address) (b branch, ok bool, err error) {
	if a.Folder == "" {
		return r.readBranch(ctx, a.Branch)
	}
	id, err := r.headOf(ctx, in.heads, a)
	if err != nil || id.IsZero() {
		return branch{}, false, err
	}
	if b.head, ok, err = r.CommitAt(ctx, a, id); err != nil || !ok {
		return branch{}, false, err
	}
	if b.published, err = tree.Read(b.head.Tree); err != nil {
		return branch{}, false, fmt.Errorf("%s: %w", a.Words(), err)
	}
	if b.published.Edited {
		b.published.Edit = r.edit(ctx, a, b.head)
	}
	return b, true, nil
}

// follows reports whether what is published now for a cluster comes after what is being
// applied, and may be applied. A head that may not be is told of by the next round.
func (r *Reconciler) follows(ctx context.Context, in *Deliverable, d Delivery) bool {
	if head, err := r.headOf(ctx, in.heads, d.Address); err != nil || head == d.Commit {
		return false
	}
	b, err := r.delivered(ctx, in, d.Cluster)
	if err != nil || b.head.Commit == d.Commit {
		return false
	}
	after, err := r.Target.IsAncestor(ctx, d.Commit, b.head.Commit)
	return err == nil && after
}

// genuine refuses a head that is not as Waybill published it for a cluster.
func (r *Reconciler) genuine(ctx context.Context, in *Deliverable, cluster string, b branch) error {
	a := in.Address(cluster)
	name := a.String()
	at := fmt.Sprintf("the head of %s, %.12s,", name, b.head.Commit.String())
	if a.Folder != "" {
		at = fmt.Sprintf("%s, as of %.12s,", a.Words(), b.head.Commit.String())
	}
	message := b.head.Message
	switch named := sources.Trailers(message, publish.TrailerCluster); {
	case b.published.Edited:
		return fmt.Errorf("%s is not as Waybill published it: somebody edited its files%s; what was applied stays; waybill verify %s says which, and git revert takes the edit back", at, b.published.Edit, name)
	case b.published.Built == nil || publish.Trailer(message, publish.TrailerCommit) == "":
		return fmt.Errorf("%s was not written by Waybill; what was applied stays", at)
	case len(named) > 0 && !slices.Contains(named, cluster):
		return fmt.Errorf("%s was published for the cluster %s; what was applied stays", at, words.List(named))
	}
	if err := r.isSigned(name, b.head); err != nil {
		return err
	}
	return r.sameSource(ctx, in.revision, name, b.head)
}

// objectsOf reads the manifests of a published tree.
func (r *Reconciler) objectsOf(ctx context.Context, p tree.Published) ([]apply.Object, error) {
	paths, err := p.Paths()
	if err != nil {
		return nil, err //nolint:wrapcheck // it names the file
	}
	slices.Sort(paths)
	objects := make([]apply.Object, 0, len(paths))
	keys := r.keys(ctx)
	for _, path := range paths {
		e, ok := p.Built.Lookup(path)
		if !ok || e.Blob == nil {
			return nil, fmt.Errorf("%s is listed, and is not there", path)
		}
		data, err := e.Blob.Bytes()
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", path, err)
		}
		o, err := manifestOf(path, data, keys)
		if err != nil {
			return nil, err
		}
		o.Content = e.Blob.ID()
		objects = append(objects, o)
	}
	return objects, nil
}

// keys returns what asks for identities once, and only if they are needed.
func (r *Reconciler) keys(ctx context.Context) func() (unseal.Identities, error) {
	var keys unseal.Identities
	var err error
	asked := r.Identities == nil
	return func() (unseal.Identities, error) {
		if !asked {
			keys, err = r.Identities(ctx)
			asked = true
		}
		return keys, err
	}
}

// manifestOf reads a manifest of a branch. One that SOPS encrypted is decrypted, or else is
// unfit: ciphertext is never applied.
func manifestOf(path string, data []byte, keys func() (unseal.Identities, error)) (apply.Object, error) {
	content, err := object.DecodeCanonical(data)
	_, sealed := content["sops"] // Waybill writes it canonically, too
	if err != nil || sealed {    // or it was passed on as it was written
		single, diags := object.Single(path, data)
		if single == nil {
			return apply.Object{}, fmt.Errorf("reading %s: %s", path, diags[0])
		}
		content = single.Content()
		_, sealed = single.Sealed()
	}
	o := objectOf(content)
	if !sealed {
		return o, nil
	}
	o.Private = true
	identities, err := keys()
	if err != nil {
		return o, fmt.Errorf("%s is encrypted by SOPS: %w", path, err)
	}
	content, err = identities.Document(data)
	switch plain := objectOf(content); {
	case errors.Is(err, unseal.ErrNoIdentity):
		o.Unfit = fmt.Sprintf("it is encrypted by SOPS: %v; --age-identity-file names a file with identities, --sops-secret a Secret; ciphertext is never applied", err)
	case err != nil:
		o.Unfit = fmt.Sprintf("it is encrypted by SOPS, and cannot be decrypted: %v; ciphertext is never applied", err)
	case plain.Ref != o.Ref || plain.APIVersion != o.APIVersion:
		o.Unfit = "it is encrypted by SOPS, and its apiVersion, kind, name or namespace is encrypted as well; encrypt data and stringData only (encrypted_regex)"
	default:
		o.Manifest = content
	}
	return o, nil
}

// objectOf is the object of a manifest.
func objectOf(content map[string]any) (o apply.Object) {
	meta, _ := content["metadata"].(map[string]any)
	o.APIVersion, _ = content["apiVersion"].(string)
	o.Ref.Group, _ = object.GroupVersion(o.APIVersion)
	o.Ref.Kind, _ = content["kind"].(string)
	o.Ref.Namespace, _ = meta["namespace"].(string)
	o.Ref.Name, _ = meta["name"].(string)
	o.Manifest, o.Private = content, strings.HasSuffix(o.Ref.Kind, "Secret")
	return o
}
