package controlplane

import (
	"os"
	"path/filepath"
)

// auditPolicy notes all writes, and of those that Robot or an administrator makes what was asked and
// answered. What says only that something lives is left out.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
rules:
- {level: None, verbs: [get, list, watch]}
- level: None
  resources:
  - {group: coordination.k8s.io, resources: [leases]}
  - {group: events.k8s.io, resources: [events]}
  - {group: "", resources: [events, nodes, nodes/status, pods, pods/status, pods/binding]}
- {level: RequestResponse, users: [` + Robot + `, admin]}
- {level: Metadata, omitStages: [RequestReceived]}
`

// Audited returns the flags with which an API server notes who wrote what, a line of JSON for each stage
// of a request, and the file that it notes it in. The file is of dir, and is continued by a server that is
// started again. What is not noted does not happen.
func Audited(dir string) (flags []string, log string, err error) {
	policy := filepath.Join(dir, "audit-policy.yaml")
	log = filepath.Join(dir, "audit.log")
	if err := os.MkdirAll(dir, privateFolder); err != nil {
		return nil, "", err
	}
	const unlimited = "1000000" // in MiB; else the file is changed for another one
	return []string{"--audit-policy-file=" + policy, "--audit-log-path=" + log, "--audit-log-mode=blocking-strict", "--audit-log-maxsize=" + unlimited},
		log, os.WriteFile(policy, []byte(auditPolicy), private)
}
