package suspend_test

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/reconciler/suspend"
	"github.com/waybill-dev/waybill/render/applying"
)

func window(kind, schedule string, lasts time.Duration, more ...func(*applying.SyncWindow)) applying.SyncWindow {
	w := applying.SyncWindow{Kind: kind, Schedule: schedule, Duration: metav1.Duration{Duration: lasts}, Clusters: []string{"eu-*"}}
	for _, m := range more {
		m(&w)
	}
	return w
}

func manualSync(w *applying.SyncWindow) { w.ManualSync = true }
func inUs(w *applying.SyncWindow)       { w.Clusters = []string{"us-*"} }
func berlin(w *applying.SyncWindow)     { w.TimeZone = "Europe/Berlin" }

func TestWindows(t *testing.T) {
	const h = time.Hour
	night, lunch := window("allow", "0 22 * * *", 8*h), window("deny", "0 12 * * *", h)
	for _, c := range []struct {
		name    string
		windows []applying.SyncWindow
		now     string // of a Monday
		manual  bool
		want    string // a part of why, and until when
	}{
		{"none", nil, "00:00", false, ""},
		{"a window of others", []applying.SyncWindow{window("deny", "* * * * *", h, inUs)}, "12:00", false, ""},
		{"a window of others ends it no later", []applying.SyncWindow{lunch, window("deny", "0 12 * * *", 3*h, inUs)}, "12:30", false, "denies 05 13:00"},
		{"nor any sooner", []applying.SyncWindow{night, window("allow", "0 13 * * *", h, inUs)}, "12:30", false, "no sync window 05 22:00"},
		{"before it is denied", []applying.SyncWindow{lunch}, "11:59", false, ""},
		{"denied from its first moment", []applying.SyncWindow{lunch}, "12:00", false, "0 12 * * * for 1h0m0s 05 13:00"},
		{"to its last", []applying.SyncWindow{lunch}, "12:59", false, "denies 05 13:00"},
		{"and no longer", []applying.SyncWindow{lunch}, "13:00", false, ""},
		{"not allowed yet", []applying.SyncWindow{night}, "21:00", false, "no sync window is open 05 22:00"},
		{"allowed", []applying.SyncWindow{night}, "22:00", false, ""},
		{"allowed since yesterday", []applying.SyncWindow{night}, "05:59", false, ""},
		{"no longer allowed", []applying.SyncWindow{night}, "06:00", false, "no sync window 05 22:00"},
		{"the first of two allows", []applying.SyncWindow{window("allow", "0 6 * * *", h), night}, "06:30", false, ""},
		{"the second of two allows", []applying.SyncWindow{night, window("allow", "0 6 * * *", h)}, "06:30", false, ""},
		{"denied while allowed", []applying.SyncWindow{night, window("deny", "0 23 * * *", h)}, "23:30", false, "denies 06 00:00"},
		{"denied, then not allowed", []applying.SyncWindow{night, window("deny", "0 5 * * *", 2*h)}, "05:30", false, "denies 05 22:00"},
		{"a person is denied, too", []applying.SyncWindow{lunch}, "12:30", true, "denies 05 13:00"},
		{"a person may", []applying.SyncWindow{window("deny", "0 12 * * *", h, manualSync)}, "12:30", true, ""},
		{"a controller may not", []applying.SyncWindow{window("deny", "0 12 * * *", h, manualSync)}, "12:30", false, "denies 05 13:00"},
		{"a person may by one, and not by the other", []applying.SyncWindow{lunch, window("deny", "0 12 * * *", h, manualSync)}, "12:30", true, "denies 05 13:00"},
		{"a person may outside what is allowed", []applying.SyncWindow{window("allow", "0 22 * * *", h, manualSync)}, "12:30", true, ""},
		{"a person may not", []applying.SyncWindow{night}, "12:30", true, "no sync window 05 22:00"},
		{"a person may outside what is allowed, whatever others may not", []applying.SyncWindow{window("allow", "0 22 * * *", h, manualSync), window("allow", "0 22 * * *", h, inUs)}, "12:30", true, ""},
		{"a person may outside what is allowed, and is denied later", []applying.SyncWindow{window("allow", "0 22 * * *", h, manualSync), window("deny", "0 5 * * *", h)}, "12:30", true, ""},
		{"a person may while one allows that lets people in", []applying.SyncWindow{window("allow", "0 12 * * *", h, manualSync), night}, "12:30", true, ""},
		{"a person may not when neither does", []applying.SyncWindow{window("allow", "0 11 * * *", h, manualSync), night}, "12:30", true, "no sync window 05 22:00"},
		{"in another zone", []applying.SyncWindow{window("deny", "0 12 * * *", h, berlin)}, "11:30", false, "denies 05 12:00"},
		{"for ever", []applying.SyncWindow{window("deny", "* * * * *", 48*h)}, "11:30", false, "denies 01 00:00"},
	} {
		t.Run(c.name, func(t *testing.T) {
			now, err := time.Parse("2006-01-02 15:04", "2026-01-05 "+c.now)
			if err != nil {
				t.Fatal(err)
			}
			all, err := suspend.Parse(c.windows)
			if err != nil {
				t.Fatal(err)
			}
			if c.manual {
				all = all.Manual("eu-1")
			}
			p := suspend.Of("eu-1", nil, all, now)
			says, until := c.want, ""
			if len(says) > 8 {
				says, until = c.want[:len(c.want)-9], c.want[len(c.want)-8:]
			}
			if p.Why == "" != (c.want == "") || !strings.Contains(p.Why, says) || p.Why != "" && p.Until.Format("02 15:04") != until {
				t.Errorf("%+v, want %q", p, c.want)
			}
		})
	}
}

// Whoever suspended a cluster has to resume it, whatever windows say, and also where he said nothing.
func TestSuspended(t *testing.T) {
	all, err := suspend.Parse([]applying.SyncWindow{window("deny", "* * * * *", time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	for _, why := range []string{"we look into it", ""} {
		p := suspend.Of("eu-1", map[string]string{suspend.Suspended: why}, all, time.Time{})
		if !strings.Contains(p.Why, "it is suspended: "+why) || !p.Until.IsZero() {
			t.Errorf("suspended with %q it is %+v", why, p)
		}
	}
}

// A window is of all clusters that one of its patterns has.
func TestWindowsOfSeveralPatterns(t *testing.T) {
	all, err := suspend.Parse([]applying.SyncWindow{window("deny", "* * * * *", time.Hour, func(w *applying.SyncWindow) { w.Clusters = []string{"eu-*", "us-1"} })})
	if err != nil {
		t.Fatal(err)
	}
	for cluster, want := range map[string]bool{"eu-1": true, "us-1": true, "us-2": false, "my-eu-1": false} {
		if is := suspend.Of(cluster, nil, all, time.Unix(0, 0)).Why != ""; is != want || (len(all.Manual(cluster)) > 0) != want {
			t.Errorf("%s is denied: %t, and to a person: %v", cluster, is, all.Manual(cluster))
		}
	}
}

func TestAScheduleThatIsNone(t *testing.T) {
	_, err := suspend.Parse([]applying.SyncWindow{window("allow", "0 22 * * *", time.Hour), window("allow", "0 25 * * *", time.Hour)})
	if err == nil || !strings.Contains(err.Error(), "spec.apply.syncWindows[1]") {
		t.Error(err)
	}
}
