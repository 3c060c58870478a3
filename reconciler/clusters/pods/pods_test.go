package pods_test

import (
	"errors"
	"fmt"
	goruntime "runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/clusters/pods"
	"github.com/waybill-dev/waybill/reconciler/health"
	"github.com/waybill-dev/waybill/render/object"
)

func waiting(reason string) corev1.ContainerState {
	return corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: "CANARY"}}
}

func ended(reason string, code int32) corev1.ContainerState {
	return corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: reason, ExitCode: code}}
}

// in is a pod whose container api is in a state.
func in(s corev1.ContainerState, restarts int32) corev1.Pod {
	return corev1.Pod{Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{Name: "api", State: s, RestartCount: restarts}}}}
}

// unready is a pod of a phase with a condition that is false.
func unready(phase corev1.PodPhase, c corev1.PodConditionType, reason string) corev1.Pod {
	return corev1.Pod{Status: corev1.PodStatus{Phase: phase, Conditions: []corev1.PodCondition{{Type: c, Status: corev1.ConditionFalse, Reason: reason}}}}
}

// What pods say is their reasons, the commonest first, and no more than three of them; what goes to and fro is one.
func TestWords(t *testing.T) {
	going := in(waiting("ImagePullBackOff"), 0)
	going.DeletionTimestamp = &metav1.Time{}
	done := in(waiting("A"), 0)
	done.Status.Phase = corev1.PodSucceeded
	both := in(waiting("B"), 0)
	both.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: "setup", State: waiting("B")}, {Name: "a b", State: waiting("B")}}
	lost := unready(corev1.PodRunning, corev1.PodInitialized, "A")
	lost.Status.Reason = "NodeLost"
	failed := in(waiting("A"), 0)
	failed.Status.Phase, failed.Status.Reason = corev1.PodFailed, "Evicted"
	quiet := unready(corev1.PodFailed, corev1.PodReady, "A")
	quiet.Status.Reason = "token=CANARY"
	passing := unready(corev1.PodRunning, corev1.PodScheduled, "token=CANARY")
	passing.Status.Conditions = append(passing.Status.Conditions,
		corev1.PodCondition{Type: corev1.PodScheduled, Status: corev1.ConditionTrue, Reason: "A"},
		corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionFalse, Reason: "B"})
	for _, tt := range []struct {
		name string
		pods []corev1.Pod
		want string
	}{
		{"none", nil, "[]"},
		{"well", []corev1.Pod{in(corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}, 0)}, "[]"},
		{"a pull that fails, in both of its states", []corev1.Pod{in(waiting("ErrImagePull"), 0), in(waiting("ImagePullBackOff"), 0)}, "[{ImagePullBackOff api 2}]"},
		{"a crash, in both of its states", []corev1.Pod{in(waiting("CrashLoopBackOff"), 4), in(ended("Error", 1), 4)}, "[{CrashLoopBackOff api 2}]"},
		{"out of memory", []corev1.Pod{in(ended("OOMKilled", 137), 1)}, "[{OOMKilled api 1}]"},
		{"done", []corev1.Pod{in(ended("Completed", 0), 0)}, "[]"},
		{"being made", []corev1.Pod{in(waiting("ContainerCreating"), 0)}, "[]"},
		{"going", []corev1.Pod{going}, "[]"},
		{"no node", []corev1.Pod{unready(corev1.PodPending, corev1.PodScheduled, "Unschedulable")}, "[{Unschedulable  1}]"},
		{"not ready", []corev1.Pod{unready(corev1.PodRunning, corev1.PodReady, "ContainersNotReady")}, "[{NotReady  1}]"},
		{"evicted", []corev1.Pod{{Status: corev1.PodStatus{Phase: corev1.PodFailed, Reason: "Evicted"}}}, "[{Evicted  1}]"},
		{"a reason that is a message", []corev1.Pod{in(waiting("token=CANARY of x"), 0)}, "[]"},
		{"well, after it crashed", []corev1.Pod{in(corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}, 4)}, "[]"},
		{"ended well, and calls it an error", []corev1.Pod{in(ended("Error", 0), 4)}, "[]"},
		{"a crash, the first", []corev1.Pod{in(ended("Error", 1), 0)}, "[{Error api 1}]"},
		{"being made, after the containers that prepare it", []corev1.Pod{in(waiting("PodInitializing"), 0)}, "[]"},
		{"all is done", []corev1.Pod{done}, "[]"},
		{"two containers, and one whose name is none", []corev1.Pod{both}, "[{B api 1} {B setup 1}]"},
		{"a pod that runs and has a reason", []corev1.Pod{lost}, "[]"},
		{"what a container says, and not the pod", []corev1.Pod{failed}, "[{A api 1}]"},
		{"a pod that failed with a message", []corev1.Pod{quiet}, "[]"},
		{"not ready, and not running yet", []corev1.Pod{unready(corev1.PodPending, corev1.PodReady, "A")}, "[]"},
		{"no node, with a message", []corev1.Pod{unready(corev1.PodPending, corev1.PodScheduled, "token=CANARY")}, "[]"},
		{"a condition after those that say nothing", []corev1.Pod{passing}, "[{NotReady  1}]"},
		{"four reasons", []corev1.Pod{in(waiting("D"), 0), in(waiting("C"), 0), in(waiting("B"), 0), in(waiting("A"), 0), in(waiting("D"), 0)}, "[{D api 2} {A api 1} {B api 1}]"},
	} {
		got := pods.Words(tt.pods)
		if text := fmt.Sprint(got); text != tt.want || got == nil {
			t.Errorf("%s: it is %s, want %s", tt.name, text, tt.want)
		}
	}
}

