package helm_test

import (
	"testing"

	"github.com/waybill-dev/waybill/render/helm"
)

// What draws gives the same each time, and what finds nothing, too; functions of time do not.
func TestRestless(t *testing.T) {
	for _, tt := range []struct {
		allow []string
		want  string
	}{
		{nil, ""},
		{[]string{"lookup", "getHostByName", "randAlphaNum", "uuidv4"}, ""},
		{[]string{"genCA", "bcrypt", "upper", "no such function"}, ""},
		{[]string{"lookup", "now"}, "now"},
		{[]string{"ago"}, "ago"},
		{[]string{"durationRound", "now"}, "durationRound"},
	} {
		if got, found := helm.Restless(tt.allow); got != tt.want || found != (tt.want != "") {
			t.Errorf("%v: %q, %t, want %q", tt.allow, got, found, tt.want)
		}
	}
}
