package newagent

import (
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/signing"
)

// TestWhatMakesNoAgent is refused before a key is made.
func TestWhatMakesNoAgent(t *testing.T) {
	const branches = "--agent --repository https://git.example/branches"
	for _, tt := range []struct {
		args string
		mode karmada.ClusterSyncMode
		want string // of the error; empty: none
	}{
		{"", karmada.Push, ""},
		{"--services-only", karmada.Pull, "--services-only says how the agent runs"},
		{"--status-repository https://git.example/status", karmada.Pull, "--status-repository says how the agent runs"},
		{branches, karmada.Push, "--sync-mode is Push"},
		{"--agent", karmada.Pull, "--repository is missing"},
		{branches, karmada.Pull, ""},
		{branches + " --services-only", karmada.Pull, "--services-only needs --status-repository"},
		{branches + " --status-repository https://git.example/branches", karmada.Pull, "name another one"},
		{branches + " --status-repository https://git.example/status --services-only", karmada.Pull, ""},
	} {
		flags := pflag.NewFlagSet("join", pflag.ContinueOnError)
		a := Flags(flags)
		if err := flags.Parse(strings.Fields(tt.args)); err != nil {
			t.Fatal(err)
		}
		if err := a.Check(tt.mode); (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s, %s: %v, want %q", tt.args, tt.mode, err, tt.want)
		}
	}
}

// TestWhatRunsAnAgent is all in the one namespace that is named, has the key whose public half is returned where it writes anything, and
// the credentials that are named.
func TestWhatRunsAnAgent(t *testing.T) {
	const statuses = "--status-repository https://git.example/status --status-secret of-statuses --services-only"
	for _, tells := range []bool{true, false} {
		args := "--agent --repository https://git.example/branches --repository-secret of-branches --agent-namespace agents "
		if tells {
			args += statuses
		}
		flags := pflag.NewFlagSet("join", pflag.ContinueOnError)
		a := Flags(flags)
		if err := flags.Parse(strings.Fields(args)); err != nil {
			t.Fatal(err)
		}
		public, manifests, err := a.Manifests("eu")
		if err != nil {
			t.Fatal(err)
		}
		kinds := map[string]int{}
		for _, o := range object.Decode("all.yaml", manifests).Objects {
			kinds[o.Ref().Kind]++
			want := "agents"
			switch o.Ref().Kind {
			case "Namespace":
				want = ""
				if o.Ref().Name != "agents" || o.Labels()["pod-security.kubernetes.io/enforce"] != "restricted" {
					t.Errorf("the namespace is %s", o.YAML())
				}
			case "ClusterRole", "ClusterRoleBinding":
				want = ""
			case "Secret":
				data, _ := o.Content()["stringData"].(map[string]any)
				text, _ := data["identity"].(string)
				if key, err := signing.ParseKey([]byte(text)); err != nil || key.Public().String() != public.String() {
					t.Errorf("the key in the Secret is another one: %v", err)
				}
			case "Deployment":
				text := string(o.YAML())
				for said, want := range map[string]bool{"https://git.example/branches": true, "of-branches": true, "https://git.example/status": tells, "of-statuses": tells, "waybill-agent-key": tells, "--services-only": tells} {
					if strings.Contains(text, said) != want {
						t.Errorf("it tells: %t, and %q is in the Deployment: %t", tells, said, !want)
					}
				}
			}
			if o.Ref().Namespace != want {
				t.Errorf("%s is in the namespace %q, want %q", o.Ref(), o.Ref().Namespace, want)
			}
		}
		if kinds["Namespace"] != 1 || kinds["Deployment"] != 1 || kinds["Secret"] != map[bool]int{true: 1}[tells] {
			t.Errorf("it tells: %t, and there are %v", tells, kinds)
		}
	}
}

// TestWhichImageRuns: the one that is named; where that has neither a tag nor a digest, it has the tag of the chart.
func TestWhichImageRuns(t *testing.T) {
	ofTheChart := imageFor(t, "")
	_, tag, ok := strings.Cut(ofTheChart, ":")
	if !ok {
		t.Fatalf("the chart runs %q, which has no tag", ofTheChart)
	}
	const digest = "@sha256:6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b"
	for image, want := range map[string]string{
		"waybill":                                    "waybill:" + tag,
		"waybill:1.2.3":                              "waybill:1.2.3",
		"registry.example.com/waybill":               "registry.example.com/waybill:" + tag,
		"registry.example.com:5000/waybill":          "registry.example.com:5000/waybill:" + tag,
		"registry.example.com:5000/team/waybill:1.2": "registry.example.com:5000/team/waybill:1.2",
		"registry.example.com:5000/waybill" + digest: "registry.example.com:5000/waybill" + digest,
		"registry.example.com/waybill:1.2" + digest:  "registry.example.com/waybill:1.2" + digest,
	} {
		if got := imageFor(t, image); got != want {
			t.Errorf("of %s it is %q, want %q", image, got, want)
		}
	}
}

// imageFor is the image that an agent runs of which a command line names one.
func imageFor(t *testing.T, image string) string {
	t.Helper()
	flags := pflag.NewFlagSet("join", pflag.ContinueOnError)
	a := Flags(flags)
	if err := flags.Parse([]string{"--agent", "--repository", "https://git.example/branches", "--agent-image", image}); err != nil {
		t.Fatal(err)
	}
	_, manifests, err := a.Manifests("eu")
	if err != nil {
		t.Fatal(err)
	}
	_, after, ok := strings.Cut(string(manifests), " image: ")
	if !ok {
		t.Fatalf("no image is in\n%s", manifests)
	}
	named, _, _ := strings.Cut(after, "\n")
	return named
}
