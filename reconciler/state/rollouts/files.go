package rollouts

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// document is the file of a unit.
type document struct {
	metav1.TypeMeta `json:",inline"`

	Metadata metadata `json:"metadata"`
	Spec     Strategy `json:"spec"`
	Status   Status   `json:"status"`
}

type metadata struct {
	Name      string `json:"name"`
	Namespace string `json:"namespace,omitempty"`
}

// stageDocument is the file of a stage.
type stageDocument struct {
	Clusters map[string]Cluster `json:"clusters"`
}

const suffix = ".yaml"

// Encode returns the files of a record by their paths below rollouts/: that of its unit, and one for each
// stage that has clusters. Equal records give equal bytes.
func Encode(r *Rollout) (map[string][]byte, error) {
	d := document{
		TypeMeta: metav1.TypeMeta{APIVersion: APIVersion, Kind: Kind}, Metadata: metadata{r.Unit.Name, r.Unit.Namespace},
		Spec: r.Strategy, Status: r.Status,
	}
	all := map[string][]byte{}
	var err error
	if all[r.Unit.String()+suffix], err = yaml.Marshal(d); err != nil {
		return nil, fmt.Errorf("writing the roll-out of %s: %w", r.Unit, err)
	}
	stages := map[string]stageDocument{}
	for _, name := range slices.Sorted(maps.Keys(r.Clusters)) {
		c := r.Clusters[name]
		if stages[c.Stage].Clusters == nil {
			stages[c.Stage] = stageDocument{map[string]Cluster{}}
		}
		stages[c.Stage].Clusters[name] = c
	}
	for name, s := range stages {
		if all[r.Unit.String()+"/"+name+suffix], err = yaml.Marshal(s); err != nil {
			return nil, fmt.Errorf("writing the stage %s of the roll-out of %s: %w", name, r.Unit, err)
		}
	}
	return all, nil
}

// PathOf says whose file a path below rollouts/ is: that of a unit, or of one of its stages. It is false for
// a path that is neither.
func PathOf(path string) (u Unit, stage string, ok bool) {
	path, isFile := strings.CutSuffix(path, suffix)
	parts := strings.Split(path, "/")
	if !isFile || len(parts) < 2 || len(parts) > 3 || slices.Contains(parts, "") {
		return Unit{}, "", false
	}
	if len(parts) == 3 {
		stage = parts[2]
	}
	switch u.Name = parts[1]; parts[0] {
	case groupFolder:
		u.IsGroup = true
	case clusterFolder:
	default:
		u.Namespace = parts[0]
	}
	return u, stage, true
}

// Decode reads the record of a unit from its file and those of its stages, by their names. A field that nobody
// knows is an error: a later version wrote it, and what it means is not known.
func Decode(u Unit, unit []byte, stages map[string][]byte) (*Rollout, error) {
	var d document
	if err := yaml.UnmarshalStrict(unit, &d); err != nil {
		return nil, fmt.Errorf("reading the roll-out of %s: %w", u, err)
	}
	switch {
	case d.APIVersion != APIVersion || d.Kind != Kind:
		return nil, fmt.Errorf("reading the roll-out of %s: %s %s is none", u, d.APIVersion, d.Kind)
	case d.Metadata != metadata{u.Name, u.Namespace}:
		return nil, fmt.Errorf("reading the roll-out of %s: it is that of %s in %q", u, d.Metadata.Name, d.Metadata.Namespace)
	}
	r := &Rollout{Unit: u, Strategy: d.Spec, Status: d.Status}
	for _, name := range slices.Sorted(maps.Keys(stages)) {
		var s stageDocument
		if err := yaml.UnmarshalStrict(stages[name], &s); err != nil {
			return nil, fmt.Errorf("reading the stage %s of the roll-out of %s: %w", name, u, err)
		}
		for cluster, c := range s.Clusters {
			if _, twice := r.Clusters[cluster]; twice {
				return nil, fmt.Errorf("reading the roll-out of %s: cluster %s is in two stages", u, cluster)
			}
			if r.Clusters == nil {
				r.Clusters = map[string]Cluster{}
			}
			c.Stage = name
			r.Clusters[cluster] = c
		}
	}
	return r, nil
}
