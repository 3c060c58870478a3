// Package pods says in a few words why pods of a workload are not well: as reasons that Kubernetes has, and never as messages, which may
// hold anything.
package pods

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/waybill-dev/waybill/reconciler/health"
)

// The bounds of what is asked and said of one object.
const (
	mostPods  = 50
	mostWords = 3
)

// word is what a reason, or the name of a container, looks like.
var word = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9.-]{0,62}$`)

// Words says why pods are not well, the commonest first: at most three reasons, each with its container. It is not nil, also where all
// are well.
func Words(all []corev1.Pod) []health.Pods {
	count := map[health.Pods]int{}
	for i := range all {
		for _, is := range reasons(&all[i]) {
			count[is]++
		}
	}
	words := make([]health.Pods, 0, len(count))
	for is := range maps.Keys(count) {
		n := count[is]
		is.Count = n
		words = append(words, is)
	}
	slices.SortFunc(words, func(a, b health.Pods) int {
		return cmp.Or(b.Count-a.Count, strings.Compare(a.Reason, b.Reason), strings.Compare(a.Container, b.Container))
	})
	return words[:min(len(words), mostWords)]
}

// reasons are why a pod is not well: that of each container that says one, or else one of the pod.
func reasons(p *corev1.Pod) (all []health.Pods) {
	if p.DeletionTimestamp != nil || p.Status.Phase == corev1.PodSucceeded {
		return nil
	}
	for _, list := range [][]corev1.ContainerStatus{p.Status.InitContainerStatuses, p.Status.ContainerStatuses} {
		for i := range list {
			if why := reason(&list[i]); word.MatchString(why) && word.MatchString(list[i].Name) {
				all = append(all, health.Pods{Reason: why, Container: list[i].Name})
			}
		}
	}
	if len(all) > 0 {
		return all
	}
	if why := p.Status.Reason; p.Status.Phase == corev1.PodFailed && word.MatchString(why) {
		return []health.Pods{{Reason: why}}
	}
	for _, c := range p.Status.Conditions {
		switch {
		case c.Status != corev1.ConditionFalse:
		case c.Type == corev1.PodScheduled && word.MatchString(c.Reason):
			return []health.Pods{{Reason: c.Reason}}
		case c.Type == corev1.PodReady && p.Status.Phase == corev1.PodRunning:
			return []health.Pods{{Reason: "NotReady"}}
		}
	}
	return nil
}

// reason is why a container is not well; empty if it is, or is only being made. Two states between which a container goes to and fro are
// one: a pull that fails is ImagePullBackOff, and a container that ends again and again is CrashLoopBackOff.
func reason(c *corev1.ContainerStatus) string {
	switch is := c.State; {
	case is.Waiting != nil && (is.Waiting.Reason == "ContainerCreating" || is.Waiting.Reason == "PodInitializing"):
		return ""
	case is.Waiting != nil && is.Waiting.Reason == "ErrImagePull":
		return "ImagePullBackOff"
	case is.Waiting != nil:
		return is.Waiting.Reason
	case is.Terminated != nil && is.Terminated.ExitCode != 0 && c.RestartCount > 0 && is.Terminated.Reason == "Error":
		return "CrashLoopBackOff"
	case is.Terminated != nil && is.Terminated.ExitCode != 0:
		return is.Terminated.Reason
	}
	return ""
}
