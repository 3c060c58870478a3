package move_test

import (
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/policies/evict"
	"github.com/waybill-dev/waybill/reconciler/plan/move"
	"github.com/waybill-dev/waybill/reconciler/reason"
	"github.com/waybill-dev/waybill/render/object"
)

var now = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func ref(text string) object.Ref {
	kind, name, _ := strings.Cut(text, "/")
	kind, group, _ := strings.Cut(kind, ".")
	r := object.Ref{Group: group, Kind: kind, Namespace: "a", Name: name}
	if group != "" {
		return r
	}
	switch kind {
	case "Deployment", "DaemonSet", "StatefulSet":
		r.Group = "apps"
	case "Job", "CronJob":
		r.Group = "batch"
	case "CustomResourceDefinition":
		r.Group, r.Namespace = "apiextensions.k8s.io", ""
	case "Namespace":
		r.Namespace = ""
	}
	return r
}

// seen reads what clusters say of an object: "eu:well us:bad ap:stale sa:before"; one that is silent is not named, and one of which
// no more is said than that it answers is "us:". What is stale was well with another content, and what is past was not.
func seen(text string) map[string]evict.Seen {
	all := map[string]evict.Seen{}
	for word := range strings.FieldsSeq(text) {
		cluster, is, _ := strings.Cut(word, ":")
		all[cluster] = evict.Seen{
			Current: is == "well" || is == "bad" || is == "before", Done: is == "well" || is == "stale" || is == "before", Gone: is == "",
			UpToDate: is != "before",
		}
	}
	return all
}

