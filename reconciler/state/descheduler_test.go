package state

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/policies/deschedule"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/files"
)

func TestWhatObserversCountIsRecorded(t *testing.T) {
	for _, want := range []*deschedule.Watch{nil, {Threshold: 5 * time.Minute, Workloads: []object.Ref{web}}} {
		root, err := Encode(Content{Watch: want}, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Descheduler(root)
		if d := cmp.Diff(want, got); d != "" || err != nil {
			t.Errorf("%v\n%s", err, d)
		}
		if _, err := Decode(root, nil); err != nil {
			t.Error(err)
		}
	}
	broken := files.NewFolder([]files.Entry{files.FileEntry(deschedulerFile, files.NewBlob([]byte("{")))})
	if _, err := Descheduler(broken); err == nil {
		t.Error("what cannot be read is read")
	}
}

func TestWhatLeftForWantOfANodeIsRecorded(t *testing.T) {
	at := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	b := NewBinding("apps/v1", web)
	if RecordDescheduled(b, nil); len(b.Annotations) > 0 || DescheduledFrom(b) != nil || DescheduledFrom(nil) != nil {
		t.Errorf("nothing left, and it says %v", b.Annotations)
	}
	RecordDescheduled(b, []Descheduled{{"us", 1, at}, {"eu", 3, at}, {"eu", 2, at.Add(time.Hour + time.Millisecond)}})
	want := []Descheduled{{"eu", 2, at.Add(time.Hour)}, {"us", 1, at}}
	if d := cmp.Diff(want, DescheduledFrom(b)); d != "" {
		t.Error(d)
	}
	b.Annotations[descheduledAnnotation] = "eu"
	if got := DescheduledFrom(b); got != nil {
		t.Errorf("what cannot be read says %v", got)
	}
}
