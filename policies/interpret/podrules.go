package interpret

import (
	"regexp"
	"slices"
)

// podRules are the defaults of a pod whose spec stands at the path spec.
func podRules(spec string) []rule {
	volume, source := spec+"/volumes/*", spec+"/volumes/*/projected/sources/*"
	return slices.Concat([]rule{
		// The older of the two names follows the newer one wherever that is set.
		depends(spec, "serviceAccountName", func(pod map[string]any) any { return stringOrNil(pod["serviceAccount"]) }),
		forced(spec, "serviceAccount", func(pod map[string]any) any { return stringOrNil(pod["serviceAccountName"]) }),
		fill(spec, "restartPolicy", "Always"),
		fill(spec, "dnsPolicy", "ClusterFirst"),
		fill(spec, "schedulerName", "default-scheduler"),
		fill(spec, "terminationGracePeriodSeconds", int64(30)),
		emptyMap(spec, "securityContext"),
		on(volume, "emptyDir", isNull, ifNoSource),
		fill(volume+"/configMap", "defaultMode", int64(0o644)),
		fill(volume+"/secret", "defaultMode", int64(0o644)),
		fill(volume+"/projected", "defaultMode", int64(0o644)),
		fill(volume+"/downwardAPI", "defaultMode", int64(0o644)),
		fill(volume+"/downwardAPI/items/*/fieldRef", "apiVersion", "v1"),
		fill(source+"/downwardAPI/items/*/fieldRef", "apiVersion", "v1"),
		fill(source+"/serviceAccountToken", "expirationSeconds", int64(3600)),
		on(volume+"/hostPath", "type", isNull, func(map[string]any) any { return "" }),
	},
		claimRules(volume+"/ephemeral/volumeClaimTemplate/spec"),
		containerRules(spec+"/containers/*"),
		containerRules(spec+"/initContainers/*"),
		containerRules(spec+"/ephemeralContainers/*"),
	)
}

func containerRules(container string) []rule {
	return slices.Concat([]rule{
		depends(container, "imagePullPolicy", pullPolicyOf),
		fill(container, "terminationMessagePath", "/dev/termination-log"),
		fill(container, "terminationMessagePolicy", "File"),
		emptyMap(container, "resources"),
		fill(container+"/ports/*", "protocol", "TCP"),
		fill(container+"/env/*/valueFrom/fieldRef", "apiVersion", "v1"),
	},
		probeRules(container+"/livenessProbe"),
		probeRules(container+"/readinessProbe"),
		probeRules(container+"/startupProbe"),
		httpRules(container+"/lifecycle/postStart/httpGet"),
		httpRules(container+"/lifecycle/preStop/httpGet"),
	)
}

// probeRules count in seconds and in probes.
func probeRules(probe string) []rule {
	return append([]rule{
		positive(probe, "timeoutSeconds", 1),
		positive(probe, "periodSeconds", 10),
		positive(probe, "successThreshold", 1),
		positive(probe, "failureThreshold", 3),
		on(probe+"/grpc", "service", isNull, func(map[string]any) any { return "" }),
	}, httpRules(probe+"/httpGet")...)
}

func httpRules(get string) []rule {
	return []rule{fill(get, "path", "/"), fill(get, "scheme", "HTTP")}
}

func stringOrNil(v any) any {
	if s, ok := v.(string); ok && s != "" {
		return s
	}
	return nil
}

// ifNoSource makes an empty directory of a volume that is nothing else.
func ifNoSource(volume map[string]any) any {
	for key, source := range volume {
		if key != "name" && source != nil {
			return nil
		}
	}
	return map[string]any{}
}

// imageName matches the images that a registry can serve. Its groups are the tag
// and the digest.
var imageName = regexp.MustCompile(`^(?:(?:` + host + `(?:\.` + host + `)*|\[[0-9a-fA-F:]+\])(?::[0-9]+)?/)?` +
	repository + `(?:/` + repository + `)*` +
	`(?::([0-9A-Za-z_][0-9A-Za-z_.-]{0,127}))?` +
	`(?:@([A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}))?$`)

const (
	host       = `(?:[A-Za-z0-9]|[A-Za-z0-9][A-Za-z0-9-]*[A-Za-z0-9])`
	repository = `[a-z0-9]+(?:(?:\.|__?|-+)[a-z0-9]+)*`
)

// pullPolicyOf tells how often a container's image is pulled: always if its tag
// moves, that is, if it is latest or there is neither tag nor digest. An image that
// is no image, such as a placeholder for an override, has no tag that moves.
func pullPolicyOf(container map[string]any) any {
	image, _ := container["image"].(string)
	m := imageName.FindStringSubmatch(image)
	if m != nil && (m[1] == "latest" || m[1] == "" && m[2] == "") {
		return "Always"
	}
	return "IfNotPresent"
}
