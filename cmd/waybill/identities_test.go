package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"filippo.io/age"
	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/waybill-dev/waybill/reconciler/clusters"
	"github.com/waybill-dev/waybill/reconciler/management"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/render/seal"
)

// inFile writes text to a file that its owner alone reads.
func inFile(t *testing.T, text string) (name string) {
	t.Helper()
	name = filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// TestWhereClustersAreReachedBySecrets: in the management cluster that is named, or that the Pod is in if nothing else says how they are
// reached; where there is none, a namespace is not passed over.
func TestWhereClustersAreReachedBySecrets(t *testing.T) {
	const config = `{apiVersion: v1, kind: Config, current-context: x, contexts: [{name: x, context: {cluster: x, user: x, namespace: home}}],
users: [{name: x, user: {}}], clusters: [{name: x, cluster: {server: "https://127.0.0.1:1"}}]}`
	kubeconfig := inFile(t, config)
	for _, tt := range []struct {
		name    string
		managed managementFlags
		access  clusters.Access
		env     string // KUBECONFIG
		has     bool   // there is a cluster
		want    string // the namespace, or what is wrong; empty: no Secrets
	}{
		{name: "in a cluster", has: true, want: "home"},
		{name: "in a cluster, with a namespace", managed: managementFlags{namespace: "mine"}, has: true, want: "mine"},
		{name: "in a job that has a folder", access: clusters.Access{Folder: "f"}, has: true},
		{name: "in a job that has a kubeconfig", access: clusters.Access{Kubeconfig: "k"}, has: true},
		{name: "in a job that has a context", access: clusters.Access{Context: "c"}, has: true},
		{name: "in a job whose environment has one", env: "k", has: true},
		{name: "a folder, too", managed: managementFlags{kubeconfig: "k"}, access: clusters.Access{Folder: "f"}, has: true, want: "home"},
		{name: "a context, too", managed: managementFlags{namespace: "mine"}, access: clusters.Access{Context: "c"}, env: "k", has: true, want: "mine"},
		{name: "nowhere"},
		{name: "nowhere, with a namespace", managed: managementFlags{namespace: "mine"}, want: management.ErrNone.Error()},
		{name: "a kubeconfig that is not there", managed: managementFlags{kubeconfig: "none"}, want: "is away"},
	} {
		t.Setenv("KUBECONFIG", tt.env)
		opened, m := 0, tt.managed
		m.open = func() (*management.Cluster, error) {
			switch opened++; {
			case tt.has:
				return management.Open(kubeconfig, tt.managed.namespace, "waybill/test")
			case tt.managed.kubeconfig != "":
				return nil, errors.New("the kubeconfig is away")
			}
			return nil, management.ErrNone
		}
		m.secretsOf(&tt.access)
		if opened > 0 {
			t.Errorf("%s: the cluster is opened before anybody asks", tt.name)
		}
		found, err := tt.access.Secrets()
		got := ""
		if found != nil {
			got = found.In()
		}
		if err != nil {
			got += err.Error()
		}
		if !strings.Contains(got, tt.want) || tt.want == "" && got != "" {
			t.Errorf("%s: it is %q, want %q", tt.name, got, tt.want)
		}
	}

	flags := &cobra.Command{Use: "x"}
	m := addManagementFlags(flags.Flags())
	if err := flags.ParseFlags([]string{"--management-kubeconfig", kubeconfig, "--cluster-secrets-namespace", "mine"}); err != nil {
		t.Fatal(err)
	}
	first, err := m.open()
	if again, _ := m.open(); err != nil || first.In() != "mine" || again != first {
		t.Errorf("what the flags name is %+v, and then %+v: %v", first, again, err)
	}
}

// secrets are those of one namespace.
type secrets map[string]map[string][]byte

func (secrets) In() string { return "waybill" }

func (s secrets) Secret(_ context.Context, name string) (map[string][]byte, error) {
	if name == "refused" {
		return nil, errors.New("it may not read the Secret")
	}
	if data, ok := s[name]; ok {
		return data, nil
	}
	return nil, fmt.Errorf("reading it: %w", apierrors.NewNotFound(schema.GroupResource{Resource: string(corev1.ResourceSecrets)}, name))
}

// content is a Secret that is sealed.
var content = map[string]any{"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": "a"}, "stringData": map[string]any{"a": "b"}}

