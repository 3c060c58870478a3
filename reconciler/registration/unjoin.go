package registration

import (
	"fmt"
	"strings"

	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
)

// Unjoin returns the file in which a Cluster stands without it; nil if nothing is left of the
// file then. At is where the source has the Cluster.
func Unjoin(at diag.Pos, data []byte, cluster string) ([]byte, error) {
	d, err := open(at, data, cluster)
	if err != nil {
		return nil, err
	}
	text := d.unjoined()
	left := object.Decode(d.file, text)
	if !d.lacks(left) {
		return nil, fmt.Errorf("%s: Cluster %s is written in a way that is not edited here; remove it by hand", at, cluster)
	}
	if len(left.Objects) == 0 && left.NotManifests == 0 && !left.Broken {
		return nil, nil // comments, if anything
	}
	return text, nil
}

// unjoined returns the file without the document that is the Cluster, or without it in a List.
func (d *document) unjoined() []byte {
	if d.cluster != d.root {
		return d.cut(span{d.cluster.Line, d.last(d.cluster)})
	}
	first := d.part.Line + 1
	end := d.part.Line + strings.Count(string(d.part.Data), "\n")
	if !strings.HasSuffix(string(d.part.Data), "\n") {
		end++
	}
	gone := []span{{first, end}}
	if first == 1 && !strings.HasPrefix(d.line(1), "---") && end+1 < len(d.starts) && strings.TrimSpace(d.line(end+1)) == "---" {
		gone = append(gone, span{end + 1, end + 1}) // it parted the two
	}
	return d.cut(gone...)
}

// lacks reports whether a file holds what it held before, but for the Cluster.
func (d *document) lacks(after object.Decoded) bool {
	if len(after.Objects) != len(d.before.Objects)-1 || after.NotManifests != d.before.NotManifests || len(after.Diags) != len(d.before.Diags) {
		return false
	}
	for i, o := range after.Objects {
		was := i
		if i >= d.index {
			was++
		}
		if !same(o, d.before.Objects[was]) {
			return false
		}
	}
	return true
}
