package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// steps are what .ci/run makes.
var steps = []string{"tidy", "lint", "test", "install", "ui", "e2e", "demos", "race", "release-check", "vulncheck"}

// TestAnyStepThatFailsFailsTheRun, also of those that run beside the others: with a make that does nothing but fail once.
func TestAnyStepThatFailsFailsTheRun(t *testing.T) {
	t.Parallel()
	if err := ciRun(t, "none"); err != nil {
		t.Errorf("a run of which no step fails fails: %v", err)
	}
	for _, s := range steps {
		t.Run(s, func(t *testing.T) {
			t.Parallel()
			if ciRun(t, s) == nil {
				t.Errorf("make %s fails, and the run does not", s)
			}
		})
	}
}

// ciRun runs .ci/run where make fails for one target, and all that is looked for is there.
func ciRun(t *testing.T, fails string) error {
	t.Helper()
	root := t.TempDir()
	script, err := os.ReadFile("../../.ci/run")
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{".ci/run": string(script), "bin/make": "#!/bin/sh\nprintf '%s\\n' \"$1\" >>made\n[ \"$1\" != " + fails + " ]\n"}
	for _, program := range []string{"gcc", "chromium", "npm"} {
		files["bin/"+program] = "#!/bin/sh\n"
	}
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	c := exec.CommandContext(t.Context(), filepath.Join(root, ".ci/run"))
	c.Env = append(os.Environ(), "PATH="+filepath.Join(root, "bin")+":"+os.Getenv("PATH"))
	out, err := c.CombinedOutput()
	made, _ := os.ReadFile(filepath.Join(root, "made"))
	for _, s := range steps {
		if fails == "none" && !slices.Contains(strings.Fields(string(made)), s) {
			t.Errorf("make %s is not run: %s", s, out)
		}
	}
	return err
}
