package updating

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/sources/chart"
	"github.com/waybill-dev/waybill/sources/lock"
	"github.com/waybill-dev/waybill/test/twin"
)

// archived is the archive of a chart.
func archived(t *testing.T, name, version string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	text := "apiVersion: v2\nname: " + name + "\nversion: " + version + "\n"
	err := w.WriteHeader(&tar.Header{Name: name + "/Chart.yaml", Mode: 0o644, Size: int64(len(text)), Typeflag: tar.TypeReg})
	if err == nil {
		_, err = w.Write([]byte(text))
	}
	for _, c := range []interface{ Close() error }{w, z} {
		if err == nil {
			err = c.Close()
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// answering is what locks the charts of a source anew, whose repository has web 1.2.3 and 1.3.0, and api 2.3.4.
func answering(t *testing.T, more string) (file string, u *Charts, out *bytes.Buffer, at string) {
	t.Helper()
	archives := map[string][]byte{}
	var index strings.Builder
	index.WriteString("apiVersion: v1\nentries:\n")
	for _, name := range []string{"web", "api"} {
		index.WriteString("  " + name + ":\n")
		for _, version := range map[string][]string{"web": {"1.3.0", "1.2.3"}, "api": {"2.3.4"}}[name] {
			path := "/" + name + "-" + version + ".tgz"
			archives[path] = archived(t, name, version)
			index.WriteString("  - {apiVersion: v2, name: " + name + ", version: " + version + ", urls: [." + path + "]}\n")
		}
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/index.yaml" {
			fmt.Fprint(w, index.String())
			return
		}
		if archives[r.URL.Path] == nil {
			w.WriteHeader(http.StatusNotFound)
		}
		_, _ = w.Write(archives[r.URL.Path])
	}))
	t.Cleanup(s.Close)
	file, _, u, out = locking(t, "")
	repo := twin.New("fleet")
	text := strings.ReplaceAll(source, repository, s.URL)
	repo.Write("main", "a change", twin.Tree{"all.yaml": twin.File([]byte(text)), "more.yaml": twin.File([]byte(more))}.Folder())
	var err error
	if u.Source, err = repo.Snapshot(t.Context(), "main", ""); err != nil {
		t.Fatal(err)
	}
	u.Store, err = chart.New(chart.Options{Allow: []string{s.URL}, Private: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
	if err != nil {
		t.Fatal(err)
	}
	return file, u, out, s.URL
}

// TestWhatIsLocked: the newest version that fits of each chart that is asked for, and what was locked of the others; a lock that cannot be
// read is written anew unless charts are named.
func TestWhatIsLocked(t *testing.T) {
	const broken = "charts: [broken"
	const exactly = `
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: exactly, namespace: shop}
spec: {interval: 1h, chart: {spec: {chart: web, version: 1.2.3, sourceRef: {kind: HelmRepository, name: charts}}}}
`
	for name, tt := range map[string]struct {
		before      string // charts with versions; empty: there is no file
		more        string
		only        []string
		judged, dry bool
		changed     bool
		after       string // of the file; empty: there is none
		says, not   string
	}{
		"no file":                       {changed: true, after: "api 2.3.4, web 1.3.0", says: "web 1.x - 1.3.0"},
		"an older version":              {before: "api 2.3.4, web 1.2.3", changed: true, after: "api 2.3.4, web 1.3.0", says: "web 1.x 1.2.3 1.3.0", not: "api"},
		"an older version is judged":    {before: "api 2.3.4, web 1.2.3", judged: true, after: "api 2.3.4, web 1.2.3", says: "waybill.lock is up to date: 2 of the source's charts are of repositories"},
		"one is new, and all is judged": {before: "web 1.2.3", judged: true, changed: true, after: "api 2.3.4, web 1.2.3", says: "api 2.x - 2.3.4", not: "web"},
		"one is asked for":              {before: "web 1.2.3", only: []string{"api"}, changed: true, after: "api 2.3.4, web 1.2.3", says: "api 2.x - 2.3.4", not: "web"},
		"the other is asked for":        {only: []string{"web"}, changed: true, after: "web 1.3.0", says: "web 1.x - 1.3.0", not: "api"},
		"all is up to date":             {before: "api 2.3.4, web 1.3.0", after: "api 2.3.4, web 1.3.0", says: "waybill.lock is up to date: 2 of the source's charts are of repositories", not: "CHART"},
		"nothing is written":            {before: "web 1.2.3", dry: true, changed: true, after: "web 1.2.3", says: "web 1.x 1.2.3 1.3.0"},
		"nothing is written anew":       {dry: true, changed: true, says: "web 1.x - 1.3.0"},
		"a broken lock":                 {before: broken, changed: true, after: "api 2.3.4, web 1.3.0", says: "web 1.x - 1.3.0"},
		"one that nothing names":        {before: "api 2.3.4, old 3.4.5, web 1.3.0", changed: true, after: "api 2.3.4, web 1.3.0", says: "old 3.x 3.4.5 -", not: "web"},
		"one that something may name":   {before: "api 2.3.4, old 3.4.5, web 1.2.3", more: "kind: [", changed: true, after: "api 2.3.4, old 3.4.5, web 1.3.0", says: "more.yaml:2: error", not: "api"},
		"an exact version is judged": {
			before: "api 2.3.4, forged 1.2.3, web 1.2.3", more: exactly, judged: true, changed: true, after: "api 2.3.4, exact 1.2.3, web 1.2.3", says: "web 1.2.3 1.2.3 1.2.3 (another archive)",
		},
		"nothing may be named besides": {before: "api 2.3.4, web 1.2.3", more: "kind: [", changed: true, after: "api 2.3.4, web 1.3.0", says: "web 1.x 1.2.3 1.3.0", not: "kept"},
	} {
		t.Run(name, func(t *testing.T) {
			file, u, out, at := answering(t, tt.more)
			parse := func(text string) lock.Lock {
				var l lock.Lock
				for part := range strings.SplitSeq(text, ", ") {
					if name, version, ok := strings.Cut(part, " "); ok {
						e := entry(name, version[:1]+".x", version)
						if name == "exact" || name == "forged" {
							e.Name, e.Constraint = "web", version
						}
						e.Repository, e.URL = at, at+"/"+e.Name+"-"+version+".tgz"
						if name != "forged" {
							e.Digest = digestOf(archived(t, e.Name, version))
						}
						l = l.With(e)
					}
				}
				return l
			}
			before := parse(tt.before).Encode()
			if tt.before == broken {
				before = []byte(broken)
			}
			if err := os.WriteFile(file, before, 0o600); err != nil {
				t.Fatal(err)
			}
			if tt.before == "" {
				if err := os.Remove(file); err != nil {
					t.Fatal(err)
				}
			}
			u.Only, u.Judged, u.Dry = tt.only, tt.judged, tt.dry
			changed, err := u.Run(t.Context())
			if err != nil || changed != tt.changed || u.Failure() != nil {
				t.Errorf("changed is %t, the error %v, and the failure %v", changed, err, u.Failure())
			}
			said := strings.Join(strings.Fields(out.String()), " ")
			if !strings.Contains(said, tt.says) || tt.not != "" && strings.Contains(said, tt.not) {
				t.Errorf("it says %q, want %q, and not %q", said, tt.says, tt.not)
			}
			after, err := os.ReadFile(file)
			want := string(parse(tt.after).Encode())
			if tt.after == "" {
				want = ""
			}
			if string(after) != want || (tt.after == "") != os.IsNotExist(err) {
				t.Errorf("locked is\n%s\nwant\n%s\n%v", after, want, err)
			}
		})
	}
}

// TestTheLastChartIsTakenOut of a lock, and where there is none nothing is written.
func TestTheLastChartIsTakenOut(t *testing.T) {
	for _, isLocked := range []bool{true, false} {
		file, _, u, out := locking(t, "", old)
		repo := twin.New("fleet")
		repo.Write("main", "a change", twin.Tree{"README": twin.File(nil)}.Folder())
		var err error
		if u.Source, err = repo.Snapshot(t.Context(), "main", ""); err != nil {
			t.Fatal(err)
		}
		if !isLocked {
			if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
		}
		changed, err := u.Run(t.Context())
		if changed != isLocked || err != nil || strings.Contains(out.String(), "up to date: 0 of") == isLocked {
			t.Errorf("locked %t: changed is %t, the error %v; it says %q", isLocked, changed, err, out)
		}
		if after, err := os.ReadFile(file); string(after) != map[bool]string{true: string(lock.Lock{}.Encode())}[isLocked] || (err == nil) != isLocked {
			t.Errorf("locked %t: locked is %s: %v", isLocked, after, err)
		}
	}
}

// TestALockThatCannotBeOpenedIsAnError, and nothing is written.
func TestALockThatCannotBeOpenedIsAnError(t *testing.T) {
	file, u, out, _ := answering(t, "")
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(file, 0o700); err != nil {
		t.Fatal(err)
	}
	if changed, err := u.Run(t.Context()); changed || err == nil || out.Len() > 0 {
		t.Errorf("changed is %t, the error %v; it says %q", changed, err, out)
	}
}

func digestOf(data []byte) string { return fmt.Sprintf("sha256:%x", sha256.Sum256(data)) }
