package chart

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"
)

var chartYAML = file("app/Chart.yaml", "name: app\nversion: 1.0.0\n")

// zipped is any stream as gzip.
func zipped(tb testing.TB, data []byte) []byte {
	tb.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write(data); err != nil {
		tb.Fatal(err)
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return out.Bytes()
}

// unzipped undoes it.
func unzipped(tb testing.TB, data []byte) []byte {
	tb.Helper()
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		tb.Fatal(err)
	}
	var out bytes.Buffer
	if _, err := out.ReadFrom(r); err != nil {
		tb.Fatal(err)
	}
	return out.Bytes()
}

func link(kind byte, name, to string) tar.Header {
	return tar.Header{Typeflag: kind, Name: name, Linkname: to}
}

func many(n int, name, body string) []tar.Header {
	entries := []tar.Header{chartYAML}
	for i := range n {
		entries = append(entries, file(fmt.Sprintf("app/"+name, i), body))
	}
	return entries
}

func TestUnpackGivesTheFilesOfTheChart(t *testing.T) {
	for _, tt := range []struct {
		name    string
		archive []byte
		want    []string
	}{
		{"files in folders", packed(t, "app", "1.0.0"), []string{"Chart.yaml", "templates/cm.yaml", "values.yaml"}},
		{"folders have no files", tgz(t, link(tar.TypeDir, "app/", ""), link(tar.TypeDir, "app/crds/", ""), chartYAML), []string{"Chart.yaml"}},
		{"the comment of git archive is passed over", tgz(t, link(tar.TypeXGlobalHeader, "", ""), chartYAML), []string{"Chart.yaml"}},
		{"archives within are left as they are", tgz(t, chartYAML, file("app/charts/sub.tgz", "x")), []string{"Chart.yaml", "charts/sub.tgz"}},
		{"names may have spaces, dots and other scripts", tgz(t, chartYAML, file("app/a b/..c/.d/ü.txt", "")), []string{"Chart.yaml", "a b/..c/.d/ü.txt"}},
		{"long names are read", tgz(t, chartYAML, file("app/"+strings.Repeat("d/", 200)+"x", "")), []string{"Chart.yaml", strings.Repeat("d/", 200) + "x"}},
		{"what comes after the end is not read", zipped(t, append(unzipped(t, tgz(t, chartYAML)), make([]byte, 5<<20)...)), []string{"Chart.yaml"}},
		{"small archives may shrink well", tgz(t, chartYAML, file("app/x", strings.Repeat("x", 900_000))), []string{"Chart.yaml", "x"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			files, err := Unpack(tt.archive)
			if err != nil {
				t.Fatal(err)
			}
			if got := slices.Sorted(maps.Keys(files)); !slices.Equal(got, tt.want) {
				t.Errorf("the files are %q, want %q", got, tt.want)
			}
		})
	}
}

