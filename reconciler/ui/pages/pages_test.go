package pages_test

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/facts"
	"github.com/waybill-dev/waybill/reconciler/preview/store"
	"github.com/waybill-dev/waybill/reconciler/problems"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/reconciler/status"
	"github.com/waybill-dev/waybill/reconciler/status/reports"
	"github.com/waybill-dev/waybill/reconciler/ui/pages"
	"github.com/waybill-dev/waybill/render/links"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/forge"
)

// A cell of the matrix shows the replicas of its cluster: its share where they are divided, which may be none, and all of them elsewhere.
func TestReplicasInACluster(t *testing.T) {
	for _, tt := range []struct {
		name    string
		divided bool
		of      int32
		in      facts.Target
		want    string
	}{
		{"all of them", false, 5, facts.Target{Replicas: 5}, "5"},
		{"all of them, where no number is recorded", false, 5, facts.Target{}, "5"},
		{"a share", true, 5, facts.Target{Replicas: 2}, "2"},
		{"no share", true, 5, facts.Target{}, ""},
		{"it is not sent there", false, 5, facts.Target{Undecided: true}, ""},
		{"a kind without", false, 0, facts.Target{}, ""},
	} {
		tt.in.Cluster = "eu"
		f := &facts.Facts{Bindings: func() facts.Bindings {
			return facts.Bindings{Templates: []*facts.Template{{
				Ref: object.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"}, Replicas: tt.of, Divided: tt.divided, Targets: []facts.Target{tt.in},
			}}}
		}}
		f.Fleet.Clusters = []reports.Cluster{{ClusterHealth: status.ClusterHealth{Cluster: "eu"}, Registered: &karmada.Cluster{}}}
		m := pages.OfMatrix(f, &problems.List{}, url.Values{}, func(*reports.Cluster, string) map[object.Ref]*status.Object { return nil })
		if len(m.Rows) != 1 || len(m.Rows[0].Cells) != 1 || m.Rows[0].Cells[0].Shown != tt.want || strings.Contains(m.Rows[0].Cells[0].Title, "replica") != (tt.want != "") {
			t.Errorf("%s: it shows %+v", tt.name, m.Rows)
		}
	}
}

// An address leads to a publication by its commit, and names the namespace of what has none by a word that no namespace is called.
func TestWhereAPageIs(t *testing.T) {
	if is := pages.Version("0123456789abcdef"); is != (pages.Link{Text: "0123456789ab", URL: "/changes/0123456789abcdef"}) {
		t.Errorf("a version leads to %+v", is)
	}
	if is := pages.Version(""); is != (pages.Link{}) {
		t.Errorf("none leads to %+v", is)
	}
	if of, cluster := pages.Namespace("shop"), pages.Namespace(links.ClusterScope); of != "shop" || cluster != "" {
		t.Errorf("the namespaces are %q and %q", of, cluster)
	}
	if is := pages.RolloutURL(rollouts.Unit{Name: "a/b"}); is != "/rollouts/_cluster/a%2Fb" {
		t.Errorf("a unit is at %s", is)
	}
	if is := pages.PhaseMark("Napping"); is != (pages.Mark{Word: "Napping", Sign: "↓", Tone: "warn"}) {
		t.Errorf("what is not known is shown as %+v", is)
	}
	if is := pages.NotFound("gone"); is.Message != "gone" || is.Title == "" || len(is.Links) != 3 || is.Links[1].URL != "/fleet" {
		t.Errorf("what is not there is %+v", is)
	}
	if is := pages.OfWhy(web, "so", "no"); is != (pages.Why{Object: web.String(), URL: pages.TemplateURL(web), Text: "so", Error: "no"}) {
		t.Errorf("why is %+v", is)
	}
}

// A page leads to a pull request at its forge, and to nothing that is no page.
func TestWhereAPullRequestIs(t *testing.T) {
	for address, leads := range map[string]bool{
		"https://git.example/team/fleet/pulls/7": true, "http://git.example/team/fleet/pulls/7": true,
		"javascript:alert(1)": false, "data:text/html,x": false, "//git.example/x": false, "": false,
	} {
		p := pages.OfPreview(&store.Preview{Pull: forge.PullRequest{Number: 7, URL: address}}, nil, time.Unix(0, 0))
		if is := p.Forge != nil; is != leads || is && p.Forge.URL != address {
			t.Errorf("%q: it leads to %+v", address, p.Forge)
		}
	}
}
