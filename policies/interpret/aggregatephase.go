package interpret

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
)

// worst returns the first phase of order that some cluster reports; a cluster
// without a report is Pending. It is nil where no cluster has a phase of order.
func worst(reports []report, order ...string) any {
	have := map[string]bool{}
	for _, r := range reports {
		phase := stringAt(r.status, "phase")
		if r.status == nil {
			phase = "Pending"
		}
		have[phase] = true
	}
	for _, phase := range order {
		if have[phase] {
			return phase
		}
	}
	return nil
}

func podStatus(template map[string]any, reports []report) (map[string]any, error) {
	return withStatus(template, map[string]any{
		"phase":                 worst(reports, "Failed", "Pending", "Running", "Succeeded"),
		"containerStatuses":     containers(reports, "containerStatuses"),
		"initContainerStatuses": containers(reports, "initContainerStatuses"),
	}), nil
}

// containers joins lists of container statuses, each cut down to whether it is
// ready and what it does. It is nil where there are none.
func containers(reports []report, field string) any {
	var all []any
	for _, r := range reports {
		for _, item := range listAt(r.status, field) {
			c, _ := item.(map[string]any)
			short := map[string]any{}
			for _, key := range []string{"ready", "state"} {
				if v := c[key]; v != nil {
					short[key] = v
				}
			}
			all = append(all, short)
		}
	}
	if all == nil {
		return nil
	}
	return all
}

func volumePhase(template map[string]any, reports []report) (map[string]any, error) {
	phase := worst(reports, "Failed", "Pending", "Available", "Bound", "Released")
	return withStatus(template, map[string]any{"phase": phase}), nil
}

// claimPhase is Lost if the claim is lost anywhere, and else the last phase that is
// not Bound.
func claimPhase(template map[string]any, reports []report) (map[string]any, error) {
	phase := "Bound"
	for _, r := range reports {
		if reported := stringAt(r.status, "phase"); reported != "" && reported != "Bound" {
			phase = reported
		}
		if phase == "Lost" {
			break
		}
	}
	return withStatus(template, map[string]any{"phase": phase}), nil
}

func serviceAddresses(template map[string]any, reports []report) (map[string]any, error) {
	if !isLoadBalancer(template) {
		return template, nil
	}
	return addresses(template, reports)
}

// addresses unites the addresses of load balancers, sorted by IP and host name.
func addresses(template map[string]any, reports []report) (map[string]any, error) {
	type address struct{ ip, hostname, json string }
	known := map[address]any{}
	for _, r := range reports {
		for _, item := range listAt(r.status, "loadBalancer", "ingress") {
			text, err := json.Marshal(item)
			if err != nil {
				return nil, inCluster(r, fmt.Errorf("reading .loadBalancer.ingress: %w", err))
			}
			m, _ := item.(map[string]any)
			known[address{stringAt(m, "ip"), stringAt(m, "hostname"), string(text)}] = item
		}
	}
	order := make([]address, 0, len(known))
	for a := range known {
		order = append(order, a)
	}
	slices.SortFunc(order, func(a, b address) int {
		return cmp.Or(cmp.Compare(a.ip, b.ip), cmp.Compare(a.hostname, b.hostname), cmp.Compare(a.json, b.json))
	})
	balancer := map[string]any{}
	if len(order) > 0 {
		list := make([]any, len(order))
		for i, a := range order {
			list[i] = known[a]
		}
		balancer["ingress"] = list
	}
	return withStatus(template, map[string]any{"loadBalancer": balancer}), nil
}
