package engines_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/render/engine"
	"github.com/waybill-dev/waybill/render/engine/engines"
	"github.com/waybill-dev/waybill/render/helm"
	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/sources/lock"
)

// chart is the files of a chart that says its name and one value.
func chart(into map[string][]byte, dir, dependencies string) {
	name := dir[strings.LastIndexByte(dir, '/')+1:]
	into[dir+"/Chart.yaml"] = []byte("apiVersion: v2\nname: " + name + "\nversion: 1.0.0\n" + dependencies)
	into[dir+"/templates/cm.yaml"] = []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + "}\ndata: {v: {{ .Values.v | default \"none\" }}}\n")
}

func TestDependenciesComeFromTheLockAndFromFoldersBeside(t *testing.T) {
	remote := lock.Ref{Kind: lock.Helm, Repository: "https://charts.example.com/", Name: "far", Constraint: "1.x"}
	tests := []struct {
		name, dependencies string
		want, wrong        string
	}{
		{
			name:         "a folder beside, and what that depends on",
			dependencies: "dependencies: [{name: near, version: 1.x, repository: 'file://../near'}]\n",
			want:         "app=none near=5 beside=none",
		},
		{
			name:         "a repository",
			dependencies: "dependencies: [{name: far, version: 1.x, repository: 'https://charts.example.com'}]\n",
			want:         "app=none far=none",
		},
		{
			name:         "one that is not wanted",
			dependencies: "dependencies: [{name: far, version: 1.x, repository: 'https://charts.example.com', condition: far.enabled}]\n",
			want:         "app=none",
		},
		{
			name:         "another version is not in the lock",
			dependencies: "dependencies: [{name: far, version: 2.x, repository: 'https://charts.example.com'}]\n",
			wrong:        "apps/app/Chart.yaml: the dependency https://charts.example.com/far 2.x is neither in charts/ nor in waybill.lock; run waybill update",
		},
		{
			name:         "a folder outside",
			dependencies: "dependencies: [{name: near, version: 1.x, repository: 'file://../../../near'}]\n",
			wrong:        `the dependency near is at "file://../../../near", which is outside of the source`,
		},
		{
			name:         "a name of a repository that only one machine knows",
			dependencies: "dependencies: [{name: near, version: 1.x, repository: '@mine'}]\n",
			wrong:        `"@mine" is no URL of a repository`,
		},
		{
			name:         "a chart that needs itself",
			dependencies: "dependencies: [{name: app, version: 1.x, repository: 'file://../app'}]\n",
			wrong:        "nested over 10 deep",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			files := map[string][]byte{}
			chart(files, "apps/app", tt.dependencies)
			chart(files, "apps/near", "dependencies: [{name: beside, version: 1.x, repository: 'file://../beside'}]\n")
			files["apps/near/values.yaml"] = []byte("v: 5\n")
			chart(files, "apps/beside", "")
			chart(files, engine.ChartDir+"/far", "")
			for name, data := range files { // as it is mounted
				if rest, ok := strings.CutPrefix(name, engine.ChartDir+"/far/"); ok {
					files[engine.ChartDir+"/"+engine.ChartFolder(remote)+"/"+rest] = data
				}
			}
			values := helm.NewValues(map[string]any{})
			if strings.Contains(tt.dependencies, "condition") {
				values = helm.NewValues(map[string]any{"far": map[string]any{"enabled": false}})
			}
			job, err := json.Marshal(engine.Job{Helm: &engine.Helm{Chart: engine.Chart{Path: "apps/app"}, Release: helm.Release{Name: "r", Values: values}}})
			if err != nil {
				t.Fatal(err)
			}
			out, err := engines.Run(job, sources.Tree(files))
			if err != nil {
				t.Fatal(err)
			}
			r, err := engine.Decode(out)
			if err != nil {
				t.Fatal(err)
			}
			if tt.wrong != "" {
				if len(r.Diags) != 1 || !strings.Contains(r.Diags[0].Message, tt.wrong) {
					t.Errorf("it says %v; want %s", r.Diags, tt.wrong)
				}
				return
			}
			got := map[string]string{}
			for _, m := range r.Manifests {
				data, _ := m.Object.Content()["data"].(map[string]any)
				b, _ := json.Marshal(data["v"])
				got[m.Object.Ref().Name] = strings.Trim(string(b), `"`)
			}
			if len(r.Diags) > 0 || len(got) != len(strings.Fields(tt.want)) {
				t.Fatalf("it rendered to %v, %v; want %s", got, r.Diags, tt.want)
			}
			for w := range strings.FieldsSeq(tt.want) {
				if name, v, _ := strings.Cut(w, "="); got[name] != v {
					t.Errorf("%s has %q; want %q", name, got[name], v)
				}
			}
		})
	}
}
