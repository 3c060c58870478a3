package render_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/test/twin"
)

func TestASourceListsTheChartsOfRepositories(t *testing.T) {
	const head = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n"
	tests := []struct {
		name  string
		files twin.Texts
		want  []string
	}{
		{
			name:  "that a kustomization lists",
			files: twin.Texts{"a/kustomization.yaml": head + "helmCharts:\n- {name: x, repo: 'https://charts.example.com', version: 1.2.3}\n- {name: v, repo: 'oci://r.example.com/c'}\n"},
			want:  []string{"helm https://charts.example.com/x 1.2.3", "oci oci://r.example.com/c/v"},
		},
		{
			name:  "that a kustomization lists in the old way",
			files: twin.Texts{"kustomization.yaml": head + "helmChartInflationGenerator:\n- {chartName: x, chartRepoUrl: 'https://charts.example.com', chartVersion: 1.2.3}\n"},
			want:  []string{"helm https://charts.example.com/x 1.2.3"},
		},
		{
			name: "but not those beside it",
			files: twin.Texts{
				"a/kustomization.yaml":              head + "helmCharts:\n- {name: x, repo: 'https://charts.example.com', version: 1.2.3}\n- {name: v}\n",
				"a/charts/x-1.2.3/x/Chart.yaml":     "apiVersion: v2\nname: x\nversion: 1.2.3\n",
				"a/charts/v/Chart.yaml":             "apiVersion: v2\nname: v\nversion: 1.2.3\n",
				"a/charts/v/templates/_nothing.tpl": "",
			},
		},
		{
			name: "that a chart depends on, as its lock pins them",
			files: twin.Texts{
				"c/Chart.yaml": "apiVersion: v2\nname: c\nversion: 1.0.0\ndependencies:\n- {name: x, version: 1.x, repository: 'https://charts.example.com'}\n- {name: v, version: 2.x, repository: 'https://charts.example.com'}\n- {name: z, version: 1.x, repository: 'file://../z'}\n",
				"c/Chart.lock": "dependencies:\n- {name: x, version: 1.4.2, repository: 'https://charts.example.com'}\n",
			},
			want: []string{"helm https://charts.example.com/x 1.4.2", "helm https://charts.example.com/v 2.x"},
		},
		{
			name: "but not what it brings along, in whatever form",
			files: twin.Texts{
				"c/Chart.yaml":            "apiVersion: v2\nname: c\nversion: 1.0.0\ndependencies:\n- {name: x, version: 1.x, repository: 'https://charts.example.com'}\n- {name: v, version: 2.x, repository: 'https://charts.example.com'}\n",
				"c/charts/x-1.0.0.tgz":    "",
				"c/charts/why/Chart.yaml": "apiVersion: v2\nname: v\nversion: 2.0.0\ndependencies:\n- {name: deep, version: 1.x, repository: 'https://charts.example.com'}\n",
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			src, err := render.Load(t.Context(), tt.files, render.With{})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, r := range src.Charts {
				got = append(got, string(r.Kind)+" "+r.String())
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}
