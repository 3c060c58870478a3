package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	stdlog "log"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// subscribed is a fleet with a forge and a registry, of which new images become pull requests.
type subscribed struct {
	*waves

	registry string // host and port
	served   *http.Server
}

// returning is the strategy: what fails at canary goes back by itself.
const returning = `apiVersion: placement.kubernetes-fleet.io/v1beta1
kind: ClusterStagedUpdateStrategy
metadata:
  name: careful
  annotations: {waybill.dev/settle: 5s, waybill.dev/on-failure: Return}
spec:
  stages:
  - {name: canary, labelSelector: {matchLabels: {ring: canary}}, afterStageTasks: [{type: TimedWait, waitTime: 10s}]}
  - {name: prod, labelSelector: {matchLabels: {ring: prod}}}
`

// updateStory tells how a new image reaches clusters, and how a bad one does not.
func updateStory(ctx context.Context, out io.Writer, dir string) error {
	fmt.Fprintln(out, "Two clusters on this machine: real control planes, simulated nodes (the first time they are built, which takes some ten minutes).")
	f, err := startFleet(ctx, out, dir, update, canary, prod)
	if f != nil {
		defer f.stop()
	}
	if err != nil {
		return err
	}
	h, err := f.host()
	if err != nil {
		return err
	}
	s := &subscribed{waves: &waves{hosted: h, strategy: returning}}
	if err := s.offer(); err != nil {
		return err
	}
	defer func() { _ = s.served.Close() }()
	return f.tell(s.begin, s.follow, s.bind, s.improve, s.spoil, s.revert, s.goOn)
}

