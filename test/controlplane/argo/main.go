// Argocd-sync does once what Argo CD's application controller does when it syncs an Application:
// with Argo CD's own engine it compares a folder of manifests with a cluster, applies by server-side
// apply in phases and waves, runs hooks, and prunes what carries the Application's tracking id and is
// not in the folder. It prints what it did as JSON, and ends with status 1 if the sync failed.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/argoproj/gitops-engine/pkg/cache"
	"github.com/argoproj/gitops-engine/pkg/diff"
	"github.com/argoproj/gitops-engine/pkg/health"
	"github.com/argoproj/gitops-engine/pkg/sync"
	"github.com/argoproj/gitops-engine/pkg/sync/common"
	"github.com/argoproj/gitops-engine/pkg/sync/hook"
	"github.com/argoproj/gitops-engine/pkg/utils/kube"
	"github.com/argoproj/gitops-engine/pkg/utils/tracing"
	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2/textlogger"
)

const (
	// Argo CD's names: of what it applies with, and of what tells whose an object is.
	manager    = "argocd-controller"
	trackingID = "argocd.argoproj.io/tracking-id"

	// An Application is looked at again as soon as something changes; here it is after a moment.
	interval = 200 * time.Millisecond
	settled  = 20 * time.Second
)

// application is as much of an Application as a sync needs.
type application struct {
	name, revision, path, kubeconfig string
	recurse, prune, serverSide       bool
	timeout                          time.Duration
}

// report is what is printed.
type report struct {
	Phase     common.OperationPhase
	Message   string
	OutOfSync []string                // before the sync
	Left      []string                // after it
	Health    health.HealthStatusCode // of what is live at the end: that of the worst
	Results   []result                // in the order of the sync
}

type result struct {
	Resource, Status, Hook, HookPhase, Phase, Message string
}

func main() {
	var app application
	flag.StringVar(&app.name, "name", "", "of the Application")
	flag.StringVar(&app.path, "path", "", "folder of the manifests, spec.source.path in a clone")
	flag.StringVar(&app.revision, "revision", "", "commit of the clone")
	flag.BoolVar(&app.recurse, "recurse", false, "spec.source.directory.recurse")
	flag.BoolVar(&app.prune, "prune", false, "spec.syncPolicy.automated.prune")
	flag.BoolVar(&app.serverSide, "server-side", false, "ServerSideApply=true in spec.syncPolicy.syncOptions")
	flag.StringVar(&app.kubeconfig, "kubeconfig", "", "of the destination")
	flag.DurationVar(&app.timeout, "timeout", 5*time.Minute, "of the sync")
	flag.Parse()
	said, err := app.run()
	if err == nil {
		out := json.NewEncoder(os.Stdout)
		out.SetIndent("", "  ")
		err = out.Encode(said)
	}
	if err == nil && said.Phase != common.OperationSucceeded {
		err = fmt.Errorf("the sync is %s: %s", said.Phase, said.Message)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "argocd-sync:", err)
		os.Exit(1)
	}
}

func (a application) run() (report, error) {
	config, err := clientcmd.BuildConfigFromFlags("", a.kubeconfig)
	if err != nil {
		return report{}, err
	}
	config.QPS, config.Burst = 50, 100 // Argo CD's defaults
	targets, err := a.read()
	if err != nil {
		return report{}, err
	}
	s := syncer{application: a, config: config, targets: targets, log: textlogger.NewLogger(textlogger.NewConfig(textlogger.Output(os.Stderr)))}
	s.cluster = cache.NewClusterCache(config, cache.SetLogr(s.log), cache.SetPopulateResourceInfoHandler(func(o *unstructured.Unstructured, _ bool) (any, bool) {
		id := o.GetAnnotations()[trackingID]
		return id, id != "" // what is tracked is kept as a whole
	}))
	if err := s.cluster.EnsureSynced(); err != nil {
		return report{}, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), a.timeout)
	defer cancel()
	return s.sync(ctx)
}

// read reads the manifests, and marks them as this Application's.
func (a application) read() (all []*unstructured.Unstructured, err error) {
	err = filepath.WalkDir(a.path, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != a.path && !a.recurse:
			return filepath.SkipDir
		case entry.IsDir() || !slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(path)):
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		objects, err := kube.SplitYAML(data)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		for _, o := range objects {
			annotations := o.GetAnnotations()
			if annotations == nil {
				annotations = map[string]string{}
			}
			annotations[trackingID] = a.id(kube.GetResourceKey(o))
			o.SetAnnotations(annotations)
		}
		all = append(all, objects...)
		return nil
	})
	if err == nil && len(all) == 0 {
		err = errors.New("there is no manifest in " + a.path)
	}
	return all, err
}

