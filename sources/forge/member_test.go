package forge_test

import (
	"net/http"
	"testing"

	"github.com/waybill-dev/waybill/sources/forge"
	"github.com/waybill-dev/waybill/sources/forge/forgetest"
)

// TestOfMember: the head of a pull request is a member's where its branch in the repository is at it, unless
// the forge tells that its author may not write.
func TestOfMember(t *testing.T) {
	t.Parallel()
	const head, other = "1111111111111111111111111111111111111111", "2222222222222222222222222222222222222222"
	bot := forge.User{ID: 9, Login: "renovate[bot]", Bot: true}
	for name, tt := range map[string]struct {
		author      forge.User
		branch, tip string
		fork        bool
		refusal     int // the status with which the forge answers what the author may do
		want        bool
	}{
		"a writer's branch":                        {author: forgetest.Writer, branch: "change", tip: head, want: true},
		"a bot that is no collaborator":            {author: bot, branch: "change", tip: head, want: true},
		"an account that is gone":                  {branch: "change", tip: head, want: true},
		"a forge that does not tell":               {author: forgetest.Writer, branch: "change", tip: head, refusal: http.StatusForbidden, want: true},
		"a reader's request for a member's branch": {author: forgetest.Reader, branch: "change", tip: head},
		"a fork": {author: forgetest.Writer, fork: true},
		"a fork whose branch has a namesake here": {author: forgetest.Writer, branch: "change", tip: head, fork: true},
		"a head that is on no branch (AGit)":      {author: forgetest.Reader, branch: "refs/pull/7/head"},
		"a namesake at another commit":            {author: forgetest.Writer, branch: "change", tip: other},
		"neither a branch nor a head":             {author: forgetest.Writer},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := forgetest.NewFake()
			f.Fail = func(string) error {
				if tt.refusal == 0 {
					return nil
				}
				return &forge.Error{Status: tt.refusal}
			}
			p := forge.PullRequest{Number: 7, Head: head, Branch: tt.branch, Fork: tt.fork, Author: tt.author}
			if got, err := forge.OfMember(t.Context(), f, &p, tt.tip); got != tt.want || err != nil {
				t.Errorf("a member's: %t, %v; want %t", got, err, tt.want)
			}
		})
	}
	f := forgetest.NewFake()
	f.Fail = func(string) error { return &forge.Error{Status: http.StatusBadGateway} }
	p := forge.PullRequest{Head: head, Branch: "change", Author: forgetest.Writer}
	if member, err := forge.OfMember(t.Context(), f, &p, head); member || err == nil {
		t.Errorf("a forge that is down says: %t, %v", member, err)
	}
}
