package git

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/sideband"
	"github.com/go-git/go-git/v5/plumbing/transport"
	githttp "github.com/go-git/go-git/v5/plumbing/transport/http"
	gitssh "github.com/go-git/go-git/v5/plumbing/transport/ssh"

	"github.com/waybill-dev/waybill/sources/files"
)

const headsPrefix = "refs/heads/"

// newRemote prepares the connection to a remote, without using it. Credentials are
// taken off the endpoint and go to its host only.
func newRemote(o Options) (*remote, error) {
	ep, err := transport.NewEndpoint(o.Location)
	if err != nil {
		return nil, errors.New("it is no URL of a repository; want https://host/path, ssh://user@host/path or user@host:path")
	}
	user, password := ep.User, ep.Password
	if o.Auth.Username != "" {
		user = o.Auth.Username
	}
	if o.Auth.Password != "" {
		password = strings.TrimSpace(o.Auth.Password)
	}
	rem := &remote{endpoint: ep}
	switch ep.Protocol {
	case "http", "https":
		ep.User, ep.Password = "", ""
		rem.transport = githttp.NewClientWithOptions(&http.Client{CheckRedirect: sameHost}, nil)
		if password != "" {
			if user == "" {
				user = "git" // servers that take tokens do not look at the name
			}
			rem.auth = &githttp.BasicAuth{Username: user, Password: password}
		}
		return rem, nil
	case "ssh":
		rem.transport = gitssh.DefaultClient
		rem.auth, err = sshAuth(user, o.Auth)
		return rem, err
	}
	return nil, fmt.Errorf("the protocol %q is not supported; want https, ssh, or a path", ep.Protocol)
}

// sameHost refuses redirects that leave the host, or its encryption.
func sameHost(req *http.Request, via []*http.Request) error {
	first := via[0].URL
	if req.URL.Host != first.Host || req.URL.Scheme != first.Scheme {
		return fmt.Errorf("the server redirects to another host, %s, which is not followed; use that location itself", req.URL.Host)
	}
	if len(via) > 5 {
		return errors.New("the server redirects over 5 times")
	}
	return nil
}

// sshAuth signs with a key file, or with the agent. The host's key must be known.
func sshAuth(user string, a Auth) (transport.AuthMethod, error) {
	known := a.KnownHosts
	if known == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return nil, fmt.Errorf("looking for known_hosts: %w", err)
		}
		known = filepath.Join(home, ".ssh", "known_hosts")
	}
	check, err := gitssh.NewKnownHostsCallback(known)
	if err != nil {
		return nil, fmt.Errorf("reading known hosts from %s: %w; make it with ssh-keyscan, and check the keys", known, err)
	}
	if user == "" {
		user = "git"
	}
	if a.SSHKey == "" {
		agent, err := gitssh.NewSSHAgentAuth(user)
		if err != nil {
			return nil, fmt.Errorf("no SSH key was given and no agent answers: %w; use --ssh-key", err)
		}
		agent.HostKeyCallback = check
		return agent, nil
	}
	key, err := gitssh.NewPublicKeysFromFile(user, a.SSHKey, a.SSHPassphrase)
	if err != nil {
		return nil, fmt.Errorf("reading the SSH key %s: %w", a.SSHKey, err)
	}
	key.HostKeyCallback = check
	return key, nil
}

// explain says of a transport's error what to do next. Transports put no
// credentials into errors: they are not in the endpoint.
func (r *Repo) explain(doing string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, transport.ErrAuthenticationRequired), errors.Is(err, transport.ErrAuthorizationFailed):
		return fmt.Errorf("%s %s: the server refuses the credentials: %w; give --username and --password-file, or --ssh-key", doing, r.name, err)
	case errors.Is(err, transport.ErrRepositoryNotFound):
		return fmt.Errorf("%s %s: %w; check the URL, and that the credentials may see it", doing, r.name, err)
	}
	return fmt.Errorf("%s %s: %w", doing, r.name, err)
}

