package updates

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/waybill-dev/waybill/policies/images"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/marker"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/registry"
)

// MemoryBranch is the branch that remembers. It is no part of the state, which follows from plans.
const MemoryBranch = render.UpdatesBranch

// Memory is what has to be known the next time.
type Memory struct {
	// Source is whose versions these are: the branch that is followed, with the folder in it; empty: nobody said yet.
	Source       string
	Repositories map[string]Repository
	Policies     map[images.Name]Record
	// Opened is when pull requests were opened in the last hour, and Looked when they could be last, by the schedule.
	Opened []time.Time
	Looked time.Time
	// Closing are the pull requests that are to be closed.
	Closing []Closing
}

// Closing is a pull request that is to be closed, because what it proposes is not to be taken any more.
type Closing struct {
	// Of is the subscription, and Key the version that was proposed; both are empty for a branch that was found, and of which nothing
	// is remembered.
	Of     string `json:"of,omitempty"`
	Key    string `json:"key,omitempty"`
	Branch string `json:"branch"`
	// Tree, Parent and Over are those of the Proposal: whose commit is on the branch.
	Tree   string `json:"tree,omitempty"`
	Parent string `json:"parent,omitempty"`
	Over   string `json:"over,omitempty"`
	// PullRequest is zero for one that is known by its branch.
	PullRequest int    `json:"pullRequest,omitempty"`
	URL         string `json:"url,omitempty"`
}

// Repository is what is known of a repository of images, or of a chart.
type Repository struct {
	Name  string         `json:"name"`
	Known registry.Known `json:"known"`
	// Seen is when each tag was seen first, and tag@digest where a digest is followed. Nothing is forgotten, so that no
	// tag that comes back is young again.
	Seen map[string]time.Time `json:"seen,omitempty"`
	// Digests is what each tag whose digest is followed stood for last.
	Digests map[string]string `json:"digests,omitempty"`
}

// Record is what became of a subscription.
type Record struct {
	Proposal *Proposal `json:"proposal,omitempty"`
	// Last is the proposal that was merged or committed last, whatever came after it.
	Last *Proposal `json:"last,omitempty"`
	// KeptBack are versions, by Verdict.Key, that are not proposed again, and why.
	KeptBack map[string]string `json:"keptBack,omitempty"`
	// Failure is why nothing new of it can be proposed now; nil where it can.
	Failure *Failure `json:"failure,omitempty"`
}

// Failure is why nothing new of a subscription can be proposed, and since when that is so.
type Failure struct {
	Why     Why       `json:"why"`
	Message string    `json:"message,omitempty"` // as it began
	Since   time.Time `json:"since"`
}

// Proposal is the version that was proposed last.
type Proposal struct {
	Key  string       `json:"key"`
	From marker.Image `json:"from"`
	To   marker.Image `json:"to"`
	// Branch is where it is, and Tree the id of the root of the commit there. Another one is somebody else's.
	Branch      string    `json:"branch"`
	Tree        string    `json:"tree"`
	PullRequest int       `json:"pullRequest,omitempty"` // zero: none yet
	URL         string    `json:"url,omitempty"`
	At          time.Time `json:"at,omitzero"`       // since when the pull request shows it; zero: it does not yet
	Labeled     bool      `json:"labeled,omitempty"` // the pull request says by a label that a roll-out of what it changes is open
	Merged      string    `json:"merged,omitempty"`  // the commit of the base in which it was seen first
	// Parent is the commit of the base that the one there comes after, or was to come after.
	Parent string `json:"parent,omitempty"`
	// Over is the commit of Waybill's that the branch had before that one: a server that does not move all branches or none may
	// have left it there. It is empty as soon as it is known to be gone.
	Over string `json:"over,omitempty"`
}

// IsOpen reports a proposal that was not merged.
func (p *Proposal) IsOpen() bool { return p != nil && p.Merged == "" }

// IsCommitted reports a version that Waybill committed to the branch that is followed, and that nobody merged.
func (p *Proposal) IsCommitted() bool { return p != nil && p.Merged != "" && p.Parent != "" }

