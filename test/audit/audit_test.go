package audit_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/test/audit"
)

// tale is a made-up source, branches and logs. Seconds count from when it begins.
type tale struct {
	t                *testing.T
	source, branches string
	pushes           strings.Builder
	logs             map[string]*strings.Builder
	requests         int
}

var began = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

func second(n int) time.Time { return began.Add(time.Duration(n) * time.Second) }

func newTale(t *testing.T) *tale {
	t.Helper()
	dir := t.TempDir()
	s := &tale{t: t, source: filepath.Join(dir, "source"), branches: filepath.Join(dir, "branches"), logs: map[string]*strings.Builder{}}
	for _, repository := range []string{s.source, s.branches} {
		s.git("", "init", "-q", "-b", "main", repository)
		s.git(repository, "commit", "-q", "--allow-empty", "-m", "empty")
	}
	for _, cluster := range []string{"eu", "us"} {
		s.logs[cluster] = &strings.Builder{}
		s.git(s.branches, "branch", "waybill/cluster/"+cluster)
	}
	return s
}

func (s *tale) git(dir string, args ...string) string {
	s.t.Helper()
	if dir != "" {
		args = append([]string{"-C", dir}, args...)
	}
	cmd := exec.Command("git", args...)
	cmd.Env = append(os.Environ(), "GIT_AUTHOR_NAME=t", "GIT_AUTHOR_EMAIL=t@example.com", "GIT_COMMITTER_NAME=t", "GIT_COMMITTER_EMAIL=t@example.com")
	out, err := cmd.CombinedOutput()
	if err != nil {
		s.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// wants makes a source commit that wants so.
func (s *tale) wants(message string, lines ...string) {
	s.t.Helper()
	if err := os.WriteFile(filepath.Join(s.source, audit.Wanted), []byte(strings.Join(lines, "\n")), 0o600); err != nil {
		s.t.Fatal(err)
	}
	s.git(s.source, "add", "-A")
	s.git(s.source, "commit", "-q", "--allow-empty", "-m", message)
}

// publishes has a cluster's branch hold so much at a second, and returns the commit.
func (s *tale) publishes(at int, cluster string, failedOver []string, names ...string) string {
	s.t.Helper()
	branch := "waybill/cluster/" + cluster
	s.git(s.branches, "checkout", "-q", branch)
	s.git(s.branches, "rm", "-rq", "--ignore-unmatch", ".")
	for _, name := range names {
		path := filepath.Join(s.branches, manifest(name))
		text := fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s, namespace: shop}\n", name)
		if kind, cut, ok := strings.Cut(name, "/"); ok {
			text = fmt.Sprintf("apiVersion: apiextensions.k8s.io/v1\nkind: %s\nmetadata: {name: %s}\n", kind, cut)
		}
		err := os.MkdirAll(filepath.Dir(path), 0o700)
		if err == nil {
			err = os.WriteFile(path, []byte(text), 0o600)
		}
		if err != nil {
			s.t.Fatal(err)
		}
	}
	s.git(s.branches, "add", "-A")
	message := []string{"published", "", "Source-Commit: " + s.git(s.source, "rev-parse", "HEAD")}
	for _, name := range failedOver {
		message = append(message, "Failed-Over: "+manifest(name))
	}
	s.git(s.branches, "commit", "-q", "--allow-empty", "-m", strings.Join(message, "\n"))
	commit := s.git(s.branches, "rev-parse", "HEAD")
	fmt.Fprintf(&s.pushes, "%d.%09d refs/heads/%s %s\n", second(at).Unix(), 0, branch, commit)
	return commit
}

func manifest(name string) string { return "manifests/shop/" + strings.ToLower(name) + ".yaml" }

// asked is a request; what is not said is that of a ConfigMap by Waybill that succeeded.
type asked struct {
	at              int
	by, verb, name  string
	uid, kind       string
	code            int
	fields, manager string
	unanswered      bool
}

func (s *tale) log(cluster string, r asked) {
	s.t.Helper()
	s.requests++
	if r.by == "" {
		r.by = "waybill"
	}
	ref := map[string]any{"resource": "configmaps", "namespace": "shop", "name": r.name, "apiVersion": "v1"}
	if r.kind != "" {
		ref = map[string]any{"resource": r.kind, "apiGroup": "apiextensions.k8s.io", "name": r.name}
	}
	e := map[string]any{
		"auditID": strconv.Itoa(s.requests), "stage": "ResponseComplete", "verb": r.verb, "requestURI": "/", "user": map[string]any{"username": r.by},
		"objectRef": ref, "requestReceivedTimestamp": second(r.at), "stageTimestamp": second(r.at),
		"responseStatus": map[string]any{"code": max(r.code, 200)},
	}
	if r.verb == "delete" {
		e["requestObject"] = map[string]any{"preconditions": map[string]any{"uid": r.uid}}
	} else {
		var fields map[string]any
		_ = json.Unmarshal([]byte(r.fields), &fields)
		e["responseObject"] = map[string]any{"metadata": map[string]any{"name": r.name, "uid": r.uid, "managedFields": []any{map[string]any{"manager": r.manager, "fieldsV1": fields}}}}
	}
	if r.unanswered {
		e["stage"] = "RequestReceived"
		delete(e, "responseStatus")
		delete(e, "responseObject")
	}
	s.write(cluster, e)
}

// applies has Waybill note that it applies a commit.
func (s *tale) applies(at int, cluster, commit string) {
	s.t.Helper()
	s.requests++
	head := base64.StdEncoding.EncodeToString([]byte(`{"commit":"` + commit + `"}`))
	s.write(cluster, map[string]any{
		"auditID": strconv.Itoa(s.requests), "stage": "ResponseComplete", "verb": "update", "user": map[string]any{"username": "waybill"},
		"objectRef":                map[string]any{"resource": "secrets", "namespace": "waybill-system", "name": "waybill-0123"},
		"requestReceivedTimestamp": second(at), "stageTimestamp": second(at), "responseStatus": map[string]any{"code": 200},
		"responseObject": map[string]any{"metadata": map[string]any{"name": "waybill-0123", "uid": "inventory"}, "data": map[string]any{"head": head}},
	})
}

func (s *tale) write(cluster string, e map[string]any) {
	s.t.Helper()
	data, err := json.Marshal(e)
	if err != nil {
		s.t.Fatal(err)
	}
	s.logs[cluster].Write(append(data, '\n'))
}

func (s *tale) judged() *audit.Verdict {
	s.t.Helper()
	dir := s.t.TempDir()
	f := audit.Fleet{Source: s.source, Branches: s.branches, Pushes: filepath.Join(dir, "pushes"), Logs: map[string]string{}, User: "waybill", Hand: "hand"}
	err := os.WriteFile(f.Pushes, []byte(s.pushes.String()), 0o600)
	for cluster, log := range s.logs {
		f.Logs[cluster] = filepath.Join(dir, cluster)
		if err == nil {
			err = os.WriteFile(f.Logs[cluster], []byte(log.String()), 0o600)
		}
	}
	var v *audit.Verdict
	if err == nil {
		v, err = f.Judge()
	}
	if err != nil {
		s.t.Fatal(err)
	}
	return v
}

// begin has the cluster eu hold a and b at second 1, both made by Waybill.
func (s *tale) begin() (first string) {
	s.wants("first", "must eu configmaps/shop/a", "must eu configmaps/shop/b")
	first = s.publishes(1, "eu", nil, "a", "b")
	s.applies(2, "eu", first)
	s.log("eu", asked{at: 3, verb: "patch", name: "a", uid: "A", code: 201})
	s.log("eu", asked{at: 3, verb: "patch", name: "b", uid: "B", code: 201})
	return first
}

// leaves has b leave by an ordinary commit at second 10, which is applied.
func (s *tale) leaves() (commit string) {
	s.wants("second", "must eu configmaps/shop/a")
	commit = s.publishes(10, "eu", nil, "a")
	s.applies(11, "eu", commit)
	return commit
}

// TestTheOracleBites tells it tales, of which some are as they should be, and the others are not.
func TestTheOracleBites(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		tell func(s *tale)
		want []string // a part of what is wrong, for each; none: all is well
	}{
		"deleted when it had left": {func(s *tale) {
			s.begin()
			s.leaves()
			s.log("eu", asked{at: 12, verb: "delete", name: "b", uid: "B"})
		}, nil},
		"deleted when it had come and left at once": {func(s *tale) {
			s.begin()
			s.wants("second")
			s.applies(11, "eu", s.publishes(10, "eu", nil, "a", "b", "brief"))
			s.log("eu", asked{at: 12, verb: "patch", name: "brief", uid: "C", code: 201})
			s.leaves()
			s.log("eu", asked{at: 13, verb: "delete", name: "brief", uid: "C"})
		}, nil},
		"deleted while on the branch": {func(s *tale) {
			s.begin()
			s.log("eu", asked{at: 12, verb: "delete", name: "b", uid: "B"})
		}, []string{"eu: configmaps/shop/b was deleted at 12:00:12.000, though it is on the branch at"}},
		"deleted before the commit is published": {func(s *tale) {
			s.begin()
			s.log("eu", asked{at: 9, verb: "delete", name: "b", uid: "B"})
			s.leaves()
		}, []string{"though it is on the branch at"}},
		"deleted by a commit that was never published": {func(s *tale) {
			s.begin()
			s.applies(5, "eu", strings.Repeat("0", 40))
			s.log("eu", asked{at: 12, verb: "delete", name: "b", uid: "B"})
		}, []string{"no commit of the branch was being applied"}},
		"deleted when an older commit was applied, and the branch had it for long": {func(s *tale) {
			s.begin()
			s.leaves()
			s.wants("third", "must eu configmaps/shop/a", "must eu configmaps/shop/b")
			s.publishes(20, "eu", nil, "a", "b")
			s.log("eu", asked{at: 60, verb: "delete", name: "b", uid: "B"})
		}, []string{"though the branch had it for 30s"}},
		"an object of others is deleted": {func(s *tale) {
			s.begin()
			s.log("eu", asked{at: 8, by: "admin", verb: "delete", name: "b", uid: "B"})
			s.log("eu", asked{at: 9, by: "admin", verb: "create", name: "b", uid: "THEIRS", code: 201})
			s.leaves()
			s.log("eu", asked{at: 12, verb: "delete", name: "b", uid: "THEIRS"})
		}, []string{"and somebody else had made it"}},
		"an object that nobody knows is deleted": {func(s *tale) {
			s.begin()
			s.leaves()
			s.log("eu", asked{at: 12, verb: "delete", name: "b", uid: "UNKNOWN"})
		}, []string{"and Waybill had never written it"}},
		"deleted without a UID": {func(s *tale) {
			s.begin()
			s.leaves()
			s.log("eu", asked{at: 12, verb: "delete", name: "b"})
		}, []string{"whatever its UID was"}},
		"an answer that was lost": {func(s *tale) {
			s.wants("first", "must eu configmaps/shop/b")
			s.applies(2, "eu", s.publishes(1, "eu", nil, "b"))
			s.log("eu", asked{at: 3, verb: "patch", name: "b", unanswered: true})
			s.leaves()
			s.log("eu", asked{at: 12, verb: "delete", name: "b", uid: "B"})
		}, nil},
		"a collection is deleted": {func(s *tale) {
			s.begin()
			s.log("eu", asked{at: 12, verb: "deletecollection"})
		}, []string{"was deleted as a collection"}},
		"others delete what they like": {func(s *tale) {
			s.begin()
			s.log("eu", asked{at: 12, by: "admin", verb: "delete", name: "b"})
			s.log("eu", asked{at: 12, by: "system:serviceaccount:kube-system:namespace-controller", verb: "deletecollection"})
		}, nil},
		"a CRD leaves, and nobody allowed it": {func(s *tale) {
			s.defined("goes")
		}, []string{"customresourcedefinitions.apiextensions.k8s.io/widgets, of a protected kind, left the branch by", "nobody allowed it"}},
		"it moves while nothing is applied, and leaves the source before it is deleted": {func(s *tale) {
			s.begin()
			s.wants("second", "free eu configmaps/shop/b", "free us configmaps/shop/b")
			s.publishes(7, "us", nil, "b")
			gone := s.publishes(10, "eu", []string{"b"}, "a")
			s.wants("third", "must eu configmaps/shop/a")
			s.publishes(20, "us", nil)
			s.applies(31, "eu", gone)
			s.log("eu", asked{at: 32, verb: "delete", name: "b", uid: "B"})
		}, nil},
		"a CRD leaves, and somebody allowed it": {func(s *tale) {
			s.defined("goes\n\nWaybill-Allow-Prune: 0123456789abcdef")
		}, nil},
		"a CRD leaves a cluster that is drained, and somebody allowed it": {func(s *tale) {
			s.defined("goes\n\nWaybill-Allow-Prune: 0123456789abcdef", "may eu customresourcedefinitions.apiextensions.k8s.io/widgets")
		}, nil},
		"a CRD leaves a cluster that is drained": {func(s *tale) {
			s.defined("goes", "may eu customresourcedefinitions.apiextensions.k8s.io/widgets")
		}, []string{"wants it there", "nobody allowed it"}},
		"a CRD leaves that has to be there, whatever somebody allowed": {func(s *tale) {
			s.defined("goes\n\nWaybill-Allow-Prune: 0123456789abcdef", "must eu customresourcedefinitions.apiextensions.k8s.io/widgets")
		}, []string{"wants it there"}},
		"the branch loses what is wanted": {func(s *tale) {
			s.begin()
			s.applies(11, "eu", s.publishes(10, "eu", nil, "a"))
		}, []string{"eu: configmaps/shop/b left the branch by", "wants it there"}},
		"it moves before the other copy is there": {func(s *tale) {
			s.moves(30)
		}, []string{"because the cluster failed, and no other one had it"}},
		"it moves after the other copy is there": {func(s *tale) {
			s.moves(9)
		}, nil},
		"an object of others is changed": {func(s *tale) {
			s.begin()
			s.log("eu", asked{at: 5, by: "admin", verb: "patch", name: "c", uid: "C", code: 201})
			s.log("eu", asked{at: 6, verb: "patch", name: "c", uid: "C"})
		}, []string{"configmaps/shop/c was changed at 12:00:06.000, and somebody else had made it"}},
		"a field of others is taken away": {func(s *tale) {
			s.begin()
			s.log("eu", asked{at: 5, by: "admin", verb: "patch", name: "b", uid: "B", manager: "hand", fields: `{"f:data":{"f:theirs":{}}}`})
			s.log("eu", asked{at: 6, verb: "patch", name: "b", uid: "B", manager: "waybill", fields: `{"f:data":{"f:value":{}}}`})
		}, []string{"configmaps/shop/b lost /f:data/f:theirs at 12:00:06.000"}},
		"a field of others is Waybill's now": {func(s *tale) {
			s.begin()
			s.log("eu", asked{at: 5, by: "admin", verb: "patch", name: "b", uid: "B", manager: "hand", fields: `{"f:data":{"f:value":{}}}`})
			s.log("eu", asked{at: 6, verb: "patch", name: "b", uid: "B", manager: "waybill", fields: `{"f:data":{"f:value":{}}}`})
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newTale(t)
			c.tell(s)
			v := s.judged()
			said := strings.Join(v.Wrong, "\n")
			for _, want := range c.want {
				if !strings.Contains(said, want) {
					t.Errorf("it does not say %q: %s", want, said)
				}
			}
			if len(c.want) == 0 && said != "" {
				t.Errorf("all is well, and it says:\n%s", said)
			}
		})
	}
}