// sealedTo returns it, sealed to a key.
func sealedTo(t *testing.T, by seal.Key, key *age.X25519Identity) []byte {
	t.Helper()
	to, err := seal.ParseRecipients(key.Recipient().String())
	if err != nil {
		t.Fatal(err)
	}
	document, err := by.Seal(content, to)
	if err != nil {
		t.Fatal(err)
	}
	return document
}

// TestWhatDecrypts: the identities of the file that is named, and of all keys of the Secret that end as they should, as they are now; there
// may be none of either.
func TestWhatDecrypts(t *testing.T) {
	by := seal.Master(object.Ref{Kind: "Secret", Name: "a"}, object.Encode(content)) // which takes long
	var keys []string
	var documents [][]byte
	for range 4 {
		id, err := age.GenerateX25519Identity()
		if err != nil {
			t.Fatal(err)
		}
		keys, documents = append(keys, id.String()), append(documents, sealedTo(t, by, id))
	}
	source, file := t.TempDir(), inFile(t, keys[0]+"\n")
	inside := filepath.Join(source, "key")
	if err := os.WriteFile(inside, []byte(keys[0]), 0o600); err != nil {
		t.Fatal(err)
	}
	away := errors.New("the cluster is away")
	there := secrets{
		"sops-age": {"b.agekey": []byte(keys[2]), "a.agekey": []byte(keys[1]), "note": []byte("no key")},
		"broken":   {"a.agekey": []byte(keys[1]), "b.agekey": []byte("no key")},
		"mine":     {"a.agekey": []byte(keys[3])},
	}
	in := func(s clusters.Secrets, err error) func() (clusters.Secrets, error) {
		return func() (clusters.Secrets, error) { return s, err }
	}
	for _, tt := range []struct {
		name    string
		args    []string
		secrets func() (clusters.Secrets, error)
		want    []int // of keys
		refused string
		fails   string
	}{
		{name: "nothing is named, and there is no cluster", secrets: in(nil, nil)},
		{name: "nothing is named", secrets: in(there, nil), want: []int{1, 2}},
		{name: "a file", args: []string{"--age-identity-file", file}, secrets: in(nil, nil), want: []int{0}},
		{name: "a file and a Secret", args: []string{"--age-identity-file", file, "--sops-secret", "mine"}, secrets: in(there, nil), want: []int{0, 3}},
		{name: "no Secret is to be read", args: []string{"--sops-secret", ""}, secrets: in(nil, away)},
		{name: "the Secret is not there", args: []string{"--age-identity-file", file, "--sops-secret", "none"}, secrets: in(there, nil), want: []int{0}},
		{name: "the cluster is not there", secrets: in(nil, away), fails: "the cluster is away"},
		{name: "the Secret is not to be read", args: []string{"--sops-secret", "refused"}, secrets: in(there, nil), fails: "it may not read the Secret"},
		{name: "a key of the Secret is none", args: []string{"--sops-secret", "broken"}, secrets: in(there, nil), fails: "reading the Secret waybill/broken: b.agekey: "},
		{name: "a file that is not there", args: []string{"--age-identity-file", file + "-none"}, refused: "reading --age-identity-file"},
		{name: "a file of no identity", args: []string{"--age-identity-file", inFile(t, "# none")}, refused: "make one: age-keygen -o "},
		{name: "a file among those of the source", args: []string{"--age-identity-file", inside}, refused: "--age-identity-file"},
	} {
		cmd, access := &cobra.Command{Use: "x"}, &clusters.Access{}
		opens := identityFlags(cmd, access, "key file")
		if err := cmd.ParseFlags(tt.args); err != nil {
			t.Fatal(err)
		}
		access.Secrets = tt.secrets // after the flags, as a command has it
		ask, err := opens(source)
		if tt.refused != "" {
			if err == nil || !strings.Contains(err.Error(), tt.refused) {
				t.Errorf("%s: %v, want %q", tt.name, err, tt.refused)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		of, err := ask(t.Context())
		if tt.fails != "" {
			if err == nil || !strings.Contains(err.Error(), tt.fails) {
				t.Errorf("%s: %v, want %q", tt.name, err, tt.fails)
			}
			continue
		}
		var is []int
		for i, document := range documents {
			if _, err := of.Document(document); err == nil {
				is = append(is, i)
			}
		}
		if diff := cmp.Diff(tt.want, is); diff != "" || err != nil {
			t.Errorf("%s: it decrypts (-want +got):\n%s%v", tt.name, diff, err)
		}
	}
}
