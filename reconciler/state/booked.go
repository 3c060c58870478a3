package state

import (
	"encoding/json"
	"fmt"

	"github.com/waybill-dev/waybill/policies/services"
	"github.com/waybill-dev/waybill/sources/files"
)

// Booked reads from the state branch's folder which services clusters export by their books; nil where none does, or an earlier version
// wrote it.
func Booked(root *files.Folder) (all []services.Booked, err error) {
	e, ok := root.Lookup(bookedFile)
	if !ok || e.Blob == nil {
		return nil, nil
	}
	data, err := e.Blob.Bytes()
	if err == nil {
		err = json.Unmarshal(data, &all)
	}
	if err != nil {
		return nil, fmt.Errorf("reading %s of %s: %w", bookedFile, Branch, err)
	}
	return all, nil
}
