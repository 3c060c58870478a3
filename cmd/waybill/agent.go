package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/klog/v2"

	"github.com/waybill-dev/waybill/cmd/waybill/private"
	"github.com/waybill-dev/waybill/reconciler/agent"
	"github.com/waybill-dev/waybill/reconciler/clusters"
	"github.com/waybill-dev/waybill/reconciler/endpoints/pull"
	"github.com/waybill-dev/waybill/reconciler/management"
	"github.com/waybill-dev/waybill/reconciler/published"
	"github.com/waybill-dev/waybill/reconciler/refs"
	"github.com/waybill-dev/waybill/reconciler/replicas"
	"github.com/waybill-dev/waybill/reconciler/serve"
	"github.com/waybill-dev/waybill/sources/git"
	"github.com/waybill-dev/waybill/sources/signing"
)

// The times of the Lease by which one of several agents for a cluster works. Renewing it costs a
// request each time; another agent has it before one that lost it says that the cluster is not
// ready, which takes 30 s.
var agentTimes = replicas.Times{Lease: 15 * time.Second, Renew: 10 * time.Second, Retry: 5 * time.Second}

// agentGCPercent trades time for memory: an agent does little, and lives where there is little.
const agentGCPercent = 100

const (
	keyFlag     = "key"
	signersFlag = "allowed-signers"
)

// agentFlags are the flags of an agent.
type agentFlags struct {
	cmd                *cobra.Command
	clusters           []string
	branches, statuses string // repositories
	shared, rollback   bool
	servicesOnly       bool
	kubeconfig         string
	namespace          string
	instance           string
	heartbeat          string
	controller         string
	key, signers       string // files
	interval, resync   time.Duration
	listen             string
	plain              *bool
	auth, statusAuth   func() (git.Auth, error)
	identities         func(path string) (ask, error)
	access             clusters.Access
	verbose            *bool
}

func agentCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "agent --cluster NAME --repository URL", Short: "Apply a cluster's branch from inside the cluster", Args: cobra.NoArgs,
		Long: `Agent runs in a cluster whose syncMode is Pull, and keeps it at the head of its branch,
as the controller does with clusters that it reaches. It reads --repository, and writes to
--status-repository what became of the branch and what plans can see of the cluster. What
it writes is signed with --key, whose public half is in the Cluster file. SIGHUP has it
look at once. Of several agents for one cluster one works. With several --cluster it
serves the virtual clusters of one API server, and may serve their host. See docs/agent.md.
With --services-only something else applies the branch, as Flux or Argo CD: the agent
brings endpoints of services from and to the cluster, see docs/services.md.`,
		Example: "  waybill agent --cluster edge-7 --repository https://git.example.com/fleet/branches --status-repository https://git.example.com/fleet/status --key /etc/waybill/identity",
	}
	f := &agentFlags{cmd: cmd, access: clusters.Access{Agent: "waybill/" + buildVersion(), Alone: true}}
	flags := cmd.Flags()
	flags.StringSliceVar(&f.clusters, "cluster", nil, "name of the cluster, as it is registered; repeat for virtual clusters on the same API server")
	flags.StringVar(&f.branches, "repository", "", "URL or path of the repository that has the branches; nothing is written there")
	flags.StringVar(&f.statuses, "status-repository", "", "URL or path of the repository that statuses are written to; empty: nothing is written")
	flags.BoolVar(&f.shared, "shared-repository", false, "the statuses go to the repository of the branches; see docs/security.md for the rules that its branches need")
	flags.BoolVar(&f.servicesOnly, "services-only", false, "apply nothing, and tell nothing but the cluster's book of endpoints: bring endpoints of services, as its branch says, where Flux or Argo CD applies it")
	flags.StringVar(&f.key, keyFlag, "", "file with the private key that signs what is written, as ssh-keygen -t ed25519 makes it")
	flags.StringVar(&f.signers, signersFlag, "", "file of those who may sign commits of branches, as Git's gpg.ssh.allowedSignersFile, or armored OpenPGP keys; without it no signature is asked for")
	flags.StringVar(&f.kubeconfig, "kubeconfig", "", "kubeconfig whose current context is the cluster (default: the cluster that this runs in)")
	flags.StringVar(&f.namespace, "namespace", "", "namespace of the Lease, and of the Secret with keys of SOPS (default: that of the context or the Pod)")
	flags.StringVar(&f.instance, "instance", "", "what this agent is called (default: the Pod, or the machine and something random)")
	flags.StringVar(&f.heartbeat, "heartbeat", "", "how the controller hears that this agent is there: `http`, at --controller, git, by a ref of the status repository, or none (default http, if there is a --controller, or else git, if the status repository is behind a URL)")
	flags.StringVar(&f.controller, "controller", "", "URL at which the controller answers, for heartbeats by HTTP")
	flags.DurationVar(&f.interval, "interval", 30*time.Second, "time between two looks at the branch")
	flags.BoolVar(&f.rollback, "rollback", false, "go by a state, and apply a head, that does not come after the one of last time; for once, after a restore")
	flags.DurationVar(&f.resync, "resync", 10*time.Minute, "time after which the cluster is looked at, whatever its watches say")
	flags.StringVar(&f.listen, "listen", "127.0.0.1:8080", "address for health and metrics; empty for none")
	flags.StringArrayVar(&f.access.Exec, "allow-exec", nil, "program that the kubeconfig may run for a credential, as it is written there; repeat for more")
	f.plain = flags.Bool("plain-http", false, "send passwords over http, too, where others can read them")
	f.auth = credentialSet(cmd, "", "WAYBILL_", "the repository of the branches")
	f.statusAuth = credentialSet(cmd, "status-", "WAYBILL_STATUS_", "the repository of the statuses")
	f.identities = identityFlags(cmd, &f.access, "key file of age, by which documents that SOPS encrypted are decrypted")
	f.verbose = flags.BoolP("verbose", "v", false, "log more")
	cmd.MarkFlagsMutuallyExclusive("status-repository", "shared-repository")
	cmd.RunE = func(*cobra.Command, []string) error { return failure(2, f.run()) }
	return cmd
}