// TestDecide has one copy leave eu for others. What is not said goes.
func TestDecide(t *testing.T) {
	both := move.Rules{Wait: 5 * time.Minute, Timeout: 10 * time.Minute}
	for _, tt := range []struct {
		name   string
		rules  move.Rules
		since  time.Duration // ago
		to     string        // clusters, with "-" where it is not published as it should be
		direct move.Direct
		says   string
		way    move.Way
		stays  reason.Reason
		until  time.Duration // from now
	}{
		{"the defaults, and nobody reports", move.Rules{Timeout: 10 * time.Minute}, 0, "us", "", "", move.AtOnce, "", 0},
		{"nobody reports", both, 0, "us", "", "", move.ByTime, reason.GivenTime, 5 * time.Minute},
		{"nobody reports, in the middle", both, 4 * time.Minute, "us", "", "", move.ByTime, reason.GivenTime, time.Minute},
		{"nobody reports, and the time is over", both, 5 * time.Minute, "us", "", "", move.ByTime, "", 0},
		{"nobody is asked", move.Rules{Wait: 5 * time.Minute}, 0, "us", "", "eu:well us:well", move.ByTime, reason.GivenTime, 5 * time.Minute},
		{"nobody is asked, and nothing waited for", move.Rules{}, 0, "us", "", "eu:well us:bad", move.AtOnce, "", 0},
		{"only the old one reports", both, 0, "us-", "", "eu:well", move.ByHealth, reason.Moving, 10 * time.Minute},
		{"only the old one reports, to the end", both, 10 * time.Minute, "us", "", "eu:well", move.ByHealth, "", 0},
		{"only the new one reports", both, 0, "us-", "", "us:", move.ByHealth, reason.Moving, 10 * time.Minute},
		{"the new one is well with what it had before", both, time.Minute, "us-", "", "eu:well us:well", move.ByHealth, reason.Moving, 9 * time.Minute},
		{"the new one was well, and is not applied", both, time.Minute, "us", "", "eu:well us:stale", move.ByHealth, reason.Moving, 9 * time.Minute},
		{"the new one was well before it was gone", both, time.Minute, "us", "", "eu:well us:before", move.ByHealth, reason.Moving, 9 * time.Minute},
		{"the new one is not well", both, time.Minute, "us", "", "eu:well us:bad", move.ByHealth, reason.Moving, 9 * time.Minute},
		{"the new one is well", both, time.Minute, "us", "", "eu:well us:well", move.ByHealth, "", 0},
		{"one of two is well", both, time.Minute, "us ap", "", "eu:well us:well ap:bad", move.ByHealth, reason.Moving, 9 * time.Minute},
		{"one of two is well, to the end", both, time.Hour, "us ap", "", "eu:well us:well ap:bad", move.ByHealth, "", 0},
		{"one of two is silent, to the end", both, time.Hour, "us ap", "", "eu:well us:bad", move.ByHealth, "", 0},
		{"the last healthy one", both, time.Hour, "us ap", "", "eu:well us:bad ap:bad", move.ByHealth, reason.LastCopy, 0},
		{"the old one does not answer, and the new one is not well", both, time.Hour, "us", "", "eu:stale us:bad", move.ByHealth, reason.LastCopy, 0},
		{"the old one was not well with another content, and the new one is not", both, time.Hour, "us", "", "eu:past us:bad", move.ByHealth, reason.LastCopy, 0},
		{"no copy is healthy", both, time.Minute, "us", "", "eu:bad us:bad", move.ByHealth, reason.Moving, 9 * time.Minute},
		{"no copy is healthy, to the end", both, time.Hour, "us", "", "eu:bad us:bad", move.ByHealth, "", 0},
		{"it must not run twice, and had begun to leave", both, time.Minute, "us", move.OnceOnly, "eu:well us:bad", move.AtOnce, "", 0},
		{"it must not run twice", both, 0, "us", move.OnceOnly, "eu:well us:bad", move.AtOnce, "", 0},
	} {
		c := move.Copy{Ref: ref("Deployment/web"), Cluster: "eu", Direct: tt.direct, Since: now.Add(-tt.since), Began: tt.since > 0}
		for name := range strings.FieldsSeq(tt.to) {
			cluster, isBehind := strings.CutSuffix(name, "-")
			c.New = append(c.New, move.New{Cluster: cluster, IsPublished: !isBehind})
		}
		verdicts, again := tt.rules.Decide([]move.Copy{c}, evict.Evidence{c.Ref: seen(tt.says)}, now)
		want := move.Verdict{Way: tt.way, Stays: tt.stays}
		if tt.until > 0 {
			want.Until = now.Add(tt.until)
		}
		if verdicts[0] != want {
			t.Errorf("%s: %+v, want %+v", tt.name, verdicts[0], want)
		}
		if !again.At.Equal(want.Until) || again.Awaits != (tt.way == move.ByHealth && tt.stays != "") || again.Timed != (tt.way != move.AtOnce || c.Began) {
			t.Errorf("%s: it is asked again %+v", tt.name, again)
		}
	}
}

