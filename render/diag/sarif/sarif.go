// Package sarif writes diagnostics as a log of the Static Analysis Results Interchange
// Format, version 2.1.0 (OASIS standard), which the code scanning of GitHub, and others,
// read. It writes what they ask for and no more: one run, its rules, and for each
// diagnostic a result with one location.
package sarif

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/diag"
)

const (
	schema  = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
	project = "https://github.com/waybill-dev/waybill"
	codes   = project + "/blob/main/docs/diagnostics.md"
	root    = "%SRCROOT%" // what readers take for the root of the repository
)

// The types are the part of the format that is written, by its names.
type (
	log struct {
		Schema  string `json:"$schema"`
		Version string `json:"version"`
		Runs    []run  `json:"runs"`
	}
	run struct {
		Tool    tool     `json:"tool"`
		Results []result `json:"results"`
	}
	tool struct {
		Driver driver `json:"driver"`
	}
	driver struct {
		Name           string `json:"name"`
		Version        string `json:"version,omitempty"`
		InformationURI string `json:"informationUri"`
		Rules          []rule `json:"rules"`
	}
	rule struct {
		ID    string `json:"id"`
		Short text   `json:"shortDescription"`
		Full  text   `json:"fullDescription"`
		Help  text   `json:"help"`
		URI   string `json:"helpUri"`
	}
	text struct {
		Text string `json:"text"`
	}
	result struct {
		RuleID    string     `json:"ruleId"`
		RuleIndex int        `json:"ruleIndex"`
		Level     string     `json:"level"`
		Message   text       `json:"message"`
		Locations []location `json:"locations"`
	}
	location struct {
		Physical physical `json:"physicalLocation"`
	}
	physical struct {
		Artifact artifact `json:"artifactLocation"`
		Region   region   `json:"region"`
	}
	artifact struct {
		URI    string `json:"uri"`
		BaseID string `json:"uriBaseId"`
	}
	region struct {
		StartLine int `json:"startLine"`
	}
)

// Encode returns the log of diagnostics of the source in a folder of a repository, as a
// version of Waybill found them. Readers want a place for each: the first line for a whole
// file, and waybill.yaml for what is about no file.
func Encode(version, folder string, ds []diag.Diagnostic) ([]byte, error) {
	rules, index := rulesOf(ds)
	r := run{Tool: tool{driver{"Waybill", version, project, rules}}, Results: []result{}}
	for _, d := range ds {
		message := d.Message
		if d.Hint != "" {
			message += "\nhint: " + d.Hint
		}
		at := url.URL{Path: path.Join(folder, cmp.Or(d.Pos.File, render.ConfigFile))}
		r.Results = append(r.Results, result{
			RuleID: string(d.Code), RuleIndex: index[string(d.Code)], Level: level(d.Severity), Message: text{message},
			Locations: []location{{physical{artifact{at.String(), root}, region{max(d.Pos.Line, 1)}}}},
		})
	}
	data, err := json.MarshalIndent(log{schema, "2.1.0", []run{r}}, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encoding diagnostics as SARIF: %w", err)
	}
	return append(data, '\n'), nil
}

// rulesOf returns a rule for each code, in their order, and where they are.
func rulesOf(ds []diag.Diagnostic) (rules []rule, index map[string]int) {
	index = map[string]int{}
	for _, d := range ds {
		index[string(d.Code)] = 0
	}
	rules = []rule{}
	for i, code := range slices.Sorted(maps.Keys(index)) {
		index[code] = i
		words := strings.ReplaceAll(code, "-", " ")
		rules = append(rules, rule{code, text{words}, text{words}, text{codes + " explains " + code + "."}, codes})
	}
	return rules, index
}

func level(s diag.Severity) string {
	if s == diag.Notice {
		return "note"
	}
	return s.String()
}
