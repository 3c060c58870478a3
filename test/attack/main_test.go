//go:build e2e

package attack

import (
	"os"
	"testing"

	"github.com/waybill-dev/waybill/test/program"
)

var binary string

func TestMain(m *testing.M) { os.Exit(program.Tests{M: m, Path: &binary}.Run()) }
