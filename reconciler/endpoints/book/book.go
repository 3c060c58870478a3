// Package book is how a cluster's endpoints are written down where nobody who needs them reaches it: a commit without a parent,
// at a ref of its own, whose tree has a file for each service. It says what such a tree holds, which book counts after which, and
// when one is pushed. It is values in, values out: it reads nothing, and has no clock.
package book

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/waybill-dev/waybill/reconciler/endpoints"
	"github.com/waybill-dev/waybill/reconciler/heartbeat"
	"github.com/waybill-dev/waybill/sources/files"
)

// Refs and Branches begin the names of the refs that books are at, which the name of the cluster ends. Branches are for servers
// that take no others.
const (
	Refs     = "refs/waybill/endpoints/"
	Branches = "refs/heads/waybill/endpoints/"
)

// What a book may have at most. What a slice may have says endpoints.Resolve, of each slice by itself.
const (
	MostServices = 1000
	MostSlices   = 100      // of a service
	MostBytes    = 4 << 20  // of the file of a service
	mostTogether = 32 << 20 // bytes of all files that are written
)

// ClusterOf is the cluster whose book is at a ref; empty for none.
func ClusterOf(ref string) string {
	for _, prefix := range []string{Refs, Branches} {
		if cluster, ok := strings.CutPrefix(ref, prefix); ok {
			return cluster
		}
	}
	return ""
}

// Book is what a cluster has of the services that others import from it.
type Book struct {
	Cluster string
	UID     string    // of its Namespace kube-system
	Time    time.Time // when it was written, by the clock of whoever did
	// Number is above that of every earlier book of the cluster: see heartbeat.Next.
	Number   uint64
	Services endpoints.Services
}

// meta is the file that says whose book it is.
type meta struct {
	Cluster string `json:"cluster"`
	UID     string `json:"uid"`
	Time    string `json:"time"`
	Number  uint64 `json:"number"`
}

// metaFile is no name of a namespace.
const metaFile = "_meta"

// service is the file of a service.
type service struct {
	Slices []endpoints.Slice `json:"slices"`
}

const extension = ".json"

// Message is that of a commit with the book.
func (b *Book) Message() string { return b.Cluster + ": endpoints\n" }

// Tree is the book as files.
func (b *Book) Tree() *files.Folder {
	is := meta{Cluster: b.Cluster, UID: b.UID, Time: b.Time.UTC().Format(time.RFC3339), Number: b.Number}
	return files.NewFolder(append(folders(b.Services), fileOf(metaFile, is)))
}

// folders are those of namespaces.
func folders(all endpoints.Services) []files.Entry {
	below := map[string][]files.Entry{}
	for of, has := range all {
		if has == nil {
			has = []endpoints.Slice{}
		}
		below[of.Namespace] = append(below[of.Namespace], fileOf(of.Name+extension, service{has}))
	}
	entries := make([]files.Entry, 0, len(below)+1)
	for namespace, of := range below {
		entries = append(entries, files.DirEntry(namespace, files.NewFolder(of)))
	}
	return entries
}

func fileOf(name string, content any) files.Entry {
	return files.FileEntry(name, files.NewBlob(encoded(content)))
}

// encoded is what is in a file.
func encoded(content any) []byte {
	data, err := json.Marshal(content)
	if err != nil {
		panic("book: names, addresses and numbers do not encode: " + err.Error())
	}
	return append(data, '\n')
}

// Same reports books that say the same of services.
func Same(a, b endpoints.Services) bool {
	return files.NewFolder(folders(a)).ID() == files.NewFolder(folders(b)).ID()
}

// errMalformed says that a tree is no book.
var errMalformed = errors.New("it is no book of endpoints")

