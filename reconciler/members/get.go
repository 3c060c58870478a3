package members

import (
	"context"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/cli-runtime/pkg/resource"
	"k8s.io/client-go/rest"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	"github.com/waybill-dev/waybill/policies/karmada"
)

const (
	// atOnce is how many clusters are asked at once. What each says of its kinds is large.
	atOnce = 100
	// chunk is how many objects one request lists, as kubectl has it.
	chunk = 500
	// asTable asks for the columns that the server itself has for a kind.
	asTable = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"
)

// Query is what is asked of each cluster, as kubectl get is.
type Query struct {
	// Args are kinds, names of objects, or KIND/NAME, as kubectl takes them.
	Args           []string
	AllNamespaces  bool
	Labels, Fields string // selectors
	// Absent lets objects be absent that are asked for by name.
	Absent bool
	// Whole asks for the objects instead of tables of them.
	Whole bool
}

// Found is an object, or a table of objects of one kind.
type Found struct {
	Mapping *meta.RESTMapping
	Object  runtime.Object
}

// Answer is what a cluster answered.
type Answer struct {
	Cluster string
	Found   []Found
	// Namespace is where it was looked for; empty: in all.
	Namespace string
	// One says that one object was asked for, by its name.
	One bool
	// First says, of a watch, that this is what was there when it began.
	First bool
	// Errs are what is in the way of the rest of the answer.
	Errs []error
}

// Fleet is what is asked.
type Fleet struct {
	Way Way

	Clusters []*karmada.Cluster
	// Deadline is how long a cluster may take for its answer; zero: as long as it takes.
	Deadline time.Duration
}

// Get asks all clusters at once. Answers are in the order of the clusters.
func (f Fleet) Get(ctx context.Context, q Query) []Answer {
	f.Way.Request = 2 * f.Deadline // ends what nobody waits for any longer
	answers := make([]Answer, len(f.Clusters))
	var group errgroup.Group
	group.SetLimit(atOnce)
	for i, c := range f.Clusters {
		group.Go(func() error {
			a, err := within(ctx, f.Deadline, func(ctx context.Context) Answer { return f.Way.get(ctx, c, q) })
			if err != nil {
				a = Answer{Errs: []error{err}}
			}
			a.Cluster = c.Name
			answers[i] = a
			return nil
		})
	}
	_ = group.Wait() // answers have the errors
	return answers
}

// within returns what do returns, or an error if that takes too long: the libraries take no
// context, and what is late is left alone.
func within[T any](ctx context.Context, most time.Duration, do func(context.Context) T) (answer T, err error) {
	if most > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, most, fmt.Errorf("no answer in %s; --request-timeout says how long to wait", most))
		defer cancel()
	}
	done := make(chan T, 1)
	go func() { done <- do(ctx) }()
	select {
	case answer = <-done:
		return answer, nil
	case <-ctx.Done():
		return answer, context.Cause(ctx)
	}
}

// get asks one cluster.
func (w Way) get(ctx context.Context, c *karmada.Cluster, q Query) (a Answer) {
	m, err := w.Open(ctx, c)
	if err != nil {
		return Answer{Errs: []error{err}}
	}
	b, namespace, err := m.builder(q)
	if err != nil {
		return Answer{Errs: []error{err}}
	}
	a.Namespace = namespace
	r := b.ContinueOnError().Flatten().Do()
	if q.Absent {
		r.IgnoreErrors(apierrors.IsNotFound)
	}
	infos, err := r.IntoSingleItemImplied(&a.One).Infos()
	for _, i := range infos {
		a.Found = append(a.Found, q.own(m.virtual, Found{Mapping: i.Mapping, Object: i.Object})...)
	}
	if err != nil {
		a.Errs = flat(err)
	}
	return a
}

// flat returns the errors that an error holds.
func flat(err error) []error {
	if many, ok := err.(utilerrors.Aggregate); ok { //nolint:errorlint // it is that of the builder itself
		return utilerrors.Flatten(many).Errors()
	}
	return []error{err}
}

// builder prepares requests, and says in which namespace they look; "" for all of them.
func (m *Member) builder(q Query) (b *resource.Builder, namespace string, err error) {
	if namespace, _, err = m.loader.Namespace(); err != nil {
		return nil, "", err
	}
	b = resource.NewBuilder(m).Unstructured().
		NamespaceParam(namespace).DefaultNamespace().AllNamespaces(q.AllNamespaces).
		LabelSelectorParam(q.Labels).FieldSelectorParam(q.Fields).
		RequestChunksOf(chunk).ResourceTypeOrNameArgs(true, slices.Clone(q.Args)...).Latest() // it writes to them, and clusters are asked at once
	if !q.Whole {
		b = b.TransformRequests(func(r *rest.Request) { r.SetHeader("Accept", asTable) })
	}
	if q.AllNamespaces {
		namespace = ""
	}
	return b, namespace, nil
}

// Message says of an error what kubectl would say.
func Message(err error) string {
	if said, ok := cmdutil.StandardErrorMessage(err); ok {
		return said
	}
	return err.Error()
}