var web = object.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"}

// cluster is one with a Deployment whose pod cannot pull its image, and pods that are not of it.
func cluster(t *testing.T) *fake.FakeDynamicClient {
	t.Helper()
	return clusterOf(t, map[string]any{"selector": map[string]any{"matchLabels": map[string]any{"app": "web"}}})
}

// clusterOf is one whose Deployment has a spec.
func clusterOf(t *testing.T, spec map[string]any) *fake.FakeDynamicClient {
	t.Helper()
	all := []runtime.Object{&unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apps/v1", "kind": "Deployment", "metadata": map[string]any{"name": "web", "namespace": "shop"}, "spec": spec,
	}}}
	for _, at := range []metav1.ObjectMeta{
		{Name: "web-1", Namespace: "shop", Labels: map[string]string{"app": "web"}},
		{Name: "db-1", Namespace: "shop", Labels: map[string]string{"app": "db"}},
		{Name: "web-1", Namespace: "bank", Labels: map[string]string{"app": "web"}},
	} {
		pod := in(waiting("ImagePullBackOff"), 0)
		pod.ObjectMeta = at
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&pod)
		if err != nil {
			t.Fatal(err)
		}
		of := &unstructured.Unstructured{Object: content}
		of.SetAPIVersion("v1")
		of.SetKind("Pod")
		all = append(all, of)
	}
	kinds := map[schema.GroupVersionResource]string{{Version: "v1", Resource: "pods"}: "PodList"}
	return fake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), kinds, all...)
}