// Decode reads what Tree wrote, and nothing else.
func Decode(root *files.Folder) (Book, error) {
	var b Book
	n := 0
	for path, e := range root.All() {
		if n++; n > MostServices+1 {
			return Book{}, fmt.Errorf("%w: it has more than %d services", errMalformed, MostServices)
		}
		data, err := contentOf(e)
		if err == nil && path == metaFile {
			err = b.decodeMeta(data)
		} else if err == nil {
			err = b.decodeService(path, data)
		}
		if err != nil {
			return Book{}, fmt.Errorf("%w: %.300q: %w", errMalformed, path, err)
		}
	}
	if b.Number == 0 || b.Tree().ID() != root.ID() {
		return Book{}, fmt.Errorf("%w: its files are not as one writes them", errMalformed)
	}
	return b, nil
}

func contentOf(e files.Entry) ([]byte, error) {
	if e.Blob == nil {
		return nil, errors.New("it is no file")
	}
	data, err := e.Blob.Bytes()
	if err == nil && len(data) > MostBytes {
		err = fmt.Errorf("it has %d bytes; at most %d are taken", len(data), MostBytes)
	}
	return data, err
}

func (b *Book) decodeMeta(data []byte) (err error) {
	var is meta
	if err := decode(data, &is); err != nil {
		return err
	}
	b.Cluster, b.UID, b.Number = is.Cluster, is.UID, is.Number
	b.Time, err = time.Parse(time.RFC3339, is.Time)
	return err
}

func (b *Book) decodeService(path string, data []byte) error {
	namespace, name, _ := strings.Cut(path, "/")
	name, isJSON := strings.CutSuffix(name, extension)
	if !isJSON || len(validation.IsDNS1123Label(namespace)) > 0 || len(validation.IsDNS1123Label(name)) > 0 {
		return errors.New("it is not named after a namespace and a service")
	}
	var is service
	if err := decode(data, &is); err != nil {
		return err
	}
	if len(is.Slices) > MostSlices {
		return fmt.Errorf("it has %d slices; at most %d are taken", len(is.Slices), MostSlices)
	}
	if b.Services == nil {
		b.Services = endpoints.Services{}
	}
	if len(is.Slices) == 0 {
		is.Slices = nil // as it is collected
	}
	b.Services[types.NamespacedName{Namespace: namespace, Name: name}] = is.Slices
	return nil
}

// decode reads JSON without fields that are not known.
func decode(data []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	return d.Decode(into)
}

// The reasons for which a book is not taken.
var (
	ErrOther = errors.New("it is that of another cluster")
	ErrOld   = errors.New(endpoints.Older)
	ErrAhead = fmt.Errorf("its number is a time more than %s from now: the clock of whoever wrote it is wrong, or somebody else has the key", heartbeat.Ahead)
)

// IsOf says why a book is not that of a cluster whose Namespace kube-system has to have a UID, if one is known.
func (b *Book) IsOf(cluster, uid string) error {
	switch {
	case b.Cluster != cluster:
		return fmt.Errorf("%w: %.80q", ErrOther, b.Cluster)
	case uid != "" && b.UID != uid:
		return fmt.Errorf("%w: spec.id of the Cluster is %s, and its Namespace kube-system has the UID %.80q", ErrOther, uid, b.UID)
	}
	return nil
}

// Follows says why a book of a cluster does not count after the one with a number, which is zero for none. The same book again counts.
func (b *Book) Follows(last uint64, cluster, uid string, now time.Time) error {
	if err := b.IsOf(cluster, uid); err != nil {
		return err
	}
	switch {
	case heartbeat.IsAhead(b.Number, now):
		return ErrAhead
	case b.Number < last:
		return ErrOld
	}
	return nil
}

// Loses reports that some endpoint of before is gone now, or is not ready any more, so that traffic to it fails.
func Loses(before, now endpoints.Services) bool {
	for of, had := range before {
		is := readiness(now[of])
		for address, ready := range readiness(had) {
			if still, there := is[address]; !there || ready && !still {
				return true
			}
		}
	}
	return false
}

// readiness says of addresses whether they are ready.
func readiness(all []endpoints.Slice) map[string]bool {
	is := map[string]bool{}
	for i := range all {
		for _, e := range all[i].Endpoints {
			for _, a := range e.Addresses {
				is[a] = is[a] || e.Conditions.Ready == nil || *e.Conditions.Ready
			}
		}
	}
	return is
}
