package inventory

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"slices"
	"strconv"
	"sync"

	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/files"
)

const (
	// format is the form that is written.
	format = 1
	// perShard is how many entries a shard has at most, on average: an entry takes 60 to 90
	// bytes compressed, and a Secret holds a MiB.
	perShard = 1000
	// maxLine bounds a line of a shard: names of 253 bytes, twice, and ids.
	maxLine = 64 << 10
)

// Head is what says how to read the shards.
type Head struct {
	Format  int    `json:"format"`
	Owner   string `json:"owner"`
	Cluster string `json:"cluster"`
	UID     string `json:"kubeSystemUID"`
	Commit  string `json:"commit"` // of the cluster's branch
	State   string `json:"state,omitempty"`
	Settled bool   `json:"settled"`
	Shards  int    `json:"shards"`
	// SyncCommit, SyncPhase and SyncFailed are those of Sync.
	SyncCommit string `json:"syncCommit,omitempty"`
	SyncPhase  Phase  `json:"syncPhase,omitempty"`
	SyncFailed bool   `json:"syncFailed,omitempty"`
}

// Encoded is an inventory as it is stored.
type Encoded struct {
	Head Head
	// Shards hold the entries: gzip over lines of JSON. An entry is in the shard that its
	// name says, whatever else the inventory holds, as long as their number stays.
	Shards [][]byte
}

// Encode lays an inventory out. Equal inventories give equal bytes.
func Encode(i Inventory) (Encoded, error) {
	n := 1
	for n*perShard < len(i.Entries) {
		n *= 2
	}
	lines := make([][]line, n)
	for r, e := range i.Entries {
		at := shardOf(r, n)
		lines[at] = append(lines[at], line{r, e})
	}
	x := Encoded{
		Head:   Head{Format: format, Owner: i.Owner, Cluster: i.Cluster, UID: i.UID, Commit: i.Commit.String(), Settled: i.Settled, Shards: n},
		Shards: make([][]byte, n),
	}
	if !i.State.IsZero() {
		x.Head.State = i.State.String()
	}
	if i.Sync != (Sync{}) {
		x.Head.SyncCommit, x.Head.SyncPhase, x.Head.SyncFailed = i.Sync.Commit.String(), i.Sync.Phase, i.Sync.Failed
	}
	for at := range lines {
		slices.SortFunc(lines[at], func(a, b line) int { return a.ref.Compare(b.ref) })
		data, err := pack(lines[at])
		if err != nil {
			return Encoded{}, fmt.Errorf("encoding shard %d of the inventory: %w", at, err)
		}
		x.Shards[at] = data
	}
	return x, nil
}

// Decode reads an inventory. A shard that is nil is lost: what it held is not known, so that
// the inventory is not settled, and a round by it deletes nothing.
func Decode(x Encoded) (Inventory, error) {
	if x.Head.Format != format {
		return Inventory{}, fmt.Errorf("the inventory is of form %d, and this version of Waybill knows form %d; use the version that wrote it, or a newer one", x.Head.Format, format)
	}
	commit, err := files.ParseID(x.Head.Commit)
	if err != nil {
		return Inventory{}, fmt.Errorf("reading the commit of the inventory: %w", err)
	}
	i := Inventory{
		Identity: Identity{Owner: x.Head.Owner, Cluster: x.Head.Cluster, UID: x.Head.UID},
		Commit:   commit, Settled: x.Head.Settled, Entries: map[object.Ref]Entry{},
	}
	if x.Head.State != "" {
		if i.State, err = files.ParseID(x.Head.State); err != nil {
			return Inventory{}, fmt.Errorf("reading the state of the inventory: %w", err)
		}
	}
	if x.Head.SyncCommit != "" {
		i.Sync = Sync{Phase: x.Head.SyncPhase, Failed: x.Head.SyncFailed}
		if i.Sync.Commit, err = files.ParseID(x.Head.SyncCommit); err != nil {
			return Inventory{}, fmt.Errorf("reading the commit of the sync: %w", err)
		}
	}
	for at, data := range x.Shards {
		if data == nil {
			i.Settled = false
			continue
		}
		lines, err := unpack(data)
		if err != nil {
			return Inventory{}, fmt.Errorf("reading shard %d of the inventory: %w", at, err)
		}
		for _, l := range lines {
			i.Entries[l.ref] = l.entry
		}
	}
	return i, nil
}

// shardOf returns the shard of an object among n.
func shardOf(r object.Ref, n int) int {
	h := fnv.New64a()
	for _, s := range []string{r.Group, r.Kind, r.Namespace, r.Name} {
		_, _ = io.WriteString(h, s)
		_, _ = h.Write([]byte{0})
	}
	return int(h.Sum64() % uint64(n)) //nolint:gosec // n is positive, and the rest below it
}

// line is an entry as it is written: a list of texts.
type line struct {
	ref   object.Ref
	entry Entry
}

// The flags of an entry.
const (
	flagKeeps   = "k"
	flagLeaving = "l"
)

func (l line) texts() []string {
	content, fields, flags := "", "", ""
	if !l.entry.Content.IsZero() {
		content = l.entry.Content.String()
	}
	if l.entry.Fields != 0 {
		fields = strconv.FormatUint(l.entry.Fields, 16)
	}
	if l.entry.Keeps {
		flags += flagKeeps
	}
	if l.entry.Leaving {
		flags += flagLeaving
	}
	return []string{l.ref.Group, l.ref.Kind, l.ref.Namespace, l.ref.Name, l.entry.UID, content, fields, l.entry.Source, flags}
}

func parseLine(data []byte) (line, error) {
	var s []string
	if err := json.Unmarshal(data, &s); err != nil {
		return line{}, err
	}
	const texts = 9
	if len(s) != texts {
		return line{}, fmt.Errorf("an entry has %d texts, want %d", len(s), texts)
	}
	l := line{object.Ref{Group: s[0], Kind: s[1], Namespace: s[2], Name: s[3]}, Entry{UID: s[4], Source: s[7]}}
	var err error
	if s[5] != "" {
		l.entry.Content, err = files.ParseID(s[5])
	}
	if s[6] != "" && err == nil {
		l.entry.Fields, err = strconv.ParseUint(s[6], 16, 64)
	}
	for _, flag := range s[8] {
		switch string(flag) {
		case flagKeeps:
			l.entry.Keeps = true
		case flagLeaving:
			l.entry.Leaving = true
		default:
			err = errors.Join(err, fmt.Errorf("an entry has the flag %q, which is not known", flag))
		}
	}
	return l, err
}

// zips are kept to be used again: a new one takes three quarters of a MiB, and an inventory is
// written after every stage of every round.
var zips = sync.Pool{New: func() any { return gzip.NewWriter(nil) }}

func pack(lines []line) ([]byte, error) {
	var b bytes.Buffer
	zip, _ := zips.Get().(*gzip.Writer)
	defer zips.Put(zip)
	zip.Reset(&b)
	enc := json.NewEncoder(zip)
	enc.SetEscapeHTML(false)
	for _, l := range lines {
		if err := enc.Encode(l.texts()); err != nil {
			return nil, err
		}
	}
	if err := zip.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

func unpack(data []byte) ([]line, error) {
	const most = 64 << 20 // far above a Secret of lines that are much alike
	zip, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	var lines []line
	in := bufio.NewScanner(io.LimitReader(zip, most))
	in.Buffer(nil, maxLine)
	for in.Scan() {
		l, err := parseLine(in.Bytes())
		if err != nil {
			return nil, err
		}
		lines = append(lines, l)
	}
	return lines, in.Err()
}