// NewMemory remembers nothing.
func NewMemory() *Memory {
	return &Memory{Repositories: map[string]Repository{}, Policies: map[images.Name]Record{}}
}

// See notes what a registry said of a repository. A list that lost tags counts as what it is, and what was seen stays seen.
func (m *Memory) See(repository string, known registry.Known, now time.Time) {
	r := m.Repositories[repository]
	seen := maps.Clone(r.Seen)
	if seen == nil {
		seen = map[string]time.Time{}
	}
	for _, tag := range known.Tags {
		if at, is := seen[tag]; !is || at.After(now) { // by a clock that was ahead
			seen[tag] = now.UTC().Truncate(time.Second)
		}
	}
	known.At = time.Time{} // so that nothing is written where nothing is new
	r.Name, r.Known, r.Seen = repository, known, seen
	m.Repositories[repository] = r
}

// SeeDigest notes what a tag stands for now.
func (m *Memory) SeeDigest(image, tag, digest string, now time.Time) {
	r := m.Repositories[image]
	key := tag + "@" + digest
	if at, is := r.Seen[key]; !is || at.After(now) {
		r.Seen = with(r.Seen, key, now.UTC().Truncate(time.Second))
	}
	r.Name, r.Digests = image, with(r.Digests, tag, digest)
	m.Repositories[image] = r
}

// with is a map with another value.
func with[V any](m map[string]V, key string, value V) map[string]V {
	next := maps.Clone(m)
	if next == nil {
		next = map[string]V{}
	}
	next[key] = value
	return next
}

// KeepBack has a version not be proposed again.
func (m *Memory) KeepBack(of images.Name, key, why string) {
	r := m.Policies[of]
	if _, is := r.KeptBack[key]; is {
		return
	}
	r.KeptBack = with(r.KeptBack, key, why)
	m.Policies[of] = r
}

// Propose notes what is proposed of a subscription; nil for nothing.
func (m *Memory) Propose(of images.Name, p *Proposal) {
	r := m.Policies[of]
	if r.Proposal = p; p != nil && p.Merged != "" {
		r.Last = p
	}
	m.Policies[of] = r
}

// Close has a pull request be closed.
func (m *Memory) Close(c Closing) {
	isKnown := func(o Closing) bool { return o.Branch == c.Branch && o.PullRequest == c.PullRequest }
	if !slices.ContainsFunc(m.Closing, isKnown) {
		m.Closing = append(slices.Clone(m.Closing), c)
	}
}

// Learn notes what became of proposals, by what the values are at a commit of the base: a version that they are at was
// merged, and one that was merged and that they are below again was reverted, and is kept back.
func (m *Memory) Learn(all []Subscription, commit string) {
	for i := range all {
		s := &all[i]
		p := m.Policies[s.Name()].Proposal
		if p == nil || !s.isWritten() {
			continue
		}
		is := s.Current.Tag == p.To.Tag && (p.To.Digest == "" || s.Current.Digest == p.To.Digest)
		if s.Current.Tag == "" { // a digest alone
			is = s.Current.Digest != "" && s.Current.Digest == p.To.Digest
		}
		back := s.isBelow(p.To.Tag) || s.Current.Tag == p.From.Tag && (!is && s.Current.Digest == p.From.Digest)
		switch {
		case is && p.Merged == "":
			merged := *p
			merged.Merged = commit
			m.Propose(s.Name(), &merged)
		case p.Merged != "" && back:
			m.KeepBack(s.Name(), p.Key, fmt.Sprintf("it was merged as %.12s, and the source says %s again", p.Merged, s.Current.Tag))
			m.Propose(s.Name(), nil)
		case p.Merged == "" && s.Why == "" && s.isBelow(p.From.Tag):
			m.KeepBack(s.Name(), p.From.Tag, fmt.Sprintf("it was in use when %s was proposed, and the source says %s again", p.Key, s.Current.Tag))
		}
	}
}

// isBelow reports a value that is older than some tag.
func (s *Subscription) isBelow(tag string) bool {
	n, known := s.Rule.Compare(s.Current.Tag, tag)
	return known && n < 0
}

