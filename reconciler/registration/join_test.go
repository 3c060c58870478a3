package registration_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/registration"
	"github.com/waybill-dev/waybill/render/object"
)

const id = "5d2f6a52-0f0e-4b6c-9d0a-1c1f6ff6c001"

func TestJoin(t *testing.T) {
	m := registration.Member{
		Name: "eu-1", ID: id, SyncMode: karmada.Pull, Provider: "aws", Region: "eu", Zones: []string{"eu-a", "eu-b"},
		Labels: map[string]string{"stage": "production"},
	}
	text, err := registration.Join("clusters/eu-1.yaml", m, nil)
	if err != nil {
		t.Fatal(err)
	}
	const want = `apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata:
  labels:
    stage: production
  name: eu-1
spec:
  id: '` + id + `'
  provider: aws
  region: eu
  syncMode: Pull
  zones:
  - eu-a
  - eu-b
`
	if diff := cmp.Diff(want, string(text)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestJoinWithoutID: of what is registered without an id, as by hand, nothing says that it is the same cluster.
func TestJoinWithoutID(t *testing.T) {
	registered := object.Decode("fleet.yaml", []byte(head+"spec:\n  syncMode: Pull\n")).Objects
	if _, err := registration.Join("us-1.yaml", registration.Member{Name: "us-1", SyncMode: karmada.Pull}, registered); err != nil {
		t.Errorf("it is refused: %v", err)
	}
}

func TestJoinVirtual(t *testing.T) {
	registered := object.Decode("fleet.yaml", []byte(head+"spec:\n  syncMode: Push\n  id: "+id+"\n")).Objects
	m := registration.Member{Name: "ke-beijing", ID: id, SyncMode: karmada.Push, VirtualOf: "eu-1", Suffix: "-beijing", Selector: "location=beijing"}
	text, err := registration.Join("clusters/ke-beijing.yaml", m, registered)
	if err != nil {
		t.Fatal(err)
	}
	const want = `apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata:
  annotations:
    waybill.dev/namespace-suffix: -beijing
    waybill.dev/node-selector: location=beijing
    waybill.dev/virtual-of: eu-1
  name: ke-beijing
spec:
  id: '` + id + `'
  syncMode: Push
`
	if diff := cmp.Diff(want, string(text)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	sibling := registration.Member{Name: "ke-hangzhou", ID: id, SyncMode: karmada.Push, VirtualOf: "eu-1"}
	if _, err := registration.Join("x.yaml", sibling, append(registered, object.Decode("bj.yaml", text).Objects...)); err != nil {
		t.Errorf("a second virtual cluster is refused: %v", err)
	}
}

func TestJoinRefuses(t *testing.T) {
	registered := object.Decode("fleet.yaml", []byte(head+"spec:\n  syncMode: Push\n  id: "+id+"\n")).Objects
	tests := []struct {
		name   string
		member registration.Member
		want   string
	}{
		{"a name that is taken", registration.Member{Name: "eu-1", ID: "other", SyncMode: karmada.Push}, "fleet.yaml:1: there is a Cluster eu-1 already"},
		{"a cluster that is registered", registration.Member{Name: "eu-2", ID: id, SyncMode: karmada.Push}, "fleet.yaml:6: this cluster is registered already, as eu-1: its id is " + id},
		{"a virtual cluster without its host", registration.Member{Name: "eu-2", ID: id, SyncMode: karmada.Push, VirtualOf: "us-1"}, "its host us-1 is not registered; waybill cluster join us-1 comes first"},
		{"a suffix that is none", registration.Member{Name: "eu-2", ID: id, SyncMode: karmada.Push, VirtualOf: "eu-1", Suffix: "beijing"}, `"beijing" cannot be appended`},
		{"nodes of no virtual cluster", registration.Member{Name: "eu-2", SyncMode: karmada.Push, Selector: "a=b"}, "says nothing of a cluster that is not virtual"},
		{"a name that is none", registration.Member{Name: "EU_2", SyncMode: karmada.Push}, "EU_2"},
		{"a path for a name", registration.Member{Name: "../eu-2", SyncMode: karmada.Push}, "eu-2"},
		{"a name that is too long", registration.Member{Name: strings.Repeat("a", 49), SyncMode: karmada.Push}, "at most 48"},
		{"another mode", registration.Member{Name: "eu-2", SyncMode: "push"}, `"push"`},
		{"a label that is none", registration.Member{Name: "eu-2", SyncMode: karmada.Push, Labels: map[string]string{"a b": "c"}}, "a b"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			text, err := registration.Join("clusters/eu-2.yaml", test.member, registered)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("the error is %v, want %q; the text:\n%s", err, test.want, text)
			}
		})
	}
}