// defined has a definition come and leave, which a commit with a message does.
func (s *tale) defined(message string, wants ...string) {
	s.t.Helper()
	s.wants("first")
	s.applies(2, "eu", s.publishes(1, "eu", nil, "a", "CustomResourceDefinition/widgets"))
	s.log("eu", asked{at: 3, verb: "patch", name: "widgets", kind: "customresourcedefinitions", uid: "W", code: 201})
	s.wants(message, wants...)
	s.applies(11, "eu", s.publishes(10, "eu", nil, "a"))
	s.log("eu", asked{at: 12, verb: "delete", name: "widgets", kind: "customresourcedefinitions", uid: "W"})
}

// moves has b move from eu to us, where it comes at a second.
func (s *tale) moves(comes int) {
	s.t.Helper()
	s.begin()
	s.wants("second", "free eu configmaps/shop/b", "free us configmaps/shop/b")
	s.applies(8, "us", s.publishes(7, "us", nil, "b"))
	s.log("us", asked{at: comes, verb: "patch", name: "b", uid: "US", code: 201})
	s.applies(11, "eu", s.publishes(10, "eu", []string{"b"}, "a"))
	s.log("eu", asked{at: 12, verb: "delete", name: "b", uid: "B"})
}

// TestTheOracleCounts holds that it saw what it judged.
func TestTheOracleCounts(t *testing.T) {
	t.Parallel()
	s := newTale(t)
	s.moves(9)
	v := s.judged()
	if got, want := []int{v.Deletions, v.Moved, v.Allowed, v.Unanswered, v.Writes}, []int{1, 1, 0, 0, 3}; !slices.Equal(got, want) || len(v.Wrong) > 0 {
		t.Errorf("it counts %v, want %v; wrong: %v", got, want, v.Wrong)
	}
}