// advertised asks the server for its references.
func (r *Repo) advertised(ctx context.Context) (*packp.AdvRefs, transport.UploadPackSession, error) {
	s, err := r.remote.transport.NewUploadPackSession(r.remote.endpoint, r.remote.auth)
	if err != nil {
		return nil, nil, r.explain("connecting to", err)
	}
	refs, err := s.AdvertisedReferencesContext(ctx)
	if errors.Is(err, transport.ErrEmptyRemoteRepository) {
		return packp.NewAdvRefs(), s, nil
	}
	if err != nil {
		s.Close()
		return nil, nil, r.explain("reading the branches of", err)
	}
	return refs, s, nil
}

func (r *Repo) remoteHeads(ctx context.Context) (map[string]files.ID, error) {
	refs, s, err := r.advertised(ctx)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	heads := map[string]files.ID{}
	for name, h := range refs.References {
		if branch, ok := strings.CutPrefix(name, headsPrefix); ok {
			heads[branch] = files.ID(h)
		}
	}
	return heads, nil
}

// Fetch brings branches of a remote, whole. A branch that the remote does not have
// is none here either. Of a repository on this machine there is nothing to fetch.
func (r *Repo) Fetch(ctx context.Context, branches ...string) error {
	if r.remote == nil || len(branches) == 0 {
		return nil
	}
	return r.fetch(ctx, func(name string) bool {
		branch, ok := strings.CutPrefix(name, headsPrefix)
		return ok && slices.Contains(branches, branch)
	})
}

// fetchRevision brings what a revision may name: its branch or tag, else, for a
// commit id that is not here, all of them.
func (r *Repo) fetchRevision(ctx context.Context, rev string) error {
	base := rev
	if i := strings.IndexAny(rev, "~^"); i >= 0 {
		base = rev[:i]
	}
	if id, err := files.ParseID(base); err == nil && r.store.HasEncodedObject(hashOf(id)) == nil {
		return nil
	}
	found := false
	err := r.fetch(ctx, func(name string) bool {
		is := name == base || name == "HEAD" && base == "HEAD" || name == headsPrefix+base || name == "refs/tags/"+base
		found = found || is
		return is
	})
	if err != nil || found {
		return err
	}
	return r.fetch(ctx, func(name string) bool { return strings.HasPrefix(name, headsPrefix) })
}

