package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
)

// workTree is a repository with a source: two clusters and a ConfigMap for both.
func workTree(t *testing.T) (at string, git func(args ...string) string) {
	t.Helper()
	at = t.TempDir()
	git = func(args ...string) string {
		t.Helper()
		out, err := exec.CommandContext(t.Context(), "git", append([]string{"-C", at, "-c", "user.name=a", "-c", "user.email=a@example.com"}, args...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("git %s: %v: %s", args, err, out)
		}
		return string(out)
	}
	for name, text := range map[string]string{
		"fleet.yaml": "apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: eu}\nspec: {syncMode: Push}\n---\n" +
			"apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: us}\nspec: {syncMode: Push}\n",
		"shop.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, namespace: shop}\ndata: {a: b}\n---\n" +
			"apiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\nmetadata: {name: p, namespace: shop}\n" +
			"spec: {resourceSelectors: [{apiVersion: v1, kind: ConfigMap}], placement: {}}\n",
	} {
		if err := os.WriteFile(filepath.Join(at, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	git("init", "--quiet", "--initial-branch=main")
	git("add", "--all")
	git("commit", "--quiet", "--message=first")
	return at, git
}

// TestCommandLinesThatAreRefused: each ends with the status of a command line that is wrong, says what would help, and changes nothing.
func TestCommandLinesThatAreRefused(t *testing.T) {
	for _, name := range []string{"GITHUB_ACTIONS", "GITLAB_CI", "GITEA_ACTIONS", "WAYBILL_FORGE_TOKEN", "WAYBILL_UPDATES_TOKEN", "WAYBILL_UPDATES_PASSWORD", "WAYBILL_PASSWORD", "KUBERNETES_SERVICE_HOST"} {
		t.Setenv(name, "")
	}
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	source, git := workTree(t)
	short := filepath.Join(t.TempDir(), "short")
	if err := os.WriteFile(short, []byte("a secret of 20 bytes"), 0o600); err != nil {
		t.Fatal(err)
	}
	const (
		oidc   = "controller --ui-listen 127.0.0.1:0 --ui-oidc-issuer https://id.example "
		serves = "agent --cluster eu --repository https://git.example/a "
		joins  = "cluster join ap --agent --sync-mode Pull --repository https://git.example/a "
		none   = "if any flags in the group"
	)
	for _, tt := range []struct{ line, want string }{
		// what a controller does
		{"controller --interval 999ms", "--interval is 999ms; want at least 1s"},
		{"controller --previews --previews-per-author 0 --forge gitea", "--previews-per-author is 0; want at least 1"},
		{"controller --kubeconfig a --kubeconfig-dir b", none},
		{"controller --status-repository a --shared-repository", none},
		{"controller --github-app-id 1", "they must all be set"},
		{"controller --webhook-secret-file fleet.yaml", "reading --webhook-secret-file"},
		{"controller --webhook-secret-file none", "reading --webhook-secret-file"},
		{"controller --webhook-secret-file SHORT", "whose webhooks are they?"},
		{"controller --webhook-secret-file SHORT --forge gitea", "whose webhooks are they?"},
		{"controller --webhook-secret-file SHORT --forge-repository a/b", "whose webhooks are they?"},
		{"controller --webhook-secret-file SHORT --forge svn --forge-repository a/b", "svn"},
		{"controller --updates --forge gitea --forge-url https://git.example --forge-repository a/b", "there is no token for the forge"},
		{"controller --updates --updates-token-file none --forge gitea --forge-url https://git.example --forge-repository a/b", "reading --updates-token-file"},
		{"controller --leader-elect --leader-elect-resource-name Bad_Name", "--leader-elect-resource-name is"},

		// who may look at the web UI
		{"controller --ui-url https://waybill.example", "--ui-listen does not say where"},
		{"controller --ui-user-header X", "--ui-listen does not say where"},
		{"controller --ui-oidc-issuer https://id.example", "--ui-listen does not say where"},
		{"controller --ui-oidc-client-id x", "--ui-listen does not say where"},
		{"controller --ui-oidc-client-secret-file x", "--ui-listen does not say where"},
		{"controller --ui-cookie-key-file x", "--ui-listen does not say where"},
		{"controller --ui-trusted-proxies 10.0.0.0/8", "--ui-listen does not say where"},
		{"controller --ui-oidc-allowed-groups x", "--ui-listen does not say where"},
		{"controller --ui-listen 0.0.0.0:0", "nobody would have to log in"},
		{"controller --ui-listen :0", "nobody would have to log in"},
		{"controller --ui-listen 192.0.2.1:0", "nobody would have to log in"},
		{"controller --ui-listen localhost.example:0", "nobody would have to log in"},
		{"controller --ui-listen nonsense", "nobody would have to log in"},
		{"controller --ui-listen 127.0.0.1:0 --ui-url ftp://waybill.example", "want one without a path"},
		{"controller --ui-listen 127.0.0.1:0 --ui-url waybill.example", "want one without a path"},
		{"controller --ui-listen 127.0.0.1:0 --ui-url https:///", "want one without a path"},
		{"controller --ui-listen 127.0.0.1:0 --ui-url https://waybill.example/ui", "want one without a path"},
		{"controller --ui-listen 127.0.0.1:0 --ui-url https://waybill.example?a=b", "want one without a path"},
		{"controller --ui-listen 0.0.0.0:0 --ui-user-header X", "counts only from proxies that are named"},
		{"controller --ui-listen 0.0.0.0:0 --ui-user-header X --ui-trusted-proxies all", "reading --ui-trusted-proxies"},
		{oidc + "--ui-user-header X --ui-trusted-proxies 10.0.0.0/8", "two ways to log in"},
		{oidc + "--ui-oidc-client-id w --ui-oidc-allowed-groups g", "needs to know where people find the web UI"},
		{oidc + "--ui-url https://w.example --ui-oidc-allowed-groups g", "needs --ui-oidc-client-id"},
		{oidc + "--ui-url https://w.example --ui-oidc-client-id w", "say who may look"},
		{oidc + "--ui-url https://w.example --ui-oidc-client-id w --ui-oidc-allowed-groups g --leader-elect", "several replicas need one key"},
		{oidc + "--ui-url https://w.example --ui-oidc-client-id w --ui-oidc-allowed-groups g --ui-oidc-client-secret-file none", "reading --ui-oidc-client-secret-file"},
		{oidc + "--ui-url https://w.example --ui-oidc-client-id w --ui-oidc-allowed-groups g --ui-cookie-key-file none", "reading --ui-cookie-key-file"},
		{oidc + "--ui-url https://w.example --ui-oidc-client-id w --ui-oidc-allowed-groups g --ui-cookie-key-file SHORT", "reading --ui-cookie-key-file"},

		// agents
		{"agent --repository https://git.example/a", "--cluster is missing"},
		{"agent --cluster eu,, --repository https://git.example/a", "--cluster is missing"},
		{"agent --cluster eu", "--repository is missing"},
		{serves + "--interval 1ms", "--interval is 1ms"},
		{serves + "--heartbeat mail", `--heartbeat is "mail"`},
		{serves + "--shared-repository --status-repository b", none},
		{serves + "--shared-repository", "has to be signed"},
		{"agent --cluster eu --repository /a --shared-repository --key k --heartbeat git", "needs a status repository behind a URL"},
		{"agent --cluster eu --repository /a --shared-repository --key k --services-only", "--services-only needs --status-repository behind a URL"},
		{serves + "--shared-repository --key k --services-only --heartbeat git", "sends no heartbeats"},
		{"cluster join ap --repository https://git.example/a", "without --agent none is made"},
		{"cluster join ap --agent", "--sync-mode is Push"},
		{"cluster join ap --agent --sync-mode Pull", "--repository is missing"},
		{joins + "--services-only", "--services-only needs --status-repository"},
		{joins + "--status-repository https://git.example/a", "--status-repository is that of the branches"},
		{"cluster join ap --agent --secret", none},

		// clusters
		{"cluster join ap --file ../ap.yaml", "is outside of the source"},
		{"cluster add ap --file ../ap.yaml", "is outside of the source"},
		{"cluster add ap --file shop.yaml", "is there already, and nothing is overwritten"},
		{"cluster add ap --file ap.txt", "the source would not read ap.txt as a Cluster"},
		{"cluster add eu", "eu"},
		{"cluster suspend eu", "say why, with --reason"},
		{"cluster suspend ap --reason x", `no file of the source has a Cluster "ap"`},
		{"cluster resume ap", `no file of the source has a Cluster "ap"`},
		{"cluster reconcile ap", `no file of the source has a Cluster "ap"`},
		{"cluster cordon ap", `no file of the source has a Cluster "ap"`},
		{"cluster uncordon ap", `no file of the source has a Cluster "ap"`},
		{"cluster drain ap", `no file of the source has a Cluster "ap"`},
		{"cluster unjoin ap", `no file of the source has a Cluster "ap"`},
		{"cluster remove ap --yes", `no file of the source has a Cluster "ap"`},
		{"cluster remove eu", "nobody can be asked here, so say --yes"},

		// apply
		{"apply --wait=never", "want healthy"},
		{"apply --kubeconfig a --kubeconfig-dir b", none},
		{"apply --allow-endpoint https://x", "allow-endpoint"},
		{"apply -o xml", `output format "xml" is not known`},

		// what is asked
		{"get", "want one of these kinds"},
		{"get templates/", "names no object"},
		{"get templates/a b", "write templates a b"},
		{"get templates a -l b=c", "use one of them"},
		{"get templates -l =", "reading -l"},
		{"get pods --field-selector a=b", "add --clusters"},
		{"get pods --request-timeout 1s", "add --clusters"},
		{"get --clusters pods", "which KIND?"},
		{"get pods --clusters=eu --sort-by .a", "--sort-by is for what Git answers"},
		{"get pods --clusters=ap", "ap"},
		{"get pods --clusters --context x", "--context is for one cluster, and these are 2"},
		{"get templates --watch --rev HEAD", "--watch follows a directory as it stands"},
		{"get flux eu", `get flux lists no "eu"`},
		{"get argocd eu", `get argocd lists no "eu"`},
		{"get updates web", "takes no NAME"},
		{"get updates -o wide", "has the formats table, json and yaml"},
		{"logs web", "which cluster?"},
		{"exec web", "which cluster?"},
		{"top", "of what?"},
		{"explain settings", "names no object"},
		{"explain configmap/settings configmap/other", "are two objects"},
		{"explain configmap/other", "the source has no template configmap/other"},
		{"interpret --prefer flux", "want both, karmada or argocd"},
		{"doctor -C .", "reads no source, so that -C means nothing to it"},
		{"verify", "accepts 1 arg"},

		// what is compared, rendered and published
		{"diff HEAD main --watch", "--watch shows the directory as it stands"},
		{"diff --watch -o html", "-o html is a page for a file"},
		{"diff HEAD --post", "this is no job"},
		{"diff --post --watch", "this is no job"},
		{"diff HEAD main HEAD", "accepts at most 2 arg"},
		{"diff --at soon", "--at"},
		{"diff --with-cluster none.yaml", "--with-cluster"},
		{"render . --for demo", "unknown flag"},
		{"validate --for demo", `there is no purpose "demo"`},
		{"publish --rotate-random-key", "needs the new key"},
		{"publish --random-key-file SHORT", "is no random key"},
		{"publish --random-key-file SHORT --untrusted", "do not go together"},
		{"publish --allow-prune=x/y", "--allow-prune"},
		{"publish --signing-key none", "reading --signing-key"},
		{"rollback a b", "accepts at most 1 arg"},
		{"rollout approve shop/web", "accepts 2 arg"},
		{"rollout status", "accepts 1 arg"},
		{"rollout approve shop/web canary", "nothing was published to"},
		{"update --check --pull-request", none},
		{"update --commit --dry-run", none},
		{"update --pull-request", "this is no job of GitHub Actions"},
		{"update --commit", "updates.mode of waybill.yaml is off"},
		{"update nochart", `the source names no chart "nochart"`},
		{"help nothing", "unknown command"},
		{"nothing", "unknown command"},
		{"publish --nothing", "unknown flag"},
	} {
		args := strings.Fields(strings.ReplaceAll(tt.line, "SHORT", short))
		switch args[0] {
		case "controller":
			args = append(args, "--listen", "")
			fallthrough
		default:
			args = append(args, "--source", source)
		case "agent", "interpret", "doctor", "nothing", "help":
		}
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second) // where nothing is refused it would go on
		var out, problems strings.Builder
		code := run(ctx, args, &out, &problems)
		if ended := ctx.Err() != nil; code != 2 || !strings.Contains(problems.String(), tt.want) || ended {
			t.Errorf("waybill %s ends with %d (it went on: %t), want 2 and %q: %s%s", tt.line, code, ended, tt.want, out.String(), problems.String())
		}
		cancel()
	}
	if is := git("status", "--porcelain") + git("for-each-ref", "--format=%(refname)"); is != "refs/heads/main\n" {
		t.Errorf("there is %s", is)
	}
}

// TestWhereTheSourceIs: where -C says or where an argument is that nothing else is called, wherever that stands, and in one place.
func TestWhereTheSourceIs(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		use, line  string
		path, rest string
		fails      bool
	}{
		{"diff [BASE]", "", ".", "", false},
		{"diff [BASE]", "HEAD", ".", "HEAD", false},
		{"diff [BASE]", "-C x HEAD", "x", "HEAD", false},
		{"diff [BASE]", "HEAD ./x main", "./x", "HEAD main", false},
		{"diff [BASE]", ".. HEAD", "..", "HEAD", false},
		{"diff [BASE]", "../x HEAD", "../x", "HEAD", false},
		{"diff [BASE]", ". HEAD", ".", "HEAD", false},
		{"diff [BASE]", "..x HEAD", ".", "..x HEAD", false},
		{"diff [BASE]", "https://git.example.com/fleet", "https://git.example.com/fleet", "", false},
		{"diff [BASE]", dir, dir, "", false},
		{"diff [BASE]", filepath.Join(dir, "file"), ".", filepath.Join(dir, "file"), false},
		{"diff [BASE]", "-C x ./x HEAD", "./x", "HEAD", false},
		{"diff [BASE]", "-C x ./y HEAD", "", "", true},
		{"diff [BASE]", "./x ./y", "", "", true},
		{"render [PATH]", "x", "x", "", false},
		{"render [PATH]", "-C x x", "x", "", false},
		{"render [PATH]", "-C x y", "", "", true},
		{"update [PATH] [CHART...]", "x redis", "x", "redis", false},
		{"update [PATH] [CHART...]", "-C x redis", "x", "redis", false},
		{"update [PATH] [CHART...]", "redis ./x", "./x", "redis", false},
	} {
		cmd := &cobra.Command{Use: tt.use}
		cmd.Flags().StringP(sourceFlag, "C", ".", "")
		if err := cmd.ParseFlags(strings.Fields(tt.line)); err != nil {
			t.Fatal(err)
		}
		path, rest, err := sourceIn(cmd, cmd.Flags().Args())
		if path != tt.path || strings.Join(rest, " ") != tt.rest || (err != nil) != tt.fails {
			t.Errorf("%s, %q: the source is %q, beside %v: %v", tt.use, tt.line, path, rest, err)
		}
	}
}

// TestWhatIsCompleted: names of the source as it stands, each that was not named yet, and no more of them than are taken.
func TestWhatIsCompleted(t *testing.T) {
	source, git := workTree(t)
	git("remote", "add", "origin", source)
	git("remote", "add", "other", source)
	git("branch", "next")
	for line, want := range map[string]string{
		"cluster cordon -C SOURCE ":            "eu us",
		"cluster cordon -C SOURCE u":           "us",
		"cluster cordon -C SOURCE eu ":         "",
		"status -C SOURCE eu ":                 "us",
		"explain -C SOURCE ":                   "configmap/settings",
		"explain -C SOURCE -n ":                "shop",
		"get -C SOURCE templates -n shop ":     "settings",
		"get -C SOURCE templates -o js":        "json jsonpath jsonpath-as-json jsonpath-file",
		"diff -C SOURCE --without-cluster e":   "eu",
		"rollout approve -C SOURCE ":           "",
		"diff -C SOURCE ":                      "main next",
		"diff -C SOURCE main ":                 "next",
		"diff -C SOURCE main next ":            "",
		"diff -C /nowhere/at/all ":             "",
		"verify -C SOURCE m":                   "main",
		"rollback -C SOURCE n":                 "next",
		"get templates -C SOURCE --rev n":      "next",
		"publish SOURCE --to o":                "origin other",
		"publish /nowhere/at/all --to o":       "",
		"get -C SOURCE templ":                  "templates",
		"get -C SOURCE fl":                     "flux",
		"get -C SOURCE none ":                  "",
		"apply -C SOURCE ":                     "eu us",
		"apply -C SOURCE us ":                  "eu",
		"diff -C SOURCE -n s":                  "shop",
		"get flux -C SOURCE --cluster u":       "us",
		"cluster cordon -C /nowhere/at/all ":   "",
		"validate -C SOURCE -o ":               "json junit sarif table yaml",
		"cluster join -C SOURCE --sync-mode P": "",
	} {
		args := append([]string{cobra.ShellCompNoDescRequestCmd}, strings.Split(strings.ReplaceAll(line, "SOURCE", source), " ")...)
		var out, problems strings.Builder
		code := run(t.Context(), args, &out, &problems)
		var names []string
		for name := range strings.Lines(out.String()) {
			if name = strings.TrimSpace(name); !strings.HasPrefix(name, ":") {
				names = append(names, name)
			}
		}
		if got := strings.Join(names, " "); got != want || code != 0 {
			t.Errorf("%s: %q, want %q (%d, %s)", line, got, want, code, problems.String())
		}
	}
}

// TestWhatIsWaitedFor is what --wait says.
func TestWhatIsWaitedFor(t *testing.T) {
	for value, want := range map[string]struct {
		is       waiting
		accepted int
		fails    bool
	}{
		"true": {waitHealthy, 0, false}, "healthy": {waitHealthy, 0, false}, "false": {"", 0, false}, "healthy,suspended": {waitSuspended, 1, false}, "suspended": {"", 0, true},
	} {
		var w waiting
		if err := w.Set(value); (err != nil) != want.fails || w != want.is || len(w.accepted()) != want.accepted {
			t.Errorf("--wait=%s is %q, and accepts %v: %v", value, w, w.accepted(), err)
		}
	}
}
