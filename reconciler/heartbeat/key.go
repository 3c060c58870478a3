package heartbeat

import (
	"fmt"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/sources/signing"
)

// KeyOf returns the key of a cluster's agent; nil for a cluster that is not pulled to, or whose
// agent has none.
func KeyOf(c *karmada.Cluster) (*signing.Public, error) {
	text := c.Annotations[AgentKey]
	if c.Spec.SyncMode != karmada.Pull || text == "" {
		return nil, nil
	}
	key, err := signing.ParsePublic(text)
	if err != nil {
		return nil, fmt.Errorf("the annotation %s of the Cluster %s: %w", AgentKey, c.Name, err)
	}
	return &key, nil
}
