package interpret_test

import (
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/policies/interpret"
	"github.com/waybill-dev/waybill/render/object"
)

func TestSize(t *testing.T) {
	const deployment = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: shop}\nspec: {replicas: %s, template: {spec: {nodeSelector: {disk: ssd}, containers: [{name: c, image: i, resources: {requests: {cpu: 1, example.com/hunter2: 1}}}]}}}\n"
	for _, tt := range []struct {
		name, replicas string
		secrets        []string
		want           int32
		hides, err     string
	}{
		{"what it asks for", "3", nil, 3, "", ""},
		{"of what is private only numbers of resources", "3", []string{"swordfish"}, 3, "ssd", ""},
		{"a resource that a secret names", "3", []string{"Hunter2"}, 0, "example.com", "named by a value of a Secret"},
		{"it cannot be told", "three", nil, 0, "", "three"},
		{"why it cannot be told is not said of what is private", "three", []string{"swordfish"}, 0, "", "why is not said"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := object.Decode("web.yaml", []byte(strings.Replace(deployment, "%s", tt.replicas, 1))).Objects[0]
			if tt.secrets != nil {
				o = o.RenderedWith(tt.secrets)
			}
			s := interpret.New().Size(o, o.Content())
			switch {
			case tt.err != "" && (s.Err == nil || !strings.Contains(s.Err.Error(), tt.err) || s.IsWorkload()):
				t.Errorf("it is %+v", s)
			case tt.err == "" && (s.Err != nil || s.Replicas != tt.want || !s.IsWorkload() || (s.Requirements.NodeClaim == nil) != (tt.hides != "")):
				t.Errorf("it is %+v, %+v", s, s.Requirements)
			}
		})
	}
}

// TestSizeOfComponents holds that of several pod templates of what is private numbers of resources are left, too.
func TestSizeOfComponents(t *testing.T) {
	const thing = "apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: t, namespace: shop}\n"
	in := interpret.New(teach(t, "c", "example.com/v1 Thing", "componentResource", `function GetComponents(obj) return {
		{name = "head", replicas = 1, replicaRequirements = {priorityClassName = "high", resourceRequest = {cpu = "1"}}}, {name = "hunter2", replicas = 2}} end`))
	for _, tt := range []struct {
		secret string
		class  string
		err    bool
	}{{"", "high", false}, {"swordfish", "", false}, {"Hunter2", "", true}} {
		o := object.Decode("t.yaml", []byte(thing)).Objects[0]
		if tt.secret != "" {
			o = o.RenderedWith([]string{tt.secret})
		}
		s := in.Size(o, o.Content())
		if tt.err {
			if s.Err == nil || len(s.Components) > 0 {
				t.Errorf("with the secret %q it is %+v", tt.secret, s)
			}
			continue
		}
		if s.Err != nil || len(s.Components) != 2 || s.IsWorkload() || s.Components[0].ReplicaRequirements.PriorityClassName != tt.class || s.Components[0].ReplicaRequirements.ResourceRequest.Cpu().Value() != 1 {
			t.Errorf("with the secret %q it is %+v", tt.secret, s)
		}
	}
}
