package build_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/waybill-dev/waybill/render/helm"
	"github.com/waybill-dev/waybill/render/helm/build"
)

// member is an entry of a package.
type member struct {
	name, data string
	kind       byte // 0 for a regular file
}

func pack(t *testing.T, members ...member) string {
	t.Helper()
	var out bytes.Buffer
	zipped := gzip.NewWriter(&out)
	archive := tar.NewWriter(zipped)
	for _, m := range members {
		header := &tar.Header{Name: m.name, Mode: 0o644, Typeflag: m.kind, Size: int64(len(m.data))}
		if m.kind == 0 {
			header.Typeflag = tar.TypeReg
		}
		if m.kind == tar.TypeSymlink || m.kind == tar.TypeLink {
			header.Linkname, header.Size = "/etc/passwd", 0
		}
		if err := archive.WriteHeader(header); err != nil {
			t.Fatal(err)
		}
		if _, err := archive.Write([]byte(m.data)); err != nil && header.Size > 0 {
			t.Fatal(err)
		}
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	if err := zipped.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

const subChart = "apiVersion: v2\nname: s\nversion: 1.0.0\n"

func TestPackagedSubCharts(t *testing.T) {
	inner := pack(t, member{name: "in/Chart.yaml", data: "apiVersion: v2\nname: in\nversion: 1.0.0\n"}, member{name: "in/templates/z.yaml", data: "z: 1\n"})
	packed := pack(t,
		member{name: "s/", kind: tar.TypeDir},
		member{name: "s/Chart.yaml", data: subChart},
		member{name: "s/charts/in-1.0.0.tgz", data: inner},
		member{name: "s/templates/y.yaml", data: "y: {{ .Chart.Name }}\n"})
	fsys := files(line("1"))
	fsys["charts/s-1.0.0.tgz"] = &fstest.MapFile{Data: []byte(packed)}
	out, err := build.Template(fsys, helm.Release{Name: "r"})
	if err != nil {
		t.Fatal(err)
	}
	want := "# c/charts/s/charts/in/templates/z.yaml\nz: 1\n# c/charts/s/templates/y.yaml\ny: s\n# c/templates/x.yaml\nx: 1\n"
	if got := show(out); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestHostilePackages(t *testing.T) {
	chart := member{name: "s/Chart.yaml", data: subChart}
	many := []member{chart}
	for i := range 10_001 {
		many = append(many, member{name: fmt.Sprintf("s/f/%d", i)})
	}
	tests := []struct {
		name, pack, want string
	}{
		{"no archive", "nonsense", "reading charts/s.tgz"},
		{"a symbolic link", pack(t, chart, member{name: "s/l", kind: tar.TypeSymlink}), `"s/l" is no regular file`},
		{"a hard link", pack(t, chart, member{name: "s/l", kind: tar.TypeLink}), `"s/l" is no regular file`},
		{"a device", pack(t, chart, member{name: "s/d", kind: tar.TypeChar}), `"s/d" is no regular file`},
		{"a name that leads out", pack(t, chart, member{name: "s/../../x"}), `"s/../../x" is no name`},
		{"an absolute name", pack(t, chart, member{name: "/s/x"}), `"/s/x" is no name`},
		{"a name with backslashes", pack(t, chart, member{name: `s\..\x`}), "is no name"},
		{"a name with a control character", pack(t, chart, member{name: "s/a\nb"}), "is no name"},
		{"a name outside the folder", pack(t, member{name: "Chart.yaml", data: subChart}), `"Chart.yaml" is not in the folder`},
		{"a name twice", pack(t, chart, member{name: "s/x"}, member{name: "s/x"}), `"s/x" and "s/x" are one file`},
		{"a name twice but for case", pack(t, chart, member{name: "s/x"}, member{name: "s/X"}), `"s/x" and "s/X" are one file`},
		{"many files", pack(t, many...), "a chart may have 10000 files"},
		{"a large file", pack(t, chart, member{name: "s/x", data: strings.Repeat("a", 5<<20+1)}), "a file of a chart may have 5242880"},
		{"a bomb", pack(t, chart, member{name: "s/x", data: strings.Repeat("a", 5<<20)}), "expands to more than 100 times its size"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			fsys := files(line("1"))
			fsys["charts/s.tgz"] = &fstest.MapFile{Data: []byte(tt.pack)}
			_, err := build.Load(fsys)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want an error with %q", err, tt.want)
			}
		})
	}
}

func TestHostileFolders(t *testing.T) {
	deep := strings.Repeat("charts/a/", 11)
	tests := []struct {
		name string
		add  func(fstest.MapFS)
		want string
	}{
		{"a symbolic link", func(f fstest.MapFS) { f["l"] = &fstest.MapFile{Data: []byte("x"), Mode: fs.ModeSymlink} }, "l is no regular file"},
		{"a pipe", func(f fstest.MapFS) { f["templates/p"] = &fstest.MapFile{Mode: fs.ModeNamedPipe} }, "templates/p is no regular file"},
		{"a name with a backslash", func(f fstest.MapFS) { f[`a\b`] = &fstest.MapFile{} }, "is no name"},
		{"a large file", func(f fstest.MapFS) { f["x"] = &fstest.MapFile{Data: make([]byte, 5<<20+1)} }, "x has 5242881 bytes"},
		{"many files", func(f fstest.MapFS) {
			for i := range 10_001 {
				f[fmt.Sprint("f/", i)] = &fstest.MapFile{}
			}
		}, "a chart may have 10000 files"},
		{"too much", func(f fstest.MapFS) {
			data := make([]byte, 5<<20)
			for i := range 21 {
				f[fmt.Sprint("f/", i)] = &fstest.MapFile{Data: data}
			}
		}, "may have 104857600 bytes together"},
		{"charts in charts", func(f fstest.MapFS) { f[deep+"x"] = &fstest.MapFile{} }, "in more than 10 charts"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			fsys := files(line("1"))
			tt.add(fsys)
			_, err := build.Load(fsys)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want an error with %q", err, tt.want)
			}
		})
	}
}

func TestMuchOutput(t *testing.T) {
	_, err := template("-- templates/x.yaml --\n{{ range until 5001 }}---\nx: {{ . }}\n{{ end }}", helm.Release{})
	if want := "5001 manifests; 5000 is the limit"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %q", err, want)
	}
	_, err = template("-- templates/x.yaml --\nx: {{ repeat 52428801 \"a\" }}\n", helm.Release{})
	if want := "52428800 is the limit"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %q", err, want)
	}
}
