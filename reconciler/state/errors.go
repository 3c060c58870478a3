package state

import (
	"encoding/json"

	"github.com/waybill-dev/waybill/reconciler/state/sourceerrors"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/sources/files"
)

// SourceErrors reads the errors of the source from the state branch's folder. A file that cannot be read is an error of its own, and
// says nothing.
func SourceErrors(root *files.Folder) (r sourceerrors.Record) {
	e, ok := root.Lookup(sourceerrors.File)
	if !ok || e.Blob == nil {
		return r
	}
	data, err := e.Blob.Bytes()
	if err == nil {
		err = json.Unmarshal(data, &r)
	}
	if err != nil {
		return sourceerrors.Record{Errors: []sourceerrors.Error{{
			Code: diag.StateUnreadable, Message: sourceerrors.File + " of the state branch cannot be read: " + bounded(err), Hint: "git log -p " + Branch + " -- " + sourceerrors.File,
		}}}
	}
	return r
}
