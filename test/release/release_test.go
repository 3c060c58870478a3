//go:build e2e

package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/validate"
)

// released are the files of a release for one platform, made in one folder of a machine.
func released(t *testing.T) (string, map[string][]byte) {
	t.Helper()
	t.Setenv("TMPDIR", t.TempDir()) // where it builds
	out := filepath.Join(t.TempDir(), "dist")
	if err := release(t.Context(), "../..", "HEAD", out, []platform{{"linux", runtime.GOARCH}}); err != nil {
		t.Fatal(err)
	}
	members, err := tree(out)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for _, m := range members {
		files[m.name] = m.data
	}
	return out, files
}

// TestReleaseIsReproducible makes the release of the newest commit twice, in two folders, and looks at
// what is in it.
func TestReleaseIsReproducible(t *testing.T) {
	dir, first := released(t)
	_, second := released(t)
	if len(first) != 4 || len(second) != len(first) {
		t.Fatalf("there are %d files, and then %d", len(first), len(second))
	}
	for name, data := range first {
		if !bytes.Equal(data, second[name]) {
			t.Errorf("%s is another one the second time", name)
		}
	}
	for name, data := range first {
		switch {
		case strings.HasSuffix(name, ".tar.gz"):
			archived(t, data)
		case strings.HasSuffix(name, ".cdx.json"):
			listed(t, data)
		case strings.HasSuffix(name, "_image.tar"):
			imaged(t, filepath.Join(dir, name))
		case name == sums:
			summed(t, data, first)
		default:
			t.Errorf("%s is there", name)
		}
	}
}

// archived looks at an archive: the program runs, and names its commit.
func archived(t *testing.T, data []byte) {
	t.Helper()
	zip, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for r := tar.NewReader(zip); ; {
		h, err := r.Next()
		if err != nil {
			break
		}
		names = append(names, h.Name)
		if h.Name != "waybill" {
			continue
		}
		binary := filepath.Join(t.TempDir(), "waybill")
		content, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(binary, content, 0o755); err != nil {
			t.Fatal(err)
		}
		commit, err := exec.Command("git", "rev-parse", "--short=12", "HEAD").Output()
		if err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command(binary, "version").CombinedOutput()
		tagged := exec.Command("git", "describe", "--exact-match", "--tags", "HEAD").Run() == nil
		if err != nil || !tagged && !strings.Contains(string(out), strings.TrimSpace(string(commit))) {
			t.Errorf("its version is %s (%v), and the commit is %s", out, err, commit)
		}
		info, err := buildinfo.Read(bytes.NewReader(content))
		if err != nil || slices.ContainsFunc(info.Settings, func(s debug.BuildSetting) bool { return s.Key == "vcs.modified" && s.Value != "false" }) {
			t.Errorf("it was not built from the commit alone (%v)", err)
		}
	}
	for _, want := range []string{"waybill", "LICENSE", "README.md", "CHANGELOG.md", "man/man1/waybill-publish.1"} {
		if !slices.Contains(names, want) {
			t.Errorf("the archive has no %s", want)
		}
	}
}

// listed looks at the list of materials: the modules of go.mod, and the authorities, which the image
// has from nowhere else.
func listed(t *testing.T, data []byte) {
	t.Helper()
	var b bill
	if err := json.Unmarshal(data, &b); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, c := range b.Components {
		names = append(names, c.Name)
		if c.Version == "" || c.URL == "" {
			t.Errorf("%s has no version or no purl", c.Name)
		}
	}
	for _, want := range []string{"stdlib", "helm.sh/helm/v3", "github.com/go-git/go-git/v5", "golang.org/x/crypto/x509roots/fallback"} {
		if !slices.Contains(names, want) {
			t.Errorf("%s is not on the list", want)
		}
	}
}

// imaged unpacks the image and has go-containerregistry hold every digest against its content.
func imaged(t *testing.T, file string) {
	t.Helper()
	dir := t.TempDir()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for r := tar.NewReader(bytes.NewReader(data)); ; {
		h, err := r.Next()
		if err != nil {
			break
		}
		name := filepath.Join(dir, h.Name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	top, err := layout.ImageIndexFromPath(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := validate.Index(top); err != nil {
		t.Fatal(err)
	}
	config := configOf(t, top)
	if config.Config.User != nobody || config.OS != "linux" || config.Architecture != runtime.GOARCH || !slices.Equal(config.Config.Entrypoint, []string{"/waybill"}) {
		t.Errorf("its config is %+v", config)
	}
}

// configOf is the config of the only image below an index.
func configOf(t *testing.T, top v1.ImageIndex) *v1.ConfigFile {
	t.Helper()
	manifest, err := top.IndexManifest()
	if err != nil || len(manifest.Manifests) != 1 {
		t.Fatal(manifest, err)
	}
	digest := manifest.Manifests[0].Digest
	if below, err := top.ImageIndex(digest); err == nil {
		return configOf(t, below)
	}
	image, err := top.Image(digest)
	if err != nil {
		t.Fatal(err)
	}
	config, err := image.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	return config
}

// summed checks each file against its sum.
func summed(t *testing.T, data []byte, files map[string][]byte) {
	t.Helper()
	n := 0
	for line := range strings.Lines(string(data)) {
		want, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "  ")
		if got := sha256.Sum256(files[name]); hex.EncodeToString(got[:]) != want {
			t.Errorf("%s has another sum", name)
		}
		n++
	}
	if n != len(files)-1 {
		t.Errorf("%d of %d files have a sum", n, len(files)-1)
	}
}

// TestFolderOfOthersIsLeftAlone holds that -out empties nothing but what a release wrote.
func TestFolderOfOthersIsLeftAlone(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "thesis.txt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := anew(dir); err == nil {
		t.Error("it was emptied")
	}
	if _, err := os.Stat(filepath.Join(dir, "thesis.txt")); err != nil {
		t.Error(err)
	}
}
