package render

import (
	"fmt"

	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/sources"
)

// A ConfigError says that a source's config has a mistake, for which nothing of the source
// is published.
type ConfigError struct{ Diagnostic diag.Diagnostic }

func (e *ConfigError) Error() string {
	return fmt.Sprintf("%s; nothing is published until it is mended", e.Diagnostic)
}

// ReadConfig reads the config of a source. One with a mistake is an error.
func ReadConfig(s sources.Snapshot) (ConfigSpec, error) {
	config, diags, err := ConfigOf(s)
	if err != nil {
		return config, err
	}
	if len(diags) > 0 {
		return config, &ConfigError{Diagnostic: diags[0]}
	}
	return config, nil
}