// Pods are asked for when an object has not been healthy for half a minute, then once a minute, and no more when it is healthy; that
// they may not be asked for is said.
func TestWhenPodsAreAskedFor(t *testing.T) {
	for _, mayList := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			c := cluster(t)
			lists := 0
			c.PrependReactor("list", "pods", func(clienttesting.Action) (bool, runtime.Object, error) {
				lists++
				if mayList {
					return false, nil, nil
				}
				return true, nil, apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "", errors.New("no"))
			})
			var mu sync.Mutex
			var told []string
			kinds := map[schema.GroupKind]schema.GroupVersionResource{{Group: "apps", Kind: "Deployment"}: {Group: "apps", Version: "v1", Resource: "deployments"}}
			w := pods.New(c, kinds, func(_ object.Ref, h health.Health) {
				mu.Lock()
				defer mu.Unlock()
				told = append(told, fmt.Sprint(h.State, h.Pods, h.PodsUnknown))
			})
			defer w.Stop()
			after := func(d time.Duration, want ...string) {
				t.Helper()
				time.Sleep(d)
				synctest.Wait()
				mu.Lock()
				defer mu.Unlock()
				if !slices.Equal(told, want) {
					t.Errorf("may list: %v, after %s: told %q, want %q", mayList, d, told, want)
				}
				told = nil
			}
			said := "Unhealthy[{ImagePullBackOff api 1}]"
			if !mayList {
				said = "Unhealthy[]" + pods.NoRight
			}
			w.Saw(t.Context(), web, health.Health{State: karmada.ResourceUnhealthy, Reason: health.InProgress})
			after(29*time.Second, "Unhealthy[]")
			after(2*time.Second, said)
			after(time.Minute, said)
			w.Saw(t.Context(), web, health.Health{State: karmada.ResourceHealthy})
			after(5*time.Minute, "Healthy[]")
			if lists != 2 {
				t.Errorf("pods were listed %d times", lists)
			}
			w.Saw(t.Context(), web, health.Health{State: karmada.ResourceUnhealthy, Reason: health.NotFound})
			after(5*time.Minute, "Unhealthy[]") // there are none
		})
	}
}

// A question that fails is asked again a minute later, and so is one for which there were no pods yet.
func TestAQuestionThatFailed(t *testing.T) {
	for name, answer := range map[string]func() (bool, runtime.Object, error){
		"the server is busy": func() (bool, runtime.Object, error) { return true, nil, apierrors.NewTooManyRequests("busy", 1) },
		"there are none":     func() (bool, runtime.Object, error) { return true, &unstructured.UnstructuredList{}, nil },
	} {
		synctest.Test(t, func(t *testing.T) {
			c := cluster(t)
			isFirst := true
			c.PrependReactor("list", "pods", func(clienttesting.Action) (bool, runtime.Object, error) {
				if isFirst {
					isFirst = false
					return answer()
				}
				return false, nil, nil
			})
			told := make(chan health.Health, 9)
			kinds := map[schema.GroupKind]schema.GroupVersionResource{{Group: "apps", Kind: "Deployment"}: {Group: "apps", Version: "v1", Resource: "deployments"}}
			w := pods.New(c, kinds, func(_ object.Ref, h health.Health) { told <- h })
			defer w.Stop()
			w.Saw(t.Context(), web, health.Health{State: karmada.ResourceUnhealthy, Reason: health.InProgress})
			time.Sleep(95 * time.Second)
			synctest.Wait()
			var last health.Health
			for range len(told) {
				last = <-told
			}
			if len(last.Pods) != 1 {
				t.Errorf("%s: after a minute and a half it is %+v, want what the pods say", name, last)
			}
		})
	}
}

// What is told last of an object is how it is: that it is healthy is not told before what its pods said when it was not.
func TestWhatIsToldLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w *pods.Watch
		told := make(chan karmada.ResourceHealth, 3)
		kinds := map[schema.GroupKind]schema.GroupVersionResource{{Group: "apps", Kind: "Deployment"}: {Group: "apps", Version: "v1", Resource: "deployments"}}
		w = pods.New(cluster(t), kinds, func(_ object.Ref, h health.Health) {
			if h.Pods != nil { // what they say is on its way
				go w.Saw(t.Context(), web, health.Health{State: karmada.ResourceHealthy})
				for range 1000 {
					goruntime.Gosched()
				}
			}
			told <- h.State
		})
		w.Saw(t.Context(), web, health.Health{State: karmada.ResourceUnhealthy, Reason: health.InProgress})
		time.Sleep(40 * time.Second)
		synctest.Wait()
		w.Stop()
		var last karmada.ResourceHealth
		for range cap(told) {
			last = <-told
		}
		if last != karmada.ResourceHealthy {
			t.Errorf("last it was told to be %s", last)
		}
	})
}
