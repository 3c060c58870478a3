package references

import sigsyaml "sigs.k8s.io/yaml"

// Chart is one that a kustomization lists.
type Chart struct {
	Name    string `json:"name"`
	Repo    string `json:"repo"`
	Version string `json:"version"`
}

// chartLists is what a kustomization says of charts.
type chartLists struct {
	HelmCharts  []Chart `json:"helmCharts"`
	HelmGlobals *struct {
		ChartHome string `json:"chartHome"`
	} `json:"helmGlobals"`
	Inflators []struct {
		Name    string `json:"chartName"`
		Repo    string `json:"chartRepoUrl"`
		Version string `json:"chartVersion"`
		Home    string `json:"chartHome"`
	} `json:"helmChartInflationGenerator"`
}

// Charts lists the charts of a kustomization, and the folder beside it in which they are looked for first: as Kustomize has it, what its
// helmGlobals say, and where it has none the last folder that its helmChartInflationGenerator names.
func Charts(data []byte) (all []Chart, home string) {
	var k chartLists
	if sigsyaml.Unmarshal(data, &k) != nil {
		return nil, "" // building the root says what is wrong with it
	}
	if k.HelmGlobals != nil {
		home = k.HelmGlobals.ChartHome
	}
	for _, c := range k.Inflators {
		if k.HelmGlobals == nil && c.Home != "" {
			home = c.Home
		}
		k.HelmCharts = append(k.HelmCharts, Chart{c.Name, c.Repo, c.Version})
	}
	if home == "" {
		home = "charts"
	}
	return k.HelmCharts, home
}
