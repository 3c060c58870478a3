package main

import (
	"encoding/json"
	"fmt"
	"runtime/debug"
	"strings"
	"time"
)

// bill is a list of materials as CycloneDX 1.6 has it.
type bill struct {
	Format       string       `json:"bomFormat"`
	Spec         string       `json:"specVersion"`
	Version      int          `json:"version"`
	Metadata     metadata     `json:"metadata"`
	Components   []component  `json:"components"`
	Dependencies []dependency `json:"dependencies"`
}

type metadata struct {
	Timestamp string    `json:"timestamp"`
	Component component `json:"component"`
}

type component struct {
	Type       string     `json:"type"`
	Reference  string     `json:"bom-ref"`
	Name       string     `json:"name"`
	Version    string     `json:"version"`
	URL        string     `json:"purl"`
	Properties []property `json:"properties,omitempty"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type dependency struct {
	Reference string   `json:"ref"`
	On        []string `json:"dependsOn,omitempty"`
}

// materials lists what is in a program, as the program itself says: the modules that were linked,
// the version of Go, and how it was built.
func materials(p program, at time.Time) ([]byte, error) {
	top := module(&debug.Module{Path: p.info.Main.Path, Version: p.version()})
	top.Type = "application"
	for _, s := range p.info.Settings {
		top.Properties = append(top.Properties, property{"go:build:" + s.Key, s.Value})
	}
	b := bill{Format: "CycloneDX", Spec: "1.6", Version: 1, Metadata: metadata{at.Format(time.RFC3339), top}}
	std := module(&debug.Module{Path: "stdlib", Version: strings.TrimPrefix(p.info.GoVersion, "go")})
	b.Components = append(b.Components, std)
	for _, m := range p.info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		b.Components = append(b.Components, module(m))
	}
	on := dependency{Reference: top.Reference}
	for _, c := range b.Components {
		on.On = append(on.On, c.Reference)
	}
	b.Dependencies = []dependency{on}
	out, err := json.MarshalIndent(b, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("writing what is in the program for %s: %w", p.platform, err)
	}
	return append(out, '\n'), nil
}

// module is a Go module as a component. Its sum is that of go.sum.
func module(m *debug.Module) component {
	url := "pkg:golang/" + strings.ToLower(m.Path) + "@" + strings.ReplaceAll(m.Version, "+", "%2B")
	c := component{Type: "library", Reference: url, Name: m.Path, Version: m.Version, URL: url}
	if m.Sum != "" {
		c.Properties = []property{{"go:sum", m.Sum}}
	}
	return c
}
