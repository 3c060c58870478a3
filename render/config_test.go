package render_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/applying"
)

const configHead = "apiVersion: waybill.dev/v1alpha1\nkind: Config\n"

func TestAConfigStatesWhatDiffers(t *testing.T) {
	got, ds := render.ParseConfig([]byte("# ours\n---\n" + configHead + "spec:\n  namespaces: all\n  publish: {branchPrefix: clusters/}\n  guard: {maxRemoved: 3}\n---\n# nothing\n"))
	want := render.DefaultConfig()
	want.Namespaces, want.Publish.BranchPrefix, want.Guard.MaxRemoved = render.NamespacesAll, "clusters/", 3
	if diff := cmp.Diff(want, got); diff != "" || len(ds) > 0 {
		t.Error(diff, ds)
	}
}

func TestTheFormOfFluxMayStandAlone(t *testing.T) {
	want := render.DefaultConfig()
	want.Publish.Flux.Form = "root"
	for _, in := range []string{"flux: root", "flux: {form: root}", "flux: {form: root, namespace: flux-system, source: waybill-<cluster>}"} {
		got, ds := render.ParseConfig([]byte(configHead + "spec: {publish: {" + in + "}}\n"))
		if diff := cmp.Diff(want, got); diff != "" || len(ds) > 0 {
			t.Error(in, diff, ds)
		}
	}
}

func TestWhatAConfigSaysOfRollouts(t *testing.T) {
	got, ds := render.ParseConfig([]byte(configHead + `spec:
  publish: {moves: {wait: 1m}}
  rollout:
    rules:
    - {policies: {matchLabels: {tier: "1"}}, strategy: careful}
    windows:
    - kind: allow
      schedule: "0 8 * * *"
      duration: 8h
      strategies: [careful]
      stages: [prod]
    evidence: [commitStatus]
    commands: {signed: true, notAuthor: true}
    bypass: never
    commitStatus: {creators: [flux-bot]}
    default: careful
`))
	want := render.DefaultConfig()
	want.Publish.Moves.Wait.Duration = time.Minute
	want.Rollout = render.Rollout{
		Default: "careful", DefaultLine: 18,
		Rules:    []render.RolloutRule{{Policies: metav1.LabelSelector{MatchLabels: map[string]string{"tier": "1"}}, Strategy: "careful", Line: 7}},
		Evidence: []string{render.EvidenceCommitStatus},
		Windows: []render.RolloutWindow{{
			Kind: applying.WindowAllow, Schedule: "0 8 * * *", Duration: metav1.Duration{Duration: 8 * time.Hour},
			Strategies: []string{"careful"}, Stages: []string{"prod"}, Line: 10,
		}},
		Commands: render.RolloutCommands{Signed: true, Signers: ".waybill/allowed_signers", NotAuthor: true},
		Bypass:   render.BypassNever, CommitStatus: render.CommitStatus{Creators: []string{"flux-bot"}},
	}
	if diff := cmp.Diff(want, got); diff != "" || len(ds) > 0 {
		t.Error(diff, ds)
	}
	if m := render.DefaultConfig().Publish.Moves; m.Wait.Duration != 0 || m.Timeout.Duration != 10*time.Minute {
		t.Errorf("moves take %+v", m)
	}
}

