package helm_test

import (
	"errors"
	"io/fs"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/render/helm"
)

// chartWith is a chart with some more files.
func chartWith(files map[string]string) fstest.MapFS {
	out := fstest.MapFS{}
	for name, text := range files {
		out[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return out
}

// TestMissingDependencies lists what a chart needs from repositories, and does not bring along.
func TestMissingDependencies(t *testing.T) {
	const needs = "apiVersion: v2\nname: web\nversion: 1.0.0\ndependencies:\n- {name: redis, version: 18.x, repository: 'https://charts.example.com'}\n"
	redis := helm.Dependency{Name: "redis", Repository: "https://charts.example.com", Version: "18.x"}
	locked := redis
	locked.Version = "18.1.5"
	for _, tt := range []struct {
		name  string
		files map[string]string
		want  []helm.Dependency
	}{
		{"what is not there", map[string]string{"Chart.yaml": needs}, []helm.Dependency{redis}},
		{"with the version of the lock", map[string]string{"Chart.yaml": needs, "Chart.lock": "dependencies:\n- {name: redis, version: 18.1.5, repository: 'https://charts.example.com'}\n"}, []helm.Dependency{locked}},
		{"which is of another repository", map[string]string{"Chart.yaml": needs, "Chart.lock": "dependencies:\n- {name: redis, version: 18.1.5, repository: 'https://other.example.com'}\n"}, []helm.Dependency{redis}},
		{"which is of another chart", map[string]string{"Chart.yaml": needs, "Chart.lock": "dependencies:\n- {name: rediss, version: 18.1.5, repository: 'https://charts.example.com'}\n"}, []helm.Dependency{redis}},
		{"a lock that cannot be read", map[string]string{"Chart.yaml": needs, "Chart.lock": "dependencies: [\n"}, []helm.Dependency{redis}},
		{"a folder of that name", map[string]string{"Chart.yaml": needs, "charts/redis/Chart.yaml": "name: redis\n"}, nil},
		{"a folder of another name with that chart", map[string]string{"Chart.yaml": needs, "charts/cache/Chart.yaml": "name: redis\n"}, nil},
		{"a folder with another chart", map[string]string{"Chart.yaml": needs, "charts/cache/Chart.yaml": "name: cache\n"}, []helm.Dependency{redis}},
		{"a package", map[string]string{"Chart.yaml": needs, "charts/redis-18.1.5.tgz": ""}, nil},
		{"a package of a pre-release", map[string]string{"Chart.yaml": needs, "charts/redis-18.1.5-rc.1+b.2.tgz": ""}, nil},
		{"a package of a chart that begins so", map[string]string{"Chart.yaml": needs, "charts/redis-cluster-9.0.1.tgz": ""}, []helm.Dependency{redis}},
		{"a folder of a chart that begins so", map[string]string{"Chart.yaml": needs, "charts/redis-cluster/Chart.yaml": "name: redis-cluster\n"}, []helm.Dependency{redis}},
		{"a file that is no package", map[string]string{"Chart.yaml": needs, "charts/redis-18.1.5.txt": ""}, []helm.Dependency{redis}},
		{"a file without an end that is called as one", map[string]string{"Chart.yaml": needs, "charts/redis-18.1.5": ""}, []helm.Dependency{redis}},
		{"what has no repository is in the chart", map[string]string{"Chart.yaml": "name: web\ndependencies:\n- {name: redis}\n-\n- {repository: 'https://charts.example.com'}\n"}, nil},
		{"two, in their order", map[string]string{"Chart.yaml": needs + "- {name: db, version: '1', repository: 'file://../db'}\n"}, []helm.Dependency{redis, {Name: "db", Repository: "file://../db", Version: "1"}}},
		{"no chart", map[string]string{"values.yaml": "a: b"}, nil},
		{"a chart that cannot be read", map[string]string{"Chart.yaml": "dependencies: [\n"}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := helm.MissingDependencies(chartWith(tt.files))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// lost is a chart of which one file cannot be read.
type lost struct {
	fstest.MapFS

	name string
}

var errLost = errors.New("the disk is away")

func (l lost) ReadFile(name string) ([]byte, error) {
	if name == l.name {
		return nil, errLost
	}
	return fs.ReadFile(l.MapFS, name)
}

// TestWhatCannotBeReadIsNotMissing: nobody knows then what the chart needs.
func TestWhatCannotBeReadIsNotMissing(t *testing.T) {
	files := chartWith(map[string]string{"Chart.yaml": "name: web\ndependencies: [{name: redis, repository: 'https://charts.example.com'}]\n", "Chart.lock": "{}"})
	for _, name := range []string{"Chart.yaml", "Chart.lock"} {
		if got, err := helm.MissingDependencies(lost{files, name}); !errors.Is(err, errLost) || got != nil {
			t.Errorf("%s cannot be read: %v, %v", name, got, err)
		}
	}
}
