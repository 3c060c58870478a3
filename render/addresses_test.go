package render_test

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/test/twin"
)

// TestWhereAClusterIsPublished: on a branch of its own, or in a folder of one that clusters share; how that is said, read again and undone.
func TestWhereAClusterIsPublished(t *testing.T) {
	type said struct{ Text, Words, Path, Removal, Cluster, Noun, All string }
	for _, tt := range []struct {
		all  render.Addresses
		want said
	}{
		{render.Addresses{Prefix: "waybill/cluster/"}, said{
			"waybill/cluster/eu", "branch waybill/cluster/eu", "manifests/a.yaml",
			"delete the branch: git push REMOTE --delete waybill/cluster/eu", "eu", "branch", "branches that begin with waybill/cluster/",
		}},
		{render.Addresses{Shared: "waybill/clusters"}, said{
			"waybill/clusters:eu", "folder eu of branch waybill/clusters", "eu/manifests/a.yaml",
			"remove the folder from the branch waybill/clusters: git rm -r eu", "eu", "folder", "folders of branch waybill/clusters",
		}},
	} {
		a := tt.all.Of("eu")
		got := said{a.String(), a.Words(), a.Path("manifests/a.yaml"), a.Removal(), a.Cluster(), tt.all.Noun(), tt.all.Words()}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Error(diff)
		}
		if again := render.ParseAddress(a.String()); again != a {
			t.Errorf("%s is read as %+v", a, again)
		}
		if cluster, ok := tt.all.Cluster(a.String()); !ok || cluster != "eu" {
			t.Errorf("%s is of %q, %t", a, cluster, ok)
		}
		for other, is := range map[string]bool{a.Branch: true, "main": false, "waybill/state": false} {
			if tt.all.Has(other) != is {
				t.Errorf("clusters are published on %s: %t", other, !is)
			}
		}
		if cluster, ok := tt.all.Cluster("waybill/state"); ok {
			t.Errorf("the state is of %q", cluster)
		}
	}
	config := render.DefaultConfig()
	if all := config.Publish.Addresses(); all != (render.Addresses{Prefix: "waybill/cluster/"}) {
		t.Errorf("at first they are %+v", all)
	}
	config.Publish.Layout = render.LayoutFolders
	if all := config.Publish.Addresses(); all != (render.Addresses{Shared: "waybill/clusters"}) {
		t.Errorf("in folders they are %+v", all)
	}
}

// TestWhichBranchesPeopleMayName: one that is in the way of none that Waybill has, neither above nor below it.
func TestWhichBranchesPeopleMayName(t *testing.T) {
	config := render.DefaultConfig()
	for _, tt := range []struct{ layout, branch, want string }{
		{render.LayoutBranches, "deploy", ""},
		{render.LayoutBranches, "waybill/clusters", ""},
		{render.LayoutBranches, "waybill/cluster", "branchPrefix, waybill/cluster/"},
		{render.LayoutBranches, "", "which is no name of a branch"},
		{render.LayoutFolders, "deploy", ""},
		{render.LayoutFolders, "waybill/clusters", "which is in the way of spec.publish.branch, waybill/clusters"},
		{render.LayoutFolders, "waybill/clusters/eu", "which is in the way of spec.publish.branch, waybill/clusters"},
		{render.LayoutFolders, "waybill/clusters-2", ""},
		{render.LayoutFolders, "waybill/observed/x", "which is in the way of waybill/observed"},
	} {
		config.Publish.Layout = tt.layout
		if got := config.Publish.BranchProblem(tt.branch); (got == "") != (tt.want == "") || !strings.HasSuffix(got, tt.want) {
			t.Errorf("with %s %q: %q, want %q", tt.layout, tt.branch, got, tt.want)
		}
	}
	config.Publish.Layout, config.Publish.Branch = render.LayoutFolders, "fleet/all"
	if got := config.Publish.BranchProblem("fleet"); got != "which is in the way of spec.publish.branch, fleet/all" {
		t.Errorf("above the branch of all: %q", got)
	}
}

