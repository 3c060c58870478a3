package index_test

import (
	"crypto/sha1"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git/internal/index"
)

// written is an index as Git writes it: the entries, and what is behind them.
func written(version uint32, hash int, extensions string, entries ...index.Entry) []byte {
	out := binary.BigEndian.AppendUint32([]byte("DIRC"), version)
	out = binary.BigEndian.AppendUint32(out, uint32(len(entries)))
	last := ""
	for _, e := range entries {
		begin := len(out)
		for _, n := range []uint32{0, 0, e.Sec, e.Nsec, 0, 0, uint32(e.Mode), 0, 0, e.Size} {
			out = binary.BigEndian.AppendUint32(out, n)
		}
		out = append(out, append(e.ID[:], make([]byte, 32)...)[:hash]...)
		flags := uint16(e.Stage)<<12 | uint16(min(len(e.Path), 0xfff))
		if e.Unchanged {
			flags |= 0x8000
		}
		if e.Skip {
			out = binary.BigEndian.AppendUint16(out, flags|0x4000)
			flags = 0x4000
		}
		out = binary.BigEndian.AppendUint16(out, flags)
		if version == 4 {
			shared := 0
			for shared < min(len(last), len(e.Path)) && last[shared] == e.Path[shared] {
				shared++
			}
			dropped := len(last) - shared
			if dropped > 127 { // in two bytes, of which the first says one less
				out = append(out, byte(dropped>>7-1)|0x80)
			}
			out = append(append(append(out, byte(dropped&0x7f)), e.Path[shared:]...), 0)
			last = e.Path
			continue
		}
		out = append(out, e.Path...)
		out = append(out, make([]byte, 8-(len(out)-begin)%8)...)
	}
	return sealed(append(out, extensions...), hash)
}

// sealed adds the checksum of an index.
func sealed(body []byte, hash int) []byte {
	if hash == sha1.Size {
		sum := sha1.Sum(body)
		return append(body, sum[:]...)
	}
	sum := sha256.Sum256(body)
	return append(body, sum[:]...)
}

func extension(name, data string) string {
	return name + string(binary.BigEndian.AppendUint32(nil, uint32(len(data)))) + data
}

// some are entries with all that an index says of one.
func some() []index.Entry {
	id := files.NewBlob([]byte("x")).ID()
	return []index.Entry{
		{Path: "a", Mode: files.ModeRegular, ID: id, Size: 7, Sec: 11, Nsec: 13},
		{Path: "b/" + strings.Repeat("long/", 40) + "c", Mode: files.ModeExecutable, ID: id, Unchanged: true},
		{Path: "b/d", Mode: files.ModeSymlink, ID: id, Skip: true},
		{Path: "b/d", Mode: files.ModeRegular, ID: id, Stage: 2},
		{Path: "b/de", Mode: files.ModeSubmodule, ID: id, Stage: 3, Skip: true},
		{Path: "folder/", Mode: files.ModeDir, ID: id},
	}
}

func TestDecodeEachVersion(t *testing.T) {
	for _, version := range []uint32{2, 3, 4} {
		got, err := index.Decode(written(version, sha1.Size, extension("TREE", "x")+extension("sdir", ""), some()...), sha1.Size)
		if diff := cmp.Diff(some(), got); err != nil || diff != "" {
			t.Errorf("version %d: %v (-written +read)\n%s", version, err, diff)
		}
		got, err = index.Decode(written(version, sha256.Size, "", some()...), sha256.Size)
		if err != nil || len(got) != len(some()) || got[5].Path != "folder/" || got[0].ID != (files.ID{}) {
			t.Errorf("version %d with longer ids: %v, %+v", version, err, got)
		}
	}
	if got, err := index.Decode(written(2, sha1.Size, ""), sha1.Size); err != nil || len(got) != 0 {
		t.Errorf("an empty one: %+v, %v", got, err)
	}
}

// TestAnIndexNeedNotHaveAChecksum, and one that it has is that of its content.
func TestAnIndexNeedNotHaveAChecksum(t *testing.T) {
	data := written(2, sha1.Size, "", some()...)
	bare := append(data[:len(data)-sha1.Size:len(data)-sha1.Size], make([]byte, sha1.Size)...)
	if got, err := index.Decode(bare, sha1.Size); err != nil || len(got) != len(some()) {
		t.Errorf("without a checksum: %v", err)
	}
	data[12]++
	if _, err := index.Decode(data, sha1.Size); err == nil || !strings.Contains(err.Error(), "its checksum is not that of its content") {
		t.Errorf("with that of another content: %v", err)
	}
}

func TestWhatIsNoIndex(t *testing.T) {
	const body = 12
	whole := func(version uint32) []byte {
		data := written(version, sha1.Size, "", some()...)
		return data[:len(data)-sha1.Size]
	}
	for name, tt := range map[string]struct {
		data []byte
		want string
	}{
		"nothing":                           {nil, "it is no index"},
		"a header alone":                    {[]byte("DIRC\x00\x00\x00\x02\x00\x00\x00\x00"), "it is no index"},
		"another file":                      {sealed([]byte("PACK\x00\x00\x00\x02\x00\x00\x00\x00"), sha1.Size), "it is no index"},
		"version 1":                         {written(1, sha1.Size, ""), "its version is 1; want 2, 3 or 4"},
		"version 5":                         {written(5, sha1.Size, ""), "its version is 5"},
		"an entry that ends":                {sealed(whole(2)[:body+30], sha1.Size), `after "": it ends in the middle of an entry`},
		"a path that does not end":          {sealed(whole(2)[:body+63], sha1.Size), "it ends in the middle of an entry"},
		"more entries than there are":       {sealed(append([]byte("DIRC\x00\x00\x00\x02\xff\xff\xff\xff"), whole(2)[body:]...), sha1.Size), `after "folder/"`},
		"a shared path that does not end":   {sealed(whole(4)[:body+62], sha1.Size), "it ends in the middle of an entry"},
		"more of a path than was there":     {sealed(append(whole(4)[:body+62:body+62], 9, 'x', 0), sha1.Size), "it ends in the middle of an entry"},
		"a split one":                       {written(2, sha1.Size, extension("link", "x")), "the index is split"},
		"an extension that is needed":       {written(2, sha1.Size, extension("what", "x")), `its extension "what" is not known`},
		"an extension that is longer":       {written(2, sha1.Size, "TREE\x00\x00\x00\x09x"), `its extension "TREE" is longer than it`},
		"one that is needed, behind others": {written(2, sha1.Size, extension("TREE", "xy")+extension("what", "")), `its extension "what"`},
	} {
		if got, err := index.Decode(tt.data, sha1.Size); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, %+v; want %q", name, err, got, tt.want)
		}
	}
	for version := uint32(2); version <= 4; version++ {
		for _, only := range [][]index.Entry{some()[:1], some()[2:3]} { // without what only a version after 2 has, and with it
			data := written(version, sha1.Size, "", only...)
			data = data[:len(data)-sha1.Size]
			for end := body; end < len(data); end++ {
				got, err := index.Decode(sealed(data[:end:end], sha1.Size), sha1.Size)
				if err == nil || !strings.Contains(err.Error(), "it ends in the middle of an entry") {
					t.Errorf("version %d with %d bytes of %d: %v, %+v", version, end, len(data), err, got)
				}
			}
		}
	}
	if _, err := index.Decode(written(2, sha1.Size, extension("link", "x")), sha1.Size); !errors.Is(err, index.ErrSplit) {
		t.Errorf("a split one: %v", err)
	}
}
