package state

import "github.com/waybill-dev/waybill/render/object"

// Unlisted is an object that was published by a version which read what kustomizations do not list.
// It stays where it is.
type Unlisted struct {
	Object  object.Ref `json:"object"`
	Cluster string     `json:"cluster,omitempty"` // to whose own directory it belongs; empty: to none
	File    string     `json:"file"`              // that is not listed, and has it, or made it
}

// ReadUnlisted reports that what was published last came from a version which read what
// kustomizations do not list, and did not record it.
func (s *State) ReadUnlisted() bool { return s.Commit != "" && !s.Published.Listed }