// offer starts a registry, which has the first version.
func (s *subscribed) offer() error {
	listener, err := (&net.ListenConfig{}).Listen(s.ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	quiet := stdlog.New(io.Discard, "", 0) //nolint:forbidigo // the registry takes no other
	s.served = &http.Server{Handler: registry.New(registry.Logger(quiet)), ReadHeaderTimeout: time.Minute}
	go func() { _ = s.served.Serve(listener) }() // it ends with the demo
	s.registry = listener.Addr().String()
	s.image = s.registry + "/web"
	return s.release("1.0.0")
}

// release pushes a version of web to the registry.
func (s *subscribed) release(version string) error {
	ref, err := name.ParseReference(s.image + ":" + version)
	if err != nil {
		return err
	}
	s.say("\nSomebody pushes %s to the registry.", ref)
	return remote.Write(ref, empty.Image, remote.WithContext(s.ctx))
}

// begin registers the clusters, and subscribes the source to the registry.
func (s *subscribed) begin() error {
	s.title("Two clusters, each with a ring, and a source that subscribes to a registry")
	if err := s.create(); err != nil {
		return err
	}
	for _, file := range []string{"waybill.yaml", "web.yaml", "images.yaml"} {
		if err := s.replace(file, "REGISTRY", s.registry); err != nil {
			return err
		}
	}
	for _, c := range []struct{ name, ring string }{{canary, "canary"}, {prod, "prod"}} {
		if err := s.show("cluster", "join", c.name, "-C", s.source, "--kubeconfig-dir", s.kubeconfigs, "--label", "ring="+c.ring); err != nil {
			return err
		}
	}
	return s.push("main", "four replicas of web 1.0.0")
}

// follow starts the controller.
func (s *subscribed) follow() error {
	s.title("The controller publishes and applies; ImageRepository and ImagePolicy are on no cluster")
	if err := s.controlled([]string{"push"}, "--interval", "10m", "--apply", "--kubeconfig-dir", s.kubeconfigs); err != nil {
		return err
	}
	return s.run(copies{canary, "1.0.0", 2}, copies{prod, "1.0.0", 2})
}

// improve takes a good version.
func (s *subscribed) improve() error {
	s.title("A new image becomes a pull request, which says what it does to each cluster")
	if err := s.release("1.1.0"); err != nil {
		return err
	}
	if err := s.typed("get", "updates"); err != nil {
		return err
	}
	if err := s.propose("1.1.0"); err != nil {
		return err
	}
	s.title("It is merged, and goes out in stages: canary has it for ten seconds, then prod")
	if err := s.take(); err != nil {
		return err
	}
	if err := s.run(copies{canary, "1.1.0", 2}, copies{prod, "1.0.0", 2}); err != nil {
		return err
	}
	if err := s.typed("get", "rollouts"); err != nil {
		return err
	}
	if err := s.run(copies{prod, "1.1.0", 2}); err != nil {
		return err
	}
	if err := s.soaked(canary, prod); err != nil {
		return err
	}
	return s.over()
}

// spoil takes a version that no node can pull.
func (s *subscribed) spoil() error {
	s.title("The next image is bad: it is merged, fails at canary, and goes back by itself; prod never has it")
	if err := s.release("1.2.0-broken"); err != nil {
		return err
	}
	if err := s.propose("1.2.0-broken"); err != nil {
		return err
	}
	if err := s.take(); err != nil {
		return err
	}
	if err := s.awaitImage(canary, "web:1.2.0-broken"); err != nil {
		return err
	}
	if err := s.run(copies{canary, "1.1.0", 2}); err != nil {
		return err
	}
	if err := s.phase("Stopped", "KeptBack"); err != nil {
		return err
	}
	if err := s.untouched(prod); err != nil {
		return err
	}
	if err := s.typed("get", "rollouts"); err != nil {
		return err
	}
	return s.status(s.head, ofWeb, "failure")
}

// revert has the source say the version before.
func (s *subscribed) revert() error {
	s.title("It is reverted in the source, and is not proposed again")
	if err := s.ask("revert", "-m", "1", "--no-edit", "HEAD"); err != nil {
		return err
	}
	if err := s.ask("push", "-q", "origin", "main"); err != nil {
		return err
	}
	if err := s.phase("Done", ""); err != nil {
		return err
	}
	if err := s.propose(""); err != nil {
		return err
	}
	var all []struct{ Newest, Next, Why string }
	out, err := s.waybillIn("get", "updates", "-o", "json").Output()
	if err == nil {
		err = json.Unmarshal(out, &all)
	}
	if err != nil {
		return err
	}
	if len(all) != 1 || all[0].Newest != "1.2.0-broken" || all[0].Next != "" || all[0].Why != "KeptBack" {
		return fmt.Errorf("what is newer is %+v", all)
	}
	return s.untouched(prod)
}

// goOn takes the version after the bad one.
func (s *subscribed) goOn() error {
	s.title("The version after it is proposed, merged, and goes to both")
	if err := s.release("1.3.0"); err != nil {
		return err
	}
	if err := s.propose("1.3.0"); err != nil {
		return err
	}
	if err := s.take(); err != nil {
		return err
	}
	if err := s.run(copies{canary, "1.3.0", 2}, copies{prod, "1.3.0", 2}); err != nil {
		return err
	}
	return s.over()
}

// propose does what a job in CI does, and shows the pull request that is open then. It has to be for a version; for none if
// that is empty.
func (s *subscribed) propose(version string) error {
	if err := s.typed("update", "--pull-request", "--forge", "gitea", "--forge-url", s.gitea.URL, "--forge-repository", repository,
		"--token-file", filepath.Join("..", "token")); err != nil {
		return err
	}
	var open []struct {
		Number      int
		Title, Body string
	}
	if err := s.do(http.MethodGet, "/repos/"+repository+"/pulls?state=open", nil, &open); err != nil {
		return err
	}
	if version == "" {
		if len(open) > 0 {
			return fmt.Errorf("open is %+v", open)
		}
		s.say("\nNo pull request is open.")
		return nil
	}
	if len(open) != 1 || !strings.HasSuffix(open[0].Title, " to "+version) || !strings.Contains(open[0].Body, canary) || !strings.Contains(open[0].Body, prod) {
		return fmt.Errorf("open is %+v, and should be one for %s with a preview", open, version)
	}
	s.pull = open[0].Number
	s.say("\nThe pull request at Gitea: %s\n\n%s", open[0].Title, open[0].Body)
	return nil
}

// take merges the pull request, and has the source here follow.
func (s *subscribed) take() error {
	if err := s.accepted(); err != nil {
		return err
	}
	return s.git("-C", s.source, "pull", "-q", "--ff-only", "origin", "main")
}
