package build

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// published makes a source with the chart shop 1.0.0, locks and publishes it, then has
// the repository offer what it offers after change, forgets the charts that are kept,
// and commits something that has nothing to do with charts.
func published(t *testing.T, shelf *server, url string, change func()) *fleet {
	t.Helper()
	f := newFleet(t, source(url, "1.0.0"), shelf.URL)
	f.lock()
	f.publish().exits(0)
	f.holds("eu", shopFile, "chart: shop-1.0.0")
	change()
	f.forget()
	f.commit(map[string]string{"beside.yaml": beside("two")})
	return f
}

// forget removes the charts that are kept.
func (f *fleet) forget() {
	f.t.Helper()
	if err := os.RemoveAll(filepath.Join(f.cache, "waybill", "charts")); err != nil {
		f.t.Fatal(err)
	}
}

// held checks that a publication holds the release, which stays as it was published,
// and says why; and that what has nothing to do with it goes on.
func (f *fleet) held(parts ...string) {
	f.t.Helper()
	f.publish().exits(1, append(parts, "chart-unavailable")...)
	for _, cluster := range []string{"eu", "us"} {
		f.holds(cluster, shopFile, "chart: shop-1.0.0")
		f.holds(cluster, besideFile, "value: two")
	}
}

// text answers with bytes whatever is asked.
func text(data []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(data) }
}

func TestAnArchiveThatIsNotTheLockedOneIsHeld(t *testing.T) {
	t.Parallel()
	shelf := newFiles(t, "1.0.0")
	f := published(t, shelf.server, shelf.URL, func() {
		other := shop("shop", "1.0.0")
		other.Raw[0].Data = []byte("currency: XXX\ncluster: evil\n")
		shelf.add(other)
	})
	f.waybill("verify", "waybill/cluster/eu", "--to", f.bare).exits(2, "could not be rebuilt: ", "the archive is not the one that is locked")
	f.held("the archive is not the one that is locked")
	f.waybill("validate", ".").exits(1, "chart-unavailable")
	f.waybill("update", ".", "--check").exits(1, "1.0.0   1.0.0 (another archive)")
}

func TestABlobThatIsNotTheLockedOneIsHeld(t *testing.T) {
	t.Parallel()
	r := newRegistry(t)
	r.push("charts", shop("shop", "1.0.0"))
	f := published(t, r.server, "oci://"+r.host()+"/charts", func() { r.answers(text([]byte("something else"))) })
	f.held("the archive is not the one that is locked")
}

func TestAServerThatIsGone(t *testing.T) {
	t.Parallel()
	shelf := newFiles(t, "1.0.0")
	f := published(t, shelf.server, shelf.URL, shelf.Close)
	f.waybill("verify", "waybill/cluster/eu", "--to", f.bare).exits(2, "waybill/cluster/eu at ", "could not be rebuilt: ", "connection refused").lacks("is not what")
	f.held("connection refused")
	f.waybill("update", ".", "--check").exits(2, "connection refused")
}

func TestARegistryThatIsGone(t *testing.T) {
	t.Parallel()
	r := newRegistry(t)
	r.push("charts", shop("shop", "1.0.0"))
	f := published(t, r.server, "oci://"+r.host()+"/charts", r.Close)
	f.held("connection refused")
}

func TestWhatIsKeptNeedsNoServer(t *testing.T) {
	t.Parallel()
	shelf := newFiles(t, "1.0.0")
	f := newFleet(t, source(shelf.URL, "1.x"), shelf.URL)
	f.lock()
	shelf.Close()
	f.waybill("validate", ".").exits(0)
	f.publish().exits(0)
	f.holds("eu", shopFile, "chart: shop-1.0.0")
	f.waybill("verify", "waybill/cluster/eu", "--to", f.bare).exits(0)
}

// What is kept is believed for its digest only.
func TestWhatIsKeptAndWasChangedIsFetchedAgain(t *testing.T) {
	t.Parallel()
	shelf := newFiles(t, "1.0.0")
	f := newFleet(t, source(shelf.URL, "1.x"), shelf.URL)
	f.lock()
	kept, err := filepath.Glob(filepath.Join(f.cache, "waybill", "charts", "*.tgz"))
	if err != nil || len(kept) != 1 {
		t.Fatal(kept, err)
	}
	if err := os.WriteFile(kept[0], []byte("no archive"), 0o600); err != nil {
		t.Fatal(err)
	}
	f.publish().exits(0)
	f.holds("eu", shopFile, "chart: shop-1.0.0")
}

// A machine on which nothing can be kept asks for each chart anew.
func TestWithNowhereToKeepCharts(t *testing.T) {
	t.Parallel()
	shelf := newFiles(t, "1.0.0")
	f := newFleet(t, source(shelf.URL, "1.x"), shelf.URL)
	if err := os.WriteFile(f.cache, nil, 0o600); err != nil { // where the folder would be
		t.Fatal(err)
	}
	f.lock()
	shelf.takeAsked()
	f.publish().exits(0)
	f.holds("eu", shopFile, "chart: shop-1.0.0")
	if asked := shelf.takeAsked(); len(asked) == 0 {
		t.Error("the server was not asked, so something was kept after all")
	}
}