// Open lists the proposals that were not merged, by their policies.
func (m *Memory) Open() []images.Name {
	var all []images.Name
	for _, n := range slices.SortedFunc(maps.Keys(m.Policies), images.Name.Compare) {
		if m.Policies[n].Proposal.IsOpen() {
			all = append(all, n)
		}
	}
	return all
}

// memoryFormat is what the file format says.
const memoryFormat = "1\n"

// recent is what is remembered of the source, and of pull requests in general.
type recent struct {
	Source  string      `json:"source,omitempty"`
	Opened  []time.Time `json:"opened,omitempty"`
	Looked  time.Time   `json:"looked,omitzero"`
	Closing []Closing   `json:"closing,omitempty"`
}

// Encode is the content of the branch: format, recent.json, repositories/NAME.json and policies/NAMESPACE/NAME.json.
func (m *Memory) Encode() (*files.Folder, error) {
	var failed error
	file := func(name string, v any) files.Entry {
		data, err := json.MarshalIndent(v, "", "  ")
		if err != nil {
			failed = fmt.Errorf("encoding %s: %w", name, err)
		}
		return files.FileEntry(name, files.NewBlob(append(data, '\n')))
	}
	root := []files.Entry{
		files.FileEntry("format", files.NewBlob([]byte(memoryFormat))), file("recent.json", recent{m.Source, m.Opened, m.Looked, m.Closing}),
	}
	var repositories []files.Entry
	for _, name := range sorted(m.Repositories) {
		repositories = append(repositories, file(url.PathEscape(name)+".json", m.Repositories[name]))
	}
	namespaces := map[string][]files.Entry{}
	for n, r := range m.Policies {
		if r.Proposal != nil || r.Last != nil || len(r.KeptBack) > 0 || r.Failure != nil {
			namespaces[n.Namespace] = append(namespaces[n.Namespace], file(n.Name+".json", r))
		}
	}
	var policies []files.Entry
	for _, n := range sorted(namespaces) {
		policies = append(policies, files.DirEntry(n, files.NewFolder(namespaces[n])))
	}
	if len(repositories) > 0 {
		root = append(root, files.DirEntry("repositories", files.NewFolder(repositories)))
	}
	if len(policies) > 0 {
		root = append(root, files.DirEntry("policies", files.NewFolder(policies)))
	}
	return files.NewFolder(root), failed
}

// Decode reads the content of the branch, which may be nil. What cannot be read is an error: to go on without it would be to
// propose again what was kept back.
func Decode(root *files.Folder) (*Memory, error) {
	m := NewMemory()
	if root == nil {
		return m, nil
	}
	for path, e := range root.All() {
		if e.Blob == nil {
			continue
		}
		data, err := e.Blob.Bytes()
		if err == nil {
			err = m.take(path, data)
		}
		if err != nil {
			return nil, fmt.Errorf("reading %s of branch %s: %w", path, MemoryBranch, err)
		}
	}
	return m, nil
}

// take reads a file.
func (m *Memory) take(path string, data []byte) error {
	parts := strings.Split(strings.TrimSuffix(path, ".json"), "/")
	switch {
	case path == "format":
		if string(data) != memoryFormat {
			return fmt.Errorf("the format is %.20q, which this version does not read; use the version that wrote it, or a later one", data)
		}
	case path == "recent.json":
		var r recent
		if err := json.Unmarshal(data, &r); err != nil {
			return err
		}
		m.Source, m.Opened, m.Looked, m.Closing = r.Source, r.Opened, r.Looked, r.Closing
	case parts[0] == "repositories" && len(parts) == 2:
		var r Repository
		if err := json.Unmarshal(data, &r); err != nil {
			return err
		}
		m.Repositories[r.Name] = r
	case parts[0] == "policies" && len(parts) == 3:
		var r Record
		if err := json.Unmarshal(data, &r); err != nil {
			return err
		}
		m.Policies[images.Name{Namespace: parts[1], Name: parts[2]}] = r
	}
	return nil
}