// fetch brings the references that are wanted and what they need.
func (r *Repo) fetch(ctx context.Context, wanted func(ref string) bool) error {
	unlock, err := r.exclusive(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	refs, s, err := r.advertised(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	get := map[plumbing.ReferenceName]plumbing.Hash{}
	for name, h := range refs.References {
		if wanted(name) {
			get[plumbing.ReferenceName(name)] = h
		}
	}
	if refs.Head != nil && wanted("HEAD") {
		get[plumbing.HEAD] = *refs.Head
	}
	if err := r.download(ctx, s, refs, get); err != nil {
		return err
	}
	for name, h := range get {
		if err := r.store.SetReference(plumbing.NewHashReference(name, h)); err != nil {
			return diskError(r.name, err)
		}
	}
	return r.forget(refs, wanted)
}

// download gets the objects of references that are not here yet.
func (r *Repo) download(ctx context.Context, s transport.UploadPackSession, refs *packp.AdvRefs, get map[plumbing.ReferenceName]plumbing.Hash) error {
	req := packp.NewUploadPackRequestFromCapabilities(refs.Capabilities)
	for _, h := range get {
		if r.store.HasEncodedObject(h) != nil && !slices.Contains(req.Wants, h) {
			req.Wants = append(req.Wants, h)
		}
	}
	if len(req.Wants) == 0 {
		return nil
	}
	have, err := r.store.IterReferences()
	if err != nil {
		return fmt.Errorf("reading the cache of %s: %w", r.name, err)
	}
	err = have.ForEach(func(ref *plumbing.Reference) error {
		if ref.Type() == plumbing.HashReference && !slices.Contains(req.Haves, ref.Hash()) {
			req.Haves = append(req.Haves, ref.Hash())
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("reading the cache of %s: %w", r.name, err)
	}
	resp, err := s.UploadPack(ctx, req)
	if err != nil {
		return r.explain("fetching from", err)
	}
	defer resp.Close()
	if err := packfile.UpdateObjectStorage(r.store, demux(req.Capabilities, resp)); err != nil {
		return diskError(r.name, fmt.Errorf("fetching: %w", err))
	}
	r.store.Reindex()
	return nil
}

// demux takes the pack out of the channels that the server sends it in.
func demux(caps *capability.List, from io.Reader) io.Reader {
	switch {
	case caps.Supports(capability.Sideband64k):
		return sideband.NewDemuxer(sideband.Sideband64k, from)
	case caps.Supports(capability.Sideband):
		return sideband.NewDemuxer(sideband.Sideband, from)
	}
	return from
}

// forget drops the branches that the remote no longer has.
func (r *Repo) forget(refs *packp.AdvRefs, wanted func(ref string) bool) error {
	here, err := r.store.IterReferences()
	if err != nil {
		return fmt.Errorf("reading the cache of %s: %w", r.name, err)
	}
	return here.ForEach(func(ref *plumbing.Reference) error {
		name := ref.Name().String()
		if _, there := refs.References[name]; there || !strings.HasPrefix(name, headsPrefix) || !wanted(name) {
			return nil
		}
		return r.store.RemoveReference(ref.Name())
	})
}

// push sends the pack and all branches in one request, and then believes only what
// the branches say.
func (r *Repo) push(ctx context.Context, updates []Update, heads []files.ID, pack string) error {
	sent := r.send(ctx, updates, heads, pack)
	if sent != nil && ctx.Err() != nil {
		return r.explain("pushing to", sent)
	}
	now, err := r.remoteHeads(ctx)
	if err != nil {
		return errors.Join(r.explain("pushing to", sent), err)
	}
	landed := 0
	var race *RaceError
	for i, u := range updates {
		switch got := now[u.Branch]; {
		case got == heads[i]:
			landed++
		case got != u.Old && race == nil:
			race = &RaceError{Branch: u.Branch, Want: u.Old, Got: got}
		}
	}
	switch {
	case landed == len(updates):
		return r.follow(updates, heads)
	case race != nil:
		return race
	case sent == nil:
		sent = errors.New("the server took the push, but the branches did not move")
	}
	return fmt.Errorf("%w (%d of %d branches moved)", r.explain("pushing to", sent), landed, len(updates))
}

// follow moves the cache's branches to where the remote's are.
func (r *Repo) follow(updates []Update, heads []files.ID) error {
	for i, u := range updates {
		ref := plumbing.NewHashReference(plumbing.NewBranchReferenceName(u.Branch), hashOf(heads[i]))
		if err := r.store.SetReference(ref); err != nil {
			return diskError(r.name, err)
		}
	}
	return nil
}

// send is the push itself.
func (r *Repo) send(ctx context.Context, updates []Update, heads []files.ID, pack string) error {
	s, err := r.remote.transport.NewReceivePackSession(r.remote.endpoint, r.remote.auth)
	if err != nil {
		return err //nolint:wrapcheck // the caller explains
	}
	defer s.Close()
	refs, err := s.AdvertisedReferencesContext(ctx)
	if err != nil {
		return err //nolint:wrapcheck // the caller explains
	}
	req := packp.NewReferenceUpdateRequestFromCapabilities(refs.Capabilities)
	if refs.Capabilities.Supports(capability.Atomic) {
		if err := req.Capabilities.Set(capability.Atomic); err != nil {
			return err //nolint:wrapcheck // the caller explains
		}
	}
	for i, u := range updates {
		req.Commands = append(req.Commands, &packp.Command{Name: plumbing.NewBranchReferenceName(u.Branch), Old: hashOf(u.Old), New: hashOf(heads[i])})
	}
	f, err := os.Open(pack)
	if err != nil {
		return err //nolint:wrapcheck // the caller explains
	}
	defer f.Close()
	req.Packfile = f
	status, err := s.ReceivePack(ctx, req)
	if err != nil {
		return err //nolint:wrapcheck // the caller explains
	}
	if status != nil {
		return status.Error() //nolint:wrapcheck // the caller explains
	}
	return nil
}