func (f *agentFlags) run() error {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(agentGCPercent)
	}
	if err := f.check(); err != nil {
		return err
	}
	log := logger(f.cmd, f.verbose)
	klog.SetSlogLogger(slog.New(errorsOnly{log.Handler()}))
	a, err := f.agent(log)
	if err != nil {
		return err
	}
	server := serve.New()
	a.Applied, a.Looked = server.RecordApply, server.RecordLook
	a.Election.Tell = server.RecordLead
	wakes, stop := hangups(f.cmd.Context())
	defer stop()
	parts, err := listening(f.cmd.Context(), server, f.listen)
	if err != nil {
		return err
	}
	parts = append(parts, runnable{name: "agent", leads: true, wakes: wakes, run: func(ctx context.Context, wakes <-chan struct{}) error {
		a.Wake = wakes
		return a.Run(ctx)
	}})
	return runAll(f.cmd.Context(), log, parts, always)
}

// check refuses a command line that does not say what an agent needs.
func (f *agentFlags) check() error {
	at := f.statuses
	if f.shared {
		at = f.branches
	}
	switch {
	case len(f.clusters) == 0 || slices.Contains(f.clusters, ""):
		return errors.New("--cluster is missing; it is the name under which the cluster is registered")
	case f.branches == "":
		return errors.New("--repository is missing; it is where the branches are published")
	case f.interval < time.Second:
		return fmt.Errorf("--interval is %s; want at least 1s", f.interval)
	case f.statuses == f.branches:
		return errors.New("--status-repository is that of the branches, and whoever may write to a repository may write to every branch that nothing protects; give another one, or say --shared-repository")
	case !slices.Contains([]string{"", byGit, byHTTP, byNo}, f.heartbeat):
		return fmt.Errorf("--heartbeat is %q; want %s, %s or %s", f.heartbeat, byHTTP, byGit, byNo)
	case f.heartbeat == byHTTP && f.controller == "":
		return errors.New("--heartbeat http needs --controller: the URL at which the controller answers")
	case f.heartbeat == byGit && git.Origin(cmp.Or(at, f.branches)) == "":
		return errors.New("--heartbeat git needs a status repository behind a URL")
	case f.servicesOnly && git.Origin(at) == "":
		return errors.New("--services-only needs --status-repository behind a URL: books of endpoints are there")
	case f.servicesOnly && f.heartbeat != "" && f.heartbeat != byNo || f.servicesOnly && f.controller != "":
		return errors.New("--services-only sends no heartbeats: it does not know whether the branch is applied; leave out --heartbeat and --controller")
	case (f.statuses != "" || f.shared) && f.key == "":
		return fmt.Errorf("--%s is missing: what is written to the status repository has to be signed; `waybill cluster join --agent` makes one", keyFlag)
	}
	return nil
}

// agent is what the flags say.
func (f *agentFlags) agent(log *slog.Logger) (*agent.Agent, error) {
	f.access.Kubeconfig = f.kubeconfig
	member, err := management.Open(f.kubeconfig, f.namespace, f.access.Agent)
	if err != nil {
		return nil, fmt.Errorf("%w, or here with --kubeconfig", err)
	}
	f.access.Secrets = func() (clusters.Secrets, error) { return member, nil }
	name, err := f.name()
	if err != nil {
		return nil, err
	}
	a := &agent.Agent{
		Clusters: f.clusters, ServicesOnly: f.servicesOnly, Interval: f.interval, Resync: f.resync, Log: log, Random: rand.Float64,
		Election: replicas.Election{Leases: member.Leases(), Namespace: member.In(), Name: "waybill-agent-" + f.clusters[0], Replica: name, Times: agentTimes, Log: log},
	}
	if err := f.repositories(a); err != nil {
		return nil, err
	}
	a.Applier.Access = f.access
	a.Applier.Published.Identities, err = f.identities(os.TempDir())
	return a, err
}

