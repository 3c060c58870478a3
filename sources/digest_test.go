package sources_test

import (
	"testing"

	"github.com/waybill-dev/waybill/sources"
)

// listing is a snapshot of which nothing can be read.
type listing []sources.File

func (listing) Revision() sources.Revision      { return sources.Revision{} }
func (l listing) Files() []sources.File         { return l }
func (listing) ReadFile(string) ([]byte, error) { panic("a digest reads nothing") }

func TestDigestsTellWhatIsAsItWas(t *testing.T) {
	before := sources.Digests(listing{{Path: "a/b/x.yaml", Digest: "1"}, {Path: "a/y.yaml", Digest: "2"}, {Path: "unknown"}})
	after := sources.Digests(listing{{Path: "a/b/x.yaml", Digest: "3"}, {Path: "a/y.yaml", Kind: sources.Symlink, Digest: "2"}, {Path: "unknown"}})
	for path, same := range map[string]bool{
		"a/b/x.yaml": false, "a/y.yaml": true, "a/b": true, ".": true,
		"a":    false, // a name in it stands for something else
		"none": true,
	} {
		was, knew := before(path)
		is, knows := after(path)
		if !knew || !knows || (was == is) != same {
			t.Errorf("%s was %q and is %q; want them equal: %t", path, was, is, same)
		}
	}
	if d, ok := before("unknown"); ok {
		t.Errorf("what the snapshot does not know has the digest %q", d)
	}
}
