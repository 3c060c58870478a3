package forge_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/sources/forge"
	"github.com/waybill-dev/waybill/sources/forge/forgetest"
)

// line is the first of what Say says of the fleet.
const line = "<!-- waybill: fleet -->\n"

// refusing is a forge that fails calls, by the names of their methods, and has the names of those that write.
func refusing(failures map[string]int) (*forgetest.Fake, *[]string) {
	f, wrote := forgetest.NewFake(), []string{}
	f.Fail = func(method string) error {
		if method != "Comments" {
			wrote = append(wrote, method)
		}
		if status := failures[method]; status != 0 {
			return &forge.Error{Status: status}
		}
		return nil
	}
	return f, &wrote
}

// TestWhatSayDoes: which calls write, by what is there and what is refused.
func TestWhatSayDoes(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		there    []string // comments of ours
		failures map[string]int
		want     []string // calls that write
		status   int      // of the error; 0: it is said
	}{
		"nothing is there":                  {want: []string{"Comment"}},
		"it is said already":                {there: []string{line + "one"}, want: []string{}},
		"a forge that ends lines otherwise": {there: []string{"<!-- waybill: fleet -->\r\none"}, want: []string{}},
		"something else is said":            {there: []string{line + "two"}, want: []string{"EditComment"}},
		"another source says something":     {there: []string{"<!-- waybill: fleets -->\none"}, want: []string{"Comment"}},
		"it is said twice":                  {there: []string{line + "one", line + "two"}, want: []string{"DeleteComment"}},
		"the second is gone":                {there: []string{line + "one", line + "two"}, failures: map[string]int{"DeleteComment": 404}, want: []string{"DeleteComment"}},
		"the second stays":                  {there: []string{line + "two", line + "two"}, failures: map[string]int{"DeleteComment": 403}, want: []string{"DeleteComment"}, status: 403},
		"editing is refused":                {there: []string{line + "two"}, failures: map[string]int{"EditComment": 403}, want: []string{"EditComment"}, status: 403},
		"commenting is refused":             {failures: map[string]int{"Comment": 403}, want: []string{"Comment"}, status: 403},
		"the forge is down":                 {failures: map[string]int{"Comment": 502}, want: []string{"Comment", "Comment", "Comment", "Comment"}, status: 502},
		"reading is refused":                {failures: map[string]int{"Comments": 403}, want: []string{}, status: 403},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, wrote := refusing(tt.failures)
			for _, body := range tt.there {
				f.SayAs(forgetest.Waybill, body)
			}
			said, err := forge.Say(t.Context(), f, forgetest.Number, "fleet", "one")
			e, _ := errors.AsType[*forge.Error](err)
			if (tt.status == 0) != (err == nil) || err != nil && (e == nil || e.Status != tt.status) || err == nil && said.Body != line+"one" {
				t.Errorf("it said %+v, %v; want %d", said, err, tt.status)
			}
			if !slices.Equal(*wrote, tt.want) {
				t.Errorf("it called %v, want %v", *wrote, tt.want)
			}
		})
	}
}

// TestACommentThatGoesWhileItIsEdited is made anew.
func TestACommentThatGoesWhileItIsEdited(t *testing.T) {
	t.Parallel()
	f := forgetest.NewFake()
	ours := f.SayAs(forgetest.Waybill, line+"two")
	f.Fail = func(method string) error {
		if method != "EditComment" {
			return nil
		}
		f.Fail = nil
		return f.DeleteComment(t.Context(), forgetest.Number, ours.ID)
	}
	said, err := forge.Say(t.Context(), f, forgetest.Number, "fleet", "one")
	all, _ := f.Comments(t.Context(), forgetest.Number)
	if err != nil || len(all) != 1 || said.ID == ours.ID || said.ID != all[0].ID || all[0].Body != line+"one" {
		t.Errorf("it said %+v, %v; there are %+v", said, err, all)
	}
}

// deleted is a forge where whatever is said is gone a moment later.
type deleted struct{ *forgetest.Fake }

func (deleted) Comments(context.Context, int) ([]forge.Comment, error) { return nil, nil }

// TestWhatSomebodyDeletes is an error, and is not said for ever.
func TestWhatSomebodyDeletes(t *testing.T) {
	t.Parallel()
	f, wrote := refusing(nil)
	if _, err := forge.Say(t.Context(), deleted{f}, forgetest.Number, "fleet", "one"); !says(err, "does somebody delete it?") || len(*wrote) != 4 {
		t.Errorf("said %d times: %v", len(*wrote), err)
	}
}

// TestErrorsAreTold: what is gone is not there, and what was refused is not what failed.
func TestErrorsAreTold(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]struct{ gone, forbidden, refused bool }{
		0: {}, 301: {}, 399: {}, 400: {refused: true}, 403: {refused: true, forbidden: true}, 404: {refused: true, gone: true},
		410: {refused: true, gone: true}, 499: {refused: true}, 500: {}, 503: {},
	} {
		e := &forge.Error{Status: status}
		if errors.Is(e, forge.ErrNotFound) != want.gone || errors.Is(e, forge.ErrForbidden) != want.forbidden || e.IsRefusal() != want.refused {
			t.Errorf("%d %s is taken for something else than %+v", status, http.StatusText(status), want)
		}
	}
	for status, want := range map[int]string{
		400: "; the forge does not take what was sent", 422: "; the forge does not take what was sent", 418: "", 429: "", 500: "; the forge has a failure of its own", 505: "; the forge has a failure of its own",
	} {
		got := (&forge.Error{Status: status, Doing: "doing", Host: "host"}).Error()
		if text := fmt.Sprintf("doing at host: %d: %s", status, strings.ToLower(http.StatusText(status))); !strings.HasPrefix(got, text+want) || want == "" && got != text {
			t.Errorf("of %d it says %q", status, got)
		}
	}
}

// A comment that is as long as forges take is made, and a longer one is not tried.
func TestACommentThatIsTooLong(t *testing.T) {
	t.Parallel()
	for length, isSaid := range map[int]bool{forge.MaxBody: true, forge.MaxBody + 1: false} {
		f := forgetest.NewFake()
		said, err := forge.Say(t.Context(), f, forgetest.Number, "fleet", strings.Repeat("a", length))
		all, _ := f.Comments(t.Context(), forgetest.Number)
		if (err == nil) != isSaid || (len(all) == 1) != isSaid || isSaid && len(said.Body) <= length {
			t.Errorf("of %d bytes it is %v, and there are %d comments", length, err, len(all))
		}
	}
}