func TestAMistakeInAConfigIsLocatedAndTheDefaultsServe(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"nothing", "", "waybill.yaml:1: error: the file holds 0 manifests, not one"},
		{"no YAML", configHead + "spec: [\n", "waybill.yaml:4: error: the document is no valid YAML"},
		{"a second document", configHead + "---\nkind: Config\nspec: {namespaces: all}\n", "waybill.yaml:4: error: the file holds a second document"},
		{"a second document behind dots", configHead + "...\n" + configHead, "waybill.yaml:4: error: the file holds a second document"},
		{"another kind", "apiVersion: waybill.dev/v1alpha1\nkind: Conf\n", `waybill.yaml:1: error: apiVersion is "waybill.dev/v1alpha1" and kind "Conf"`},
		{"a field that is not known", configHead + "spec:\n  guard:\n    maxRemoved: 1\n    max: 2\n", `waybill.yaml:6: error: unknown field "spec.guard.max"`},
		{"a field of another type", configHead + "spec:\n  guard:\n    maxRemoved: many\n", "waybill.yaml:5: error: spec.guard.maxRemoved is a string; want a value of type int"},
		{"a field twice", configHead + "spec:\n  namespaces: all\n  namespaces: all\n", `waybill.yaml:5: error: the key "namespaces" stands twice`},
		{"a value that is not known", configHead + "spec:\n  secrets: n\n", `waybill.yaml:4: error: spec.secrets is "n"; want one of refuse, allow`},
		{"a pattern of namespaces that cannot be read", configHead + "spec:\n  skipNamespaces: ['team-(a']\n", `waybill.yaml:4: error: spec.skipNamespaces holds "team-(a": it is no name, and no regular expression`},
		{"a percentage over 100", configHead + "spec:\n  guard: {maxRemovedPercent: 101}\n", "waybill.yaml:4: error: spec.guard allows 10 objects or 101 percent"},
		{"differences of no kind", configHead + "spec:\n  apply:\n    ignoreDifferences: [{jsonPointers: [/spec]}]\n", `waybill.yaml:5: error: spec.apply.ignoreDifferences has an entry without kind`},
		{"differences in nothing", configHead + "spec:\n  apply:\n    ignoreDifferences: [{kind: Pod}]\n", `waybill.yaml:5: error: spec.apply.ignoreDifferences has an entry without kind, or without jsonPointers`},
		{"a pointer to a name", configHead + "spec:\n  apply:\n    ignoreDifferences: [{kind: Pod, jsonPointers: [/metadata/name]}]\n", `waybill.yaml:5: error: spec.apply.ignoreDifferences holds the pointer "/metadata/name"`},
		{"a pointer that is none", configHead + "spec:\n  apply:\n    ignoreDifferences: [{kind: Pod, jsonPointers: [spec]}]\n", `waybill.yaml:5: error: spec.apply.ignoreDifferences holds the pointer "spec"`},
		{"a sync window of no kind", configHead + "spec:\n  apply:\n    syncWindows: [{schedule: '* * * * *', duration: 1h, clusters: ['*']}]\n", `waybill.yaml:5: error: spec.apply.syncWindows has an entry whose kind is not allow or deny`},
		{"a sync window without clusters", configHead + "spec:\n  apply:\n    syncWindows: [{kind: deny, schedule: '* * * * *', duration: 1h}]\n", `waybill.yaml:5: error: spec.apply.syncWindows has an entry without clusters`},
		{"a sync window that ends at once", configHead + "spec:\n  apply:\n    syncWindows: [{kind: deny, schedule: '* * * * *', clusters: ['*']}]\n", `waybill.yaml:5: error: spec.apply.syncWindows has an entry without a duration`},
		{"a form of Flux that is none", configHead + "spec:\n  publish:\n    flux: roots\n", `waybill.yaml:5: error: spec.publish.flux.form is "roots"; want one of root, split, orphan, single`},
		{"a field of Flux that is none", configHead + "spec:\n  publish:\n    flux:\n      secret: s\n", `waybill.yaml:6: error: unknown field "spec.publish.flux.secret"`},
		{"a name for Flux that is none", configHead + "spec:\n  publish:\n    flux:\n      namespace: Flux System\n", `waybill.yaml:6: error: spec.publish.flux.namespace is "Flux System"; want the name of an object`},
		{"a wait below nothing", configHead + "spec:\n  publish:\n    moves:\n      wait: -1s\n", `waybill.yaml:6: error: spec.publish.moves.wait is -1s; want 0s or more`},
		{"a timeout of moves below nothing", configHead + "spec:\n  publish:\n    moves: {timeout: -1s}\n", `waybill.yaml:5: error: spec.publish.moves.timeout is -1s; want 0s or more`},
		{"a field of moves that is none", configHead + "spec:\n  publish:\n    moves: {delay: 1m}\n", `waybill.yaml:5: error: unknown field "spec.publish.moves.delay"`},
		{"a timeout below nothing", configHead + "spec:\n  failover:\n    gracefulEvictionTimeout: -1s\n", `waybill.yaml:5: error: spec.failover.gracefulEvictionTimeout is -1s; want 0s or more`},
		{"a timeout that is none", configHead + "spec:\n  failover:\n    gracefulEvictionTimeout: soon\n", `waybill.yaml:1: error: the file cannot be read: time: invalid duration "soon"`},
		{"nothing leaves", configHead + "spec:\n  failover:\n    evictionRate: 0\n", `waybill.yaml:5: error: spec.failover.evictionRate is 0; want more than 0 in a second`},
		{"the last copy", configHead + "spec:\n  failover:\n    lastCopy: drop\n", `waybill.yaml:5: error: spec.failover.lastCopy is "drop"; want one of keep, delete`},
		{"a threshold over 100", configHead + "spec:\n  failover:\n    limits: {unhealthyThreshold: 101}\n", `waybill.yaml:5: error: spec.failover.limits has thresholds of 101 and 30 percent; want 0 to 100`},
		{"one cluster in none", configHead + "spec:\n  failover:\n    limits: {oneIn: 0}\n", `waybill.yaml:5: error: spec.failover.limits.oneIn is 0; want 1 or more`},
		{"a shared branch that is the state", configHead + "spec:\n  publish:\n    layout: folders\n    branch: waybill/state\n", `waybill.yaml:6: error: spec.publish.branch is "waybill/state", which is in the way of waybill/state`},
		{"a shared branch that remembers updates", configHead + "spec: {publish: {layout: folders, branch: waybill/updates}}\n", `waybill.yaml:3: error: spec.publish.branch is "waybill/updates", which is in the way of waybill/updates`},
		{"a shared branch among those of updates", configHead + "spec: {publish: {layout: folders, branch: waybill/update/all}}\n", `waybill.yaml:3: error: spec.publish.branch is "waybill/update/all", which is in the way of waybill/update`},
		{"a shared branch above others", configHead + "spec: {publish: {layout: folders, branch: waybill}}\n", `waybill.yaml:3: error: spec.publish.branch is "waybill", which is in the way of the branches below spec.publish.branchPrefix, waybill/cluster/`},
		{"a shared branch like a cluster's", configHead + "spec: {publish: {layout: folders, branch: waybill/cluster/all}}\n", `waybill.yaml:3: error: spec.publish.branch is "waybill/cluster/all", which is in the way of the branches below spec.publish.branchPrefix, waybill/cluster/`},
		{"a shared branch among those of the status", configHead + "spec: {publish: {layout: folders, branch: waybill/status/all}}\n", `waybill.yaml:3: error: spec.publish.branch is "waybill/status/all", which is in the way of waybill/status`},
		{"a shared branch that is none", configHead + "spec: {publish: {layout: folders, branch: a..b}}\n", `waybill.yaml:3: error: spec.publish.branch is "a..b", which is no name of a branch`},
		{"a web UI that is none", configHead + "spec:\n  publish:\n    links: waybill.example.com\n", `waybill.yaml:5: error: spec.publish.links is "waybill.example.com"; want that of the web UI, as https://waybill.example.com`},
		{"a web UI with a password", configHead + "spec:\n  publish:\n    links: https://a:hunter2@waybill.example.com\n", `waybill.yaml:5: error: spec.publish.links is "https://a:xxxxx@waybill.example.com"; want that of the web UI, as https://waybill.example.com`},
		{"somebody else who applies", configHead + "spec:\n  publish:\n    appliedBy: Flux\n", `waybill.yaml:5: error: spec.publish.appliedBy is "Flux"; want one of waybill, flux, argocd`},
		{"another layout", configHead + "spec: {publish: {layout: flat}}\n", `waybill.yaml:3: error: spec.publish.layout is "flat"; want one of branches, folders`},
		{"a field of a rule that is none", configHead + "spec:\n  rollout:\n    rules:\n    - strategy: a\n    - strategy: b\n      policy: {}\n", `waybill.yaml:8: error: unknown field "spec.rollout.rules[1].policy"`},
		{"a rule without a strategy", configHead + "spec:\n  rollout:\n    rules:\n    - strategy: a\n    - policies: {}\n", `waybill.yaml:7: error: spec.rollout.rules[1] has no strategy; write the name of one, or none`},
		{"a rule that selects by nothing", configHead + "spec:\n  rollout:\n    rules: [{strategy: a, policies: {matchExpressions: [{key: a, operator: Is}]}}]\n", `waybill.yaml:5: error: spec.rollout.rules[0] selects by what cannot be read: "Is" is not a valid label selector operator`},
		{"a window of no kind", configHead + "spec:\n  rollout:\n    windows:\n    - {kind: block, schedule: '* * * * *', duration: 1h, strategies: ['*'], stages: ['*']}\n", `waybill.yaml:6: error: spec.rollout.windows[0] has the kind "block"; want allow or deny`},
		{"a window that ends at once", configHead + "spec:\n  rollout:\n    windows: [{kind: deny, schedule: '* * * * *', strategies: ['*'], stages: ['*']}]\n", `waybill.yaml:5: error: spec.rollout.windows[0] has no duration, such as 1h30m`},
		{"a window without a schedule", configHead + "spec:\n  rollout:\n    windows: [{kind: deny, duration: 1h, strategies: ['*'], stages: ['*']}]\n", `waybill.yaml:5: error: spec.rollout.windows[0] has no schedule`},
		{"a window of no stages", configHead + "spec:\n  rollout:\n    windows: [{kind: deny, schedule: '* * * * *', duration: 1h, strategies: ['*']}]\n", `waybill.yaml:5: error: spec.rollout.windows[0] has no strategies, or no stages; all are ["*"]`},
		{"a window of a pattern that is none", configHead + "spec:\n  rollout:\n    windows: [{kind: deny, schedule: '* * * * *', duration: 1h, strategies: ['*'], stages: ['[a']}]\n", `waybill.yaml:5: error: spec.rollout.windows[0] has "[a", which is no pattern`},
		{"clusters of a window", configHead + "spec:\n  rollout:\n    windows:\n    - kind: deny\n      clusters: [eu]\n", `waybill.yaml:7: error: unknown field "spec.rollout.windows[0].clusters"`},
		{"evidence that is none", configHead + "spec:\n  rollout:\n    evidence: [status, metrics]\n", `waybill.yaml:5: error: spec.rollout.evidence holds "metrics"; want each of status, commitStatus, timed at most once`},
		{"evidence twice", configHead + "spec:\n  rollout:\n    evidence: [status, status]\n", `waybill.yaml:5: error: spec.rollout.evidence holds "status"; want each`},
		{"no evidence", configHead + "spec:\n  rollout:\n    evidence: []\n", `waybill.yaml:5: error: spec.rollout.evidence is empty; no stage would ever end`},
		{"a bypass that is none", configHead + "spec:\n  rollout:\n    bypass: always\n", `waybill.yaml:5: error: spec.rollout.bypass is "always"; want one of allowed, signed, never`},
		{"signers outside of the source", configHead + "spec:\n  rollout:\n    commands:\n      signers: /etc/signers\n", `waybill.yaml:6: error: spec.rollout.commands.signers is "/etc/signers"; want a file of the source`},
		{"signers above the source", configHead + "spec:\n  rollout:\n    commands:\n      signers: ../signers\n", `waybill.yaml:6: error: spec.rollout.commands.signers is "../signers"; want a file of the source`},
		{"no signers", configHead + "spec:\n  rollout:\n    commands:\n      signers: ''\n", `waybill.yaml:6: error: spec.rollout.commands.signers is ""; want a file of the source`},
		{"orders, as commands are not called", configHead + "spec:\n  rollout:\n    orders: {}\n", `waybill.yaml:5: error: unknown field "spec.rollout.orders"`},
		{"a creator without a name", configHead + "spec:\n  rollout:\n    commitStatus:\n      creators: ['']\n", `waybill.yaml:6: error: spec.rollout.commitStatus.creators holds an empty name`},
		{"a wait below nothing", configHead + "spec:\n  publish:\n    moves:\n      wait: -1s\n", `waybill.yaml:6: error: spec.publish.moves.wait is -1s; want 0s or more`},
		{"a timeout of moves below nothing", configHead + "spec:\n  publish:\n    moves:\n      timeout: -1s\n", `waybill.yaml:6: error: spec.publish.moves.timeout is -1s; want 0s or more`},
		{"a bad prefix", configHead + "spec:\n  publish:\n    layout: branches\n    branchPrefix: ma\n", `waybill.yaml:6: error: spec.publish.branchPrefix is "ma", which does not end with a slash`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, ds := render.ParseConfig([]byte(tt.in))
			if len(ds) != 1 || !strings.HasPrefix(ds[0].String(), tt.want) || !strings.Contains(ds[0].String(), "[bad-config]") {
				t.Errorf("want %q, got %v", tt.want, ds)
			}
			if diff := cmp.Diff(render.DefaultConfig(), got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestEachFieldOfAConfigThatThereIsNotIsNamedWithTheOneThatMayBeMeant(t *testing.T) {
	_, ds := render.ParseConfig([]byte(configHead + `spec:
  namespace: all
  rollout:
    defaults: careful
    rules:
    - {strategi: a}
  publish: {flux: {decryptionSecrets: a}}
  guard: {entirely: other}
  updates: {ages: 1}
`))
	var got []string
	for _, d := range ds {
		got = append(got, fmt.Sprintf("%d %s: %s", d.Pos.Line, d.Message, strings.TrimSuffix(d.Hint, "the options are listed in docs/config.md")))
	}
	want := []string{
		`10 unknown field "spec.guard.entirely": `,
		`4 unknown field "spec.namespace": did you mean "namespaces"? `,
		`9 unknown field "spec.publish.flux.decryptionSecrets": did you mean "decryptionSecret"? `,
		`6 unknown field "spec.rollout.defaults": did you mean "default"? `,
		`8 unknown field "spec.rollout.rules[0].strategi": did you mean "strategy"? `,
		`11 unknown field "spec.updates.ages": `,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestABranchPrefixIsClearOfOtherBranches(t *testing.T) {
	for _, tt := range []struct{ name, prefix, want string }{
		{"that of the default", "waybill/cluster/", ""},
		{"a folder of its own", "rendered/", ""},
		{"a folder that begins as the state branch does", "waybill/state-of/", ""},
		{"a folder beside those of the status", "waybill/status-of/", ""},
		{"a dash inside", "a-b/", ""},
		{"none", "", "does not end with a slash"},
		{"the beginning of a word", "ma", "does not end with a slash"},
		{"a folder and the beginning of a word", "waybill/cluster-", "does not end with a slash"},
		{"where a cluster named state would be the state", "waybill/", "in the way of waybill/state"},
		{"below the state branch", "waybill/state/", "in the way of waybill/state"},
		{"further below the state branch", "waybill/state/of/", "in the way of waybill/state"},
		{"below the branch of orders", "waybill/orders/", "in the way of waybill/orders"},
		{"below what is remembered of updates", "waybill/updates/", "in the way of waybill/updates"},
		{"the branches of updates", "waybill/update/", "in the way of those below waybill/update/"},
		{"below the branches of updates", "waybill/update/shop/", "in the way of those below waybill/update/"},
		{"the branches of the status", "waybill/status/", "in the way of those below waybill/status/"},
		{"below a branch of the status", "waybill/status/eu/", "in the way of those below waybill/status/"},
		{"the branches of what agents observe", "waybill/observed/", "in the way of those below waybill/observed/"},
		{"the branches of heartbeats", "waybill/heartbeat/", "in the way of those below waybill/heartbeat/"},
		{"the root", "/", "no branch name can begin with"},
		{"a slash before", "/a/", "no branch name can begin with"},
		{"two slashes", "a//", "no branch name can begin with"},
		{"two dots", "a..b/", "no branch name can begin with"},
		{"a hidden folder", "a/.b/", "no branch name can begin with"},
		{"a lock file", "a.lock/", "no branch name can begin with"},
		{"an option", "-a/", "no branch name can begin with"},
		{"a reflog", "a@{b/", "no branch name can begin with"},
		{"a space", "a b/", "no branch name can begin with"},
		{"a wildcard", "a*/", "no branch name can begin with"},
		{"a line", "a\\nb/", "no branch name can begin with"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, ds := render.ParseConfig([]byte(configHead + "spec: {publish: {branchPrefix: \"" + tt.prefix + "\"}}\n"))
			if tt.want == "" {
				if len(ds) > 0 {
					t.Error(ds)
				}
				return
			}
			if len(ds) != 1 || !strings.Contains(ds[0].Message, tt.want) {
				t.Errorf("want %q, got %v", tt.want, ds)
			}
		})
	}
}
