package state

import (
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/applying"
	"github.com/waybill-dev/waybill/render/exchange"
	"github.com/waybill-dev/waybill/sources/files"
)

// Terms are what of a source's config whoever applies its branches goes by.
type Terms struct {
	BranchPrefix string         `json:"branchPrefix"`
	Branch       string         `json:"branch,omitempty"` // the one that clusters share; empty: each has one
	Formerly     []string       `json:"formerly,omitempty"`
	Guard        render.Guard   `json:"guard"`
	Apply        applying.Apply `json:"apply"`
	Health       render.Health  `json:"health,omitzero"`
	// Services are the zero value where endpoints are off.
	Services exchange.Services `json:"services,omitzero"`
}

// TermsOf returns the terms of a config.
func TermsOf(c *render.ConfigSpec) Terms {
	t := Terms{BranchPrefix: c.Publish.BranchPrefix, Branch: c.Publish.Addresses().Shared, Formerly: c.Publish.Formerly, Guard: c.Guard, Apply: c.Apply, Health: c.Health}
	if t.Health.Prefer == render.HealthBoth {
		t.Health.Prefer = "" // as it was before it could be said
	}
	if c.Services.Endpoints != exchange.Off {
		t.Services = c.Services
	}
	return t
}

// Addresses are those at which clusters are published.
func (t *Terms) Addresses() render.Addresses {
	if t.Branch != "" {
		return render.Addresses{Shared: t.Branch}
	}
	return render.Addresses{Prefix: t.BranchPrefix}
}

// isDefault reports the terms of a source without a config, of which no file is written.
func (t *Terms) isDefault() bool {
	none := render.DefaultConfig()
	return reflect.DeepEqual(*t, TermsOf(&none))
}

// ReadTerms reads the terms from the state branch's folder.
func ReadTerms(root *files.Folder) (Terms, error) {
	none := render.DefaultConfig()
	t := TermsOf(&none)
	e, ok := root.Lookup(termsFile)
	if !ok || e.Blob == nil {
		return t, nil
	}
	data, err := e.Blob.Bytes()
	if err == nil {
		t = Terms{}
		err = json.Unmarshal(data, &t)
	}
	if err != nil {
		return t, fmt.Errorf("reading %s of %s: %w", termsFile, Branch, err)
	}
	return t, nil
}