func TestARedirectToAHostThatIsNotListedIsRefused(t *testing.T) {
	t.Parallel()
	shelf, elsewhere := newFiles(t, "1.0.0"), newFiles(t, "1.0.0")
	away := func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, elsewhere.URL+r.URL.Path, http.StatusFound)
	}
	f := published(t, shelf.server, shelf.URL, func() { shelf.answers(away) })
	f.held(elsewhere.URL + " may not be asked")
	f.waybill("update", ".").exits(2, elsewhere.URL+" may not be asked")
	if asked := elsewhere.takeAsked(); asked != nil {
		t.Errorf("it was asked %v", asked)
	}
	f.flags = append(f.flags, "--chart-host", elsewhere.URL)
	f.publish().exits(0)
}

func TestAPrivateAddressIsRefusedUnlessItsRangeIsNamed(t *testing.T) {
	t.Parallel()
	shelf := newFiles(t, "1.0.0")
	f := published(t, shelf.server, shelf.URL, func() {})
	shelf.takeAsked()
	f.flags = []string{"--chart-host", shelf.URL}
	f.held("127.0.0.1 is not public; name its range to allow it")
	f.flags = []string{"--chart-host", shelf.URL, "--chart-private", "10.0.0.0/8"}
	f.held("127.0.0.1 is not public")
	f.flags = []string{"--chart-private", "127.0.0.0/8"}
	f.held("http is only used for a host that is in the list of allowed hosts")
	if asked := shelf.takeAsked(); asked != nil {
		t.Errorf("it was asked %v", asked)
	}
}

// archive packs files by their names, in order: name, content, name, content.
func archive(t *testing.T, files ...string) []byte {
	t.Helper()
	var out bytes.Buffer
	zipped := gzip.NewWriter(&out)
	w := tar.NewWriter(zipped)
	for i := 0; i < len(files); i += 2 {
		if err := w.WriteHeader(&tar.Header{Name: files[i], Mode: 0o644, Size: int64(len(files[i+1]))}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(files[i+1])); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := zipped.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// An archive that must not be unpacked is refused by update, and by publish even if the
// lock file names it, for that may be written by hand.
func TestAnArchiveThatMustNotBeUnpacked(t *testing.T) {
	t.Parallel()
	const meta = "apiVersion: v2\nname: shop\nversion: 1.0.0\n"
	for name, c := range map[string]struct {
		archive []byte
		says    string
	}{
		"path traversal": {archive(t, "shop/Chart.yaml", meta, "shop/../../../evil.yaml", "x: y"), "no clean relative path"},
		"absolute path":  {archive(t, "shop/Chart.yaml", meta, "/tmp/evil.yaml", "x: y"), "no clean relative path"},
		"one large file": {archive(t, "shop/Chart.yaml", meta, "shop/large", strings.Repeat("x", 6<<20)), "bytes"},
		"bomb":           {archive(t, "shop/Chart.yaml", meta, "shop/a", strings.Repeat("x", 4<<20), "shop/b", strings.Repeat("x", 4<<20)), "times its size"},
		"over the cap":   {bytes.Repeat([]byte("x"), 21<<20), "more than the 20971520 bytes"},
		"no chart":       {archive(t, "shop/values.yaml", "x: y"), "no Chart.yaml"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			shelf := newFiles(t, "1.0.0")
			f := published(t, shelf.server, shelf.URL, func() {
				if err := os.WriteFile(filepath.Join(shelf.dir, "shop-1.0.0.tgz"), c.archive, 0o600); err != nil {
					t.Fatal(err)
				}
				index := fmt.Sprintf("apiVersion: v1\nentries:\n  shop:\n  - {name: shop, version: 1.0.0, digest: %s, urls: [shop-1.0.0.tgz]}\n", digest(c.archive))
				if err := os.WriteFile(filepath.Join(shelf.dir, "index.yaml"), []byte(index), 0o600); err != nil {
					t.Fatal(err)
				}
			})
			f.waybill("update", ".").exits(2, c.says)
			old := f.read("waybill.lock")
			_, rest, _ := strings.Cut(old, "sha256:")
			f.commit(map[string]string{"waybill.lock": strings.Replace(old, rest[:64], digest(c.archive), 1)})
			f.held(c.says)
			if evil, _ := filepath.Glob(filepath.Join(filepath.Dir(f.dir), "*", "evil.yaml")); evil != nil {
				t.Errorf("it wrote %v", evil)
			}
		})
	}
}

// A cluster that joins while a chart cannot be had gets the rest; the release follows
// when the chart is back.
func TestAClusterThatJoinsWhileAChartIsGone(t *testing.T) {
	t.Parallel()
	shelf := newFiles(t, "1.0.0")
	f := published(t, shelf.server, shelf.URL, func() { shelf.answers(http.NotFound) })
	f.commit(map[string]string{"ap.yaml": "apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: ap}\nspec: {syncMode: Pull, region: ap}\n"})
	f.held("404")
	f.holds("ap", besideFile, "value: two")
	if files := f.exec(f.bare, "git", "ls-tree", "-r", "--name-only", "waybill/cluster/ap"); strings.Contains(files, shopFile) {
		t.Errorf("the new cluster has %s", files)
	}
	shelf.answers(nil)
	f.publish().exits(0)
	f.holds("ap", shopFile, "chart: shop-1.0.0")
}

// What a server cannot answer for the moment is asked again.
func TestAServerThatIsBusyForAMoment(t *testing.T) {
	t.Parallel()
	shelf := newFiles(t, "1.0.0")
	f := newFleet(t, source(shelf.URL, "1.x"), shelf.URL)
	var answered atomic.Bool
	shelf.answers(func(w http.ResponseWriter, r *http.Request) {
		if !answered.Swap(true) {
			w.Header().Set("Retry-After", "0")
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		shelf.usual.ServeHTTP(w, r)
	})
	f.lock()
	f.locked("version: 1.0.0")
}
