package deploy

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/waybill-dev/waybill/test/program"
)

// expression is what a forge puts in place of text before a shell sees it.
var expression = regexp.MustCompile(`\$\{\{[^}]*\}\}|\$[A-Z_]+`)

// TestTheRecipesAreCommandsOfWaybill reads every recipe as its forge does, and has the program read
// each of its command lines. A flag that there is not, or a value that it does not take, fails.
func TestTheRecipesAreCommandsOfWaybill(t *testing.T) {
	waybill, recipes := program.Build(t), 0
	files, err := filepath.Glob(folder + "/ci/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		recipes++
		posts := false
		for _, line := range scriptsOf(t, file) {
			command, rest, ok := strings.Cut(line, "waybill ")
			if !ok || command != "" {
				continue // it installs the program
			}
			rest, alternative, _ := strings.Cut(rest, " || ")
			if alternative != "" && alternative != "[ $? -eq 1 ]" {
				t.Errorf("%s: what is %q?", file, alternative)
			}
			args := strings.Fields(expression.ReplaceAllString(rest, "main"))
			if slices.ContainsFunc(args, func(a string) bool { return strings.ContainsAny(a, "$`'\"|&;<>") }) {
				t.Errorf("%s: this test reads no shell as in %s", file, line)
			}
			posts = posts || slices.Contains(args, "--post")
			// The program reads its flags before it sees that help is asked for.
			if out, err := exec.CommandContext(t.Context(), waybill, append(args, "--help")...).CombinedOutput(); err != nil || !strings.Contains(string(out), "waybill "+args[0]) {
				t.Errorf("%s: %s: %v\n%s", file, line, err, out)
			}
		}
		if !posts {
			t.Errorf("%s shows nothing", file)
		}
	}
	if recipes != 3 {
		t.Errorf("there are %d recipes", recipes)
	}
	if out, err := exec.CommandContext(t.Context(), waybill, "diff", "--no-such-flag", "--help").CombinedOutput(); err == nil {
		t.Errorf("a flag that there is not is taken: %s", out)
	}
}

// scriptsOf are the lines that a recipe has a shell run. It fails where a recipe has what its forge
// does not know.
func scriptsOf(t *testing.T, file string) (lines []string) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	read := func(into any) {
		t.Helper()
		if err := yaml.UnmarshalStrict(data, into); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
	}
	if filepath.Base(file) == "gitlab.yaml" {
		var jobs map[string]struct {
			Image         string
			Rules         []struct{ If string }
			ResourceGroup string `json:"resource_group"`
			Script        []string
		}
		read(&jobs)
		for _, j := range jobs {
			lines = append(lines, j.Script...)
		}
		return lines
	}
	var flow struct {
		Name        string
		On          map[string]any
		True        map[string]any `json:"true"` // "on", as YAML 1.1 reads it
		Permissions map[string]string
		Jobs        map[string]struct {
			RunsOn      string `json:"runs-on"`
			Permissions map[string]string
			Concurrency map[string]any
			Env         map[string]string
			Steps       []struct {
				Uses, Run string
				With      map[string]string
			}
		}
	}
	read(&flow)
	if _, ok := flow.True["pull_request"]; !ok {
		t.Errorf("%s runs on %v", file, flow.True)
	}
	for _, j := range flow.Jobs {
		for _, s := range j.Steps {
			if (s.Uses == "") == (s.Run == "") {
				t.Errorf("%s: a step uses %q and runs %q", file, s.Uses, s.Run)
			}
			lines = append(lines, strings.Split(s.Run, "\n")...)
		}
	}
	return lines
}