func TestUnpackRefuses(t *testing.T) {
	long := tgz(t, chartYAML, file("app/x", strings.Repeat("x", 2000)))
	big := unzipped(t, tgz(t, file("app/big", "12345678")))
	sum := 0
	copy(big[124:136], "00777777777\x00") // the size in the header: 128 MiB
	copy(big[148:156], "        ")
	for _, b := range big[:512] {
		sum += int(b)
	}
	copy(big[148:156], fmt.Sprintf("%06o\x00 ", sum))
	for _, tt := range []struct {
		name    string
		archive []byte
		want    string
	}{
		{"nothing", nil, "as gzip"},
		{"what is not zipped", []byte("apiVersion: v2"), "as gzip"},
		{"what is no tar", zipped(t, bytes.Repeat([]byte("no tar. "), 100)), "as tar"},
		{"an archive that ends early", long[:len(long)-30], "EOF"},
		{"an archive without a chart", tgz(t, file("app/values.yaml", "")), "no Chart.yaml"},
		{"an empty archive", tgz(t), "no Chart.yaml"},
		{"a chart without a folder", tgz(t, file("Chart.yaml", "")), "beside the chart's folder"},
		{"two charts", tgz(t, chartYAML, file("other/Chart.yaml", "")), "two folders"},
		{"a symbolic link", tgz(t, chartYAML, link(tar.TypeSymlink, "app/x", "/etc/passwd")), "neither a regular file"},
		{"a hard link", tgz(t, chartYAML, link(tar.TypeLink, "app/x", "app/Chart.yaml")), "neither a regular file"},
		{"a device", tgz(t, chartYAML, link(tar.TypeChar, "app/null", "")), "neither a regular file"},
		{"a pipe", tgz(t, chartYAML, link(tar.TypeFifo, "app/pipe", "")), "neither a regular file"},
		{"a folder that is a link", tgz(t, chartYAML, link(tar.TypeSymlink, "app/templates", "../..")), "neither a regular file"},
		{"a way up", tgz(t, chartYAML, file("app/../../etc/cron.d/x", "")), "no clean relative path"},
		{"a folder that goes up", tgz(t, chartYAML, link(tar.TypeDir, "../", "")), "no clean relative path"},
		{"an absolute name", tgz(t, chartYAML, file("/etc/passwd", "")), "no clean relative path"},
		{"a name with a dot", tgz(t, chartYAML, file("app/./x", "")), "no clean relative path"},
		{"a name with two slashes", tgz(t, chartYAML, file("app//x", "")), "no clean relative path"},
		{"a backslash", tgz(t, chartYAML, file(`app/..\x`, "")), "no clean relative path"},
		{"a drive", tgz(t, file("c:/Chart.yaml", "")), "no clean relative path"},
		{"a character that deletes", tgz(t, chartYAML, file("app/x\x7f", "")), "no clean relative path"},
		{"a line break", tgz(t, chartYAML, file("app/x\nerror: y", "")), "no clean relative path"},
		{"bytes that are no text", tgz(t, chartYAML, tar.Header{Name: "app/\xff", Format: tar.FormatGNU}), "no clean relative path"},
		{"a name twice", tgz(t, chartYAML, file("app/x", "1"), file("app/x", "2")), "has both"},
		{"a name in other letters", tgz(t, chartYAML, file("app/chart.YAML", "")), "has both"},
		{"a folder where a file is", tgz(t, chartYAML, file("app/x", ""), file("app/x/y", "")), "as a file and as a folder"},
		{"a file where a folder is", tgz(t, chartYAML, file("app/x/y", ""), file("app/X", "")), "has both"},
		{"too many entries", tgz(t, many(maxEntries, "%d", "")...), "more than 10000 entries"},
		{"too many folders", tgz(t, append(slices.Repeat([]tar.Header{link(tar.TypeDir, "app/", "")}, maxEntries), chartYAML)...), "more than 10000 entries"},
		{"too large a file", tgz(t, chartYAML, file("app/x", strings.Repeat("x", maxFile+1))), "are read"},
		{"a file that says it is large", zipped(t, big), "are read"},
		{"a bomb of files", tgz(t, many(5, "%d", strings.Repeat("x", 4<<20))...), "times its size"},
		{"a bomb of headers", tgz(t, many(40, strings.Repeat("n", 900_000)+"%d", "")...), "times its size"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Unpack(tt.archive)
			wantError(t, err, tt.want)
		})
	}
}

func FuzzUnpack(f *testing.F) {
	f.Add(unzipped(f, packed(f, "app", "1.0.0")))
	f.Add(unzipped(f, tgz(f, chartYAML, link(tar.TypeSymlink, "app/x", "y"), file("app/X/../z", "z"))))
	f.Fuzz(func(t *testing.T, data []byte) {
		files, err := Unpack(zipped(t, data))
		if err != nil {
			return
		}
		folded := map[string]bool{}
		for name := range files {
			if !fs.ValidPath(name) || strings.ContainsAny(name, "\\\x00") || folded[strings.ToLower(name)] {
				t.Errorf("the name %q came through", name)
			}
			folded[strings.ToLower(name)] = true
		}
	})
}
