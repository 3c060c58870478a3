package build_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/waybill-dev/waybill/render/helm"
	"github.com/waybill-dev/waybill/render/helm/build"
)

// files makes a chart of a txtar archive. A chart without Chart.yaml gets one.
func files(text string) fstest.MapFS {
	fsys := fstest.MapFS{}
	for _, f := range txtar.Parse([]byte(text)).Files {
		fsys[f.Name] = &fstest.MapFile{Data: f.Data}
	}
	if fsys["Chart.yaml"] == nil {
		fsys["Chart.yaml"] = &fstest.MapFile{Data: []byte("apiVersion: v2\nname: c\nversion: 1.0.0\n")}
	}
	return fsys
}

// rendered is what a release of a chart renders to, with sources, as one text.
func rendered(t *testing.T, chart string, r helm.Release) string {
	t.Helper()
	out, err := template(chart, r)
	if err != nil {
		t.Fatal(err)
	}
	return show(out)
}

func template(chart string, r helm.Release) (build.Output, error) {
	if r.Name == "" {
		r.Name = "r"
	}
	return build.Template(files(chart), r)
}

func show(out build.Output) string {
	var b strings.Builder
	for _, m := range out.Manifests {
		b.WriteString("# " + m.Source + "\n" + string(m.Data))
	}
	return b.String()
}

// line is the value of x in the only manifest of a chart with this template.
func line(expression string) string {
	return "-- templates/x.yaml --\nx: {{ " + expression + " }}\n"
}
