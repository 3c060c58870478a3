package updating

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/cmd/waybill/forgeflags"
	"github.com/waybill-dev/waybill/sources/forge"
	"github.com/waybill-dev/waybill/sources/git"
)

// ControllerFlags are the flags of a controller that looks for new versions, with a credential of its own.
type ControllerFlags struct {
	On bool

	tokenFile string
	forge     *forgeflags.Flags
}

// AddControllerFlags adds the flags to those of the controller, and of its forge.
func AddControllerFlags(cmd *cobra.Command, f *forgeflags.Flags) *ControllerFlags {
	k, flags := &ControllerFlags{forge: f}, cmd.Flags()
	flags.BoolVar(&k.On, "updates", false, "look for new versions of images and charts, as updates of waybill.yaml says; see docs/updates.md")
	flags.StringVar(&k.tokenFile, "updates-token-file", "", "with --updates: file with the token that pull requests are opened with at --forge (default $WAYBILL_UPDATES_TOKEN, or the password of --updates-password-file)")
	return k
}

// Forge opens the forge with a token that is for updates alone: what --updates-token-file says, else what pushes. It is nil where
// no forge is named.
func (f *ControllerFlags) Forge(push git.Auth) (forge.Proposer, error) {
	if f.forge.Kind == "" {
		return nil, nil
	}
	token := cmp.Or(os.Getenv("WAYBILL_UPDATES_TOKEN"), push.Password)
	if f.tokenFile != "" {
		data, err := os.ReadFile(f.tokenFile)
		if err != nil {
			return nil, fmt.Errorf("reading --updates-token-file: %w", err)
		}
		token = strings.TrimSpace(string(data))
	}
	if token == "" {
		return nil, errors.New("--updates has a credential of its own, and there is no token for the forge; give one with --updates-token-file, $WAYBILL_UPDATES_TOKEN or --updates-password-file")
	}
	return f.forge.OpenedBy(token)
}
