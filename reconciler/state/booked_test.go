package state

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/policies/services"
	"github.com/waybill-dev/waybill/sources/files"
)

func TestWhatBooksHaveIsRecorded(t *testing.T) {
	for _, want := range [][]services.Booked{nil, {{Clusters: []string{"eu-1", "us-1"}, Services: []string{"shop/api"}}}} {
		root, err := Encode(Content{Booked: want}, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Booked(root)
		if d := cmp.Diff(want, got); d != "" || err != nil {
			t.Errorf("%v\n%s", err, d)
		}
		if _, err := Decode(root, nil); err != nil {
			t.Error(err)
		}
	}
	broken := files.NewFolder([]files.Entry{files.FileEntry(bookedFile, files.NewBlob([]byte("{")))})
	if _, err := Booked(broken); err == nil {
		t.Error("what cannot be read is read")
	}
}
