package flux

// Cluster is what a release may learn of the cluster that it is rendered for.
type Cluster struct {
	Name, Region, Provider string
	Zones                  []string
	Labels, Annotations    map[string]string
}

// Facts lays a cluster out as valuesFrom asks for it, by valuesKey: name, region,
// provider, zone (the first one), labels.KEY and annotations.KEY.
func Facts(c Cluster) map[string]string {
	facts := map[string]string{"name": c.Name, "region": c.Region, "provider": c.Provider, "zone": ""}
	if len(c.Zones) > 0 {
		facts["zone"] = c.Zones[0]
	}
	for k, v := range c.Labels {
		facts["labels."+k] = v
	}
	for k, v := range c.Annotations {
		facts["annotations."+k] = v
	}
	return facts
}