// name is what this agent is called: in a Pod as that, so that a container which starts anew goes
// on at once; elsewhere as no other.
func (f *agentFlags) name() (string, error) {
	if f.instance != "" {
		return f.instance, nil
	}
	if os.Getenv("KUBERNETES_SERVICE_HOST") != "" && f.kubeconfig == "" {
		return os.Hostname()
	}
	return replicaName()
}

// repositories opens what is read and what is written.
func (f *agentFlags) repositories(a *agent.Agent) error {
	auth, err := f.auth()
	if err != nil {
		return err
	}
	auth.PlainHTTP = *f.plain
	r := &published.Reader{Branches: published.At(nil), Rollback: f.rollback}
	a.Applier.Published, a.Applier.Now = r, time.Now
	if r.Target, err = open(f.cmd.Context(), f.branches, forNamed(auth, f.branches)); err != nil {
		return err
	}
	if f.signers != "" {
		text, err := os.ReadFile(f.signers)
		if err == nil {
			r.Signers, err = signing.ParseSigners(text)
		}
		if err != nil {
			return fmt.Errorf("reading --%s: %w", signersFlag, err)
		}
	}
	a.Books.Published, a.Books.Signed = behindURL(r.Target), f.signed(r)
	if f.statuses == "" && !f.shared {
		return nil
	}
	key, err := readKey(keyFlag, f.key)
	if err != nil {
		return err
	}
	if f.statusAuth != nil && !f.shared {
		if auth, err = f.statusAuth(); err != nil {
			return err
		}
		auth.PlainHTTP = *f.plain
	}
	at := cmp.Or(f.statuses, f.branches)
	repo, err := openSigned(f.cmd.Context(), at, forNamed(auth, at), key.SignCommit)
	if err != nil {
		return err
	}
	public := key.Public()
	a.Status, a.Key, a.Books.Agents = repo, &public, behindURL(repo)
	switch {
	case f.servicesOnly:
	case f.heartbeat == byHTTP || f.heartbeat == "" && f.controller != "":
		a.Heart = &agent.ByHTTP{URL: f.controller, Key: key, Client: &http.Client{}}
	case f.heartbeat == byGit || f.heartbeat == "" && git.Origin(at) != "":
		a.Heart = &agent.ByGit{Repo: repo, Origin: git.Origin(at), Key: key.Public(), Host: refs.Host{What: "heartbeats", Now: time.Now, Log: a.Log}}
	}
	return nil
}

// signed says of books in the repository of the branches why one does not count: it is held to what commits of branches are. Where
// agents write there, too, it has to be signed.
func (f *agentFlags) signed(r *published.Reader) func(git.Head) error {
	return func(h git.Head) error {
		if f.shared && r.Signers.IsZero() {
			return fmt.Errorf("agents write where it is, so that it counts only if it is signed; say by whom with --%s", signersFlag)
		}
		return r.IsSigned("a book of endpoints", h)
	}
}

// behindURL is a repository that has books of endpoints; nil for one on this disk, which has none.
func behindURL(repo published.Repository) pull.Repository {
	if r, ok := repo.(*git.Repo); ok && git.Origin(r.Name()) != "" {
		return git.LooseOf(r)
	}
	return nil
}

// How heartbeats go.
const (
	byGit  = "git"
	byHTTP = "http"
	byNo   = "none"
)

// readKey reads the private key in the file that a flag names.
func readKey(flag, file string) (signing.Key, error) {
	text, err := private.Read(flag, file)
	if err != nil {
		return signing.Key{}, err
	}
	key, err := signing.ParseKey(text)
	if err != nil {
		return key, fmt.Errorf("reading --%s: %s: %w", flag, file, err)
	}
	return key, nil
}

// hangups tells of SIGHUP.
func hangups(ctx context.Context) (<-chan struct{}, func()) {
	signals, wakes := make(chan os.Signal, 1), make(chan struct{}, 1)
	signal.Notify(signals, syscall.SIGHUP)
	go func() {
		for {
			select {
			case <-ctx.Done():
				return
			case <-signals:
				wake(wakes)
			}
		}
	}()
	return wakes, func() { signal.Stop(signals) }
}

// errorsOnly leaves out what a library says besides errors.
type errorsOnly struct{ slog.Handler }

// Enabled implements slog.Handler.
func (h errorsOnly) Enabled(ctx context.Context, l slog.Level) bool {
	return l >= slog.LevelError && h.Handler.Enabled(ctx, l)
}
