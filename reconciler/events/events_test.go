package events_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/waybill-dev/waybill/reconciler/events"
)

func TestWhatDoesNotFitIsCut(t *testing.T) {
	for name, test := range map[string]struct{ message, want string }{
		"it fits":                  {strings.Repeat("a", 1024), strings.Repeat("a", 1024)},
		"a byte too many":          {strings.Repeat("a", 1025), strings.Repeat("a", 1021) + "..."},
		"the cut is in a letter":   {strings.Repeat("a", 1020) + "üüü", strings.Repeat("a", 1020) + "..."},
		"the cut is after letters": {strings.Repeat("a", 1019) + "üüü", strings.Repeat("a", 1019) + "ü..."},
	} {
		t.Run(name, func(t *testing.T) {
			for isWarning, is := range map[bool]events.Event{
				false: events.Normal("eu", "Applied", "%s", test.message), true: events.Warning("eu", "Applied", "%s", test.message),
			} {
				if want := (events.Event{Cluster: "eu", Warning: isWarning, Reason: "Applied", Message: test.want}); is != want {
					t.Errorf("%+v, want %+v", is, want)
				}
				if !utf8.ValidString(is.Message) {
					t.Error("the message is not UTF-8")
				}
			}
		})
	}
}