// id is what an object of this Application is annotated with.
func (a application) id(k kube.ResourceKey) string {
	return fmt.Sprintf("%s:%s/%s:%s/%s", a.name, k.Group, k.Kind, k.Namespace, k.Name)
}

// syncer syncs one Application.
type syncer struct {
	application

	config  *rest.Config
	cluster cache.ClusterCache
	targets []*unstructured.Unstructured
	log     logr.Logger
}

// operation is how far a sync is.
type operation struct {
	started metav1.Time
	ended   time.Time // zero: it runs
	phase   common.OperationPhase
	message string
	results []common.ResourceSyncResult
}

// sync syncs unless nothing is out of sync. As in Argo CD, what is live is compared anew before
// each step, and the operation goes on from its state. After the last one, what is live is
// given a moment to be seen.
func (s *syncer) sync(ctx context.Context) (report, error) {
	compared, differ, err := s.compare()
	if err != nil {
		return report{}, err
	}
	said := report{Phase: common.OperationSucceeded, Message: "nothing is out of sync", OutOfSync: differ}
	if len(differ) == 0 {
		said.Health, err = worst(compared.Live)
		return said, err
	}
	for op := (operation{started: metav1.Now(), phase: common.OperationRunning}); ; {
		if op.ended.IsZero() {
			if op, err = s.step(op, compared); err != nil {
				return said, err
			}
		}
		said.Phase, said.Message = op.phase, op.message
		select {
		case <-ctx.Done():
			return said, fmt.Errorf("the sync is %s after %s: %s", op.phase, s.timeout, op.message)
		case <-time.After(interval):
		}
		if compared, differ, err = s.compare(); err != nil {
			return said, err
		}
		if !op.ended.IsZero() && (len(differ) == 0 || time.Since(op.ended) > settled) {
			said.Left = differ
			if said.Health, err = worst(compared.Live); err != nil {
				return said, err
			}
			for _, r := range op.results {
				key := r.ResourceKey
				said.Results = append(said.Results, result{key.String(), string(r.Status), string(r.HookType), string(r.HookPhase), string(r.SyncPhase), r.Message})
			}
			return said, nil
		}
	}
}

// worst is the health of an Application: that of the object that is worst off. One that is not there is missing.
func worst(live []*unstructured.Unstructured) (health.HealthStatusCode, error) {
	code := health.HealthStatusHealthy
	for _, o := range live {
		is := &health.HealthStatus{Status: health.HealthStatusMissing}
		if o != nil {
			var err error
			if is, err = health.GetResourceHealth(o, nil); err != nil {
				return "", err
			}
		}
		if is != nil && health.IsWorse(code, is.Status) { // nil: its kind has no health
			code = is.Status
		}
	}
	return code, nil
}

// step takes a sync one step further.
func (s *syncer) step(op operation, compared sync.ReconciliationResult) (operation, error) {
	step, cleanup, err := sync.NewSyncContext(s.revision, compared, s.config, s.config, &kube.KubectlCmd{Log: s.log, Tracer: tracing.NopTracer{}}, "", s.cluster.GetOpenAPISchema(),
		sync.WithLogr(s.log), sync.WithInitialState(op.phase, op.message, op.results, op.started), sync.WithOperationSettings(false, s.prune, false, false),
		sync.WithServerSideApply(s.serverSide), sync.WithServerSideApplyManager(manager))
	if err != nil {
		return op, err
	}
	defer cleanup()
	step.Sync()
	if op.phase, op.message, op.results = step.GetState(); op.phase.Completed() {
		op.ended = time.Now()
	}
	return op, nil
}

// compare compares the manifests with what is live, and returns what is out of sync.
func (s *syncer) compare() (compared sync.ReconciliationResult, differ []string, err error) {
	live, err := s.cluster.GetManagedLiveObjs(s.targets, func(r *cache.Resource) bool { return r.Info == s.id(r.ResourceKey()) })
	if err != nil {
		return compared, nil, err
	}
	compared = sync.Reconcile(s.targets, live, "", s.cluster)
	diffs, err := diff.DiffArray(compared.Target, compared.Live, diff.WithLogr(s.log), diff.WithStructuredMergeDiff(s.serverSide), diff.WithGVKParser(s.cluster.GetGVKParser()), diff.WithManager(manager))
	if err != nil {
		return compared, nil, err
	}
	for i, d := range diffs.Diffs {
		o, left := compared.Target[i], false
		if o == nil {
			o, left = compared.Live[i], true
		}
		if (d.Modified || left) && !hook.IsHook(o) {
			key := kube.GetResourceKey(o)
			differ = append(differ, key.String())
		}
	}
	slices.Sort(differ)
	return compared, differ, nil
}
