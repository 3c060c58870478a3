package compare_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path"

	"github.com/waybill-dev/waybill/render/engine"
)

// renders does a job with no engine: it renders to the files of the folder, or of the templates of the chart, in which ${name} stands for
// a value of the release. Names that hold secrets are not refused.
func renders(job []byte, files fs.FS) ([]byte, error) {
	var j engine.Job
	if err := json.Unmarshal(job, &j); err != nil {
		return nil, err
	}
	var dir string
	value := func(string) string { return "" }
	if j.Kustomize != nil {
		dir = j.Kustomize.Dir
	} else {
		dir = path.Join(j.Helm.Chart.Path, "templates")
		value = func(name string) string { return fmt.Sprint(j.Helm.Release.Values[name]) }
	}
	names, err := fs.Glob(files, dir+"/*.yaml")
	if err != nil {
		return nil, err
	}
	var out engine.Output
	for _, name := range names {
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, err
		}
		out.Documents = append(out.Documents, engine.Document{Data: []byte(os.Expand(string(text), value))})
	}
	return json.Marshal(out)
}