// TestTogether has copies leave clusters: "CLUSTER KIND/NAME GROUP", those with "!" before them being well where they go, and those
// with "*" going at once.
func TestTogether(t *testing.T) {
	for _, tt := range []struct{ name, copies, stay string }{
		{"what one policy sends", "!eu:Service/web:p eu:Deployment/web:p", "Service/web:StillNeeded Deployment/web:NewCopiesNotHealthy"},
		{"all of it is there", "!eu:Service/web:p !eu:Deployment/web:p", ""},
		{"what another one sends", "!eu:Service/web:p eu:Deployment/web:q", "Deployment/web:NewCopiesNotHealthy"},
		{"from another cluster", "!eu:Service/web:p us:Deployment/web:p", "Deployment/web:NewCopiesNotHealthy"},
		{"what no policy sends", "!eu:ConfigMap/a: eu:ConfigMap/b:", "ConfigMap/b:NewCopiesNotHealthy"},
		{"a definition", "!eu:CustomResourceDefinition/d:p eu:Deployment/web:q", "CustomResourceDefinition/d:StillNeeded Deployment/web:NewCopiesNotHealthy"},
		{"a namespace", "!eu:Namespace/a:p eu:Deployment/web:q", "Namespace/a:StillNeeded Deployment/web:NewCopiesNotHealthy"},
		{"what must not run twice", "*eu:Job/web:p eu:Deployment/web:p", "Deployment/web:NewCopiesNotHealthy"},
		{"what others call a definition, or a namespace", "!eu:CustomResourceDefinition.example.com/d:q !eu:Namespace.example.com/a:q !eu:Widget.apiextensions.k8s.io/w:q !eu:ConfigMap/c:q eu:Deployment/web:p", "Deployment/web:NewCopiesNotHealthy"},
		{"a definition of another cluster", "!us:CustomResourceDefinition/d:p eu:Deployment/web:q", "Deployment/web:NewCopiesNotHealthy"},
	} {
		var copies []move.Copy
		says := evict.Evidence{}
		for word := range strings.FieldsSeq(tt.copies) {
			word, isWell := strings.CutPrefix(word, "!")
			word, isDirect := strings.CutPrefix(word, "*")
			f := strings.SplitN(word, ":", 3)
			c := move.Copy{Ref: ref(f[1]), Cluster: f[0], Group: f[2], Since: now, New: []move.New{{Cluster: "ap", IsPublished: true}}}
			if isDirect {
				c.Direct = move.OnceOnly
			}
			if says[c.Ref] = seen("ap:bad"); isWell {
				says[c.Ref] = seen("ap:well")
			}
			copies = append(copies, c)
		}
		verdicts, _ := move.Rules{Timeout: time.Minute}.Decide(copies, says, now)
		var stay []string
		for i, v := range verdicts {
			if v.Stays != "" {
				stay = append(stay, copies[i].Ref.Kind+"/"+copies[i].Ref.Name+":"+string(v.Stays))
			}
		}
		if got := strings.Join(stay, " "); got != tt.stay {
			t.Errorf("%s: %q stay, want %q", tt.name, got, tt.stay)
		}
	}
}

// Where the health of one of two is waited for, and a time for the other, both are asked for again.
func TestTwoWays(t *testing.T) {
	reported, silent := ref("Deployment/web"), ref("ConfigMap/x")
	copies := []move.Copy{
		{Ref: reported, Cluster: "eu", Since: now, New: []move.New{{Cluster: "us"}}}, {Ref: silent, Cluster: "eu", Since: now, New: []move.New{{Cluster: "us"}}},
	}
	_, again := move.Rules{Wait: time.Minute, Timeout: time.Hour}.Decide(copies, evict.Evidence{reported: seen("eu:well")}, now)
	if !again.Awaits || !again.At.Equal(now.Add(time.Minute)) {
		t.Errorf("it is asked again %+v", again)
	}
}

func TestDirectOf(t *testing.T) {
	asked := map[string]string{move.Annotation: "direct"}
	for _, tt := range []struct {
		kind, strategy string
		annotations    []map[string]string
		want           move.Direct
	}{
		{"Deployment", "", nil, ""},
		{"Deployment", "RollingUpdate", nil, ""},
		{"Deployment", "Recreate", nil, move.OnceOnly},
		{"Deployment", "", []map[string]string{nil, asked}, move.Asked},
		{"Deployment", "", []map[string]string{{move.Annotation: "slowly"}}, ""},
		{"StatefulSet", "", nil, move.OnceOnly},
		{"PersistentVolumeClaim", "", nil, move.OnceOnly},
		{"PersistentVolume", "", nil, move.OnceOnly},
		{"Job", "", nil, move.OnceOnly},
		{"CronJob", "", nil, move.OnceOnly},
		{"ConfigMap", "Recreate", nil, ""},
		{"DaemonSet", "Recreate", nil, ""},
		{"Deployment.example.com", "Recreate", nil, ""},
		{"StatefulSet.example.com", "", nil, ""},
	} {
		content := map[string]any{"spec": map[string]any{"strategy": map[string]any{"type": tt.strategy}}}
		if got := move.DirectOf(ref(tt.kind+"/x"), content, tt.annotations...); got != tt.want {
			t.Errorf("a %s with strategy %q and %v: %q, want %q", tt.kind, tt.strategy, tt.annotations, got, tt.want)
		}
	}
}