// TestWhatAChangeMayNotSettleItself until it is merged: whose changes are looked at, plain Secrets, and what the guard lets through; what
// it makes stricter counts.
func TestWhatAChangeMayNotSettleItself(t *testing.T) {
	guard := func(removed, percent int, protect ...string) render.Guard {
		return render.Guard{MaxRemoved: removed, MaxRemovedPercent: percent, Protect: protect}
	}
	spec := func(forks, secrets string, g render.Guard, namespaces string) *render.ConfigSpec {
		c := render.DefaultConfig()
		c.Previews.Forks, c.Secrets, c.Guard, c.Namespaces = forks, secrets, g, namespaces
		return &c
	}
	to := spec(render.ForksApproved, render.SecretsRefuse, guard(10, 20, "Namespace"), render.NamespacesUsed)
	open := spec(render.ForksApproved, render.SecretsAllow, guard(10, 20, "Namespace"), render.NamespacesUsed)
	for _, tt := range []struct {
		name     string
		from, to *render.ConfigSpec
		want     *render.ConfigSpec
		later    []string
	}{
		{"nothing", to, to, to, nil},
		{"what is not about that", spec(render.ForksApproved, render.SecretsRefuse, to.Guard, render.NamespacesAll), to, nil, nil},
		{"forks", spec(render.ForksOpen, render.SecretsRefuse, to.Guard, render.NamespacesUsed), to, to, []string{"previews"}},
		{"plain Secrets", open, to, to, []string{"secrets"}},
		{"no more plain Secrets", to, open, to, nil},
		{"plain Secrets that there are", open, open, open, nil},
		{
			"more removals", spec(render.ForksApproved, render.SecretsRefuse, guard(11, 20, "Namespace"), render.NamespacesUsed), to, to,
			[]string{"guard"},
		},
		{
			"a larger part", spec(render.ForksApproved, render.SecretsRefuse, guard(10, 21, "Namespace"), render.NamespacesUsed), to, to,
			[]string{"guard"},
		},
		{
			"a kind that was protected", spec(render.ForksApproved, render.SecretsRefuse, guard(10, 20), render.NamespacesUsed), to, to,
			[]string{"guard"},
		},
		{
			"a stricter guard", spec(render.ForksApproved, render.SecretsRefuse, guard(5, 0, "Namespace", "Job"), render.NamespacesUsed), to,
			nil, nil,
		},
		{
			"a guard that is stricter in one thing", spec(render.ForksOpen, render.SecretsAllow, guard(5, 50, "Job"), render.NamespacesAll), to,
			spec(render.ForksApproved, render.SecretsRefuse, guard(5, 20, "Job", "Namespace"), render.NamespacesAll),
			[]string{
				"previews",
				"secrets", "guard",
			},
		},
	} {
		if tt.want == nil {
			tt.want = tt.from
		}
		before := slices.Clone(tt.from.Guard.Protect)
		got, later := tt.from.Proposed(tt.to)
		if diff := cmp.Diff(*tt.want, got); diff != "" || !slices.Equal(later, tt.later) {
			t.Errorf("%s: later count %q, want %q\n%s", tt.name, later, tt.later, diff)
		}
		if !slices.Equal(before, tt.from.Guard.Protect) {
			t.Errorf("%s: what the change says is another thing then: %q", tt.name, tt.from.Guard.Protect)
		}
	}
}

// away is a snapshot of which no file can be read.
type away struct{ twin.Texts }

var errAway = errors.New("the disk is away")

func (away) ReadFile(string) ([]byte, error) { return nil, errAway }

// TestAConfigThatCannotBeReadIsAnError, and so is one with a mistake; where there is none the defaults count.
func TestAConfigThatCannotBeReadIsAnError(t *testing.T) {
	config := func(spec string) twin.Texts {
		return twin.Texts{render.ConfigFile: configHead + "spec: " + spec + "\n"}
	}
	for name, tt := range map[string]struct {
		from sources.Snapshot
		want string // the namespaces, or the error
	}{
		"there is none":     {twin.Texts{}, render.NamespacesUsed},
		"it says something": {config("{namespaces: all}"), render.NamespacesAll},
		"a mistake":         {config("{namespaces: some}"), "want one of used, all, none"},
		"it is away":        {away{config("{}")}, "reading waybill.yaml: the disk is away"},
	} {
		c, err := render.ReadConfig(tt.from)
		got := c.Namespaces
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, tt.want) {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
		_, isMistake := errors.AsType[*render.ConfigError](err)
		if isMistake != (name == "a mistake") || isMistake && !strings.HasSuffix(got, "; nothing is published until it is mended") {
			t.Errorf("%s: the error is %v", name, err)
		}
		if errors.Is(err, errAway) != (name == "it is away") || errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: the error is %v", name, err)
		}
	}
}
