package book

import (
	"github.com/waybill-dev/waybill/render/exchange"
	"github.com/waybill-dev/waybill/sources/files"
)

// Kept is how the book of a cluster is kept in a repository.
type Kept struct {
	// At is where the refs are that it may be at; one that is not there is missing.
	At map[string]files.ID
	// Ref is the one at which it is, and Tree what is there; empty and nil where none is that its owner wrote.
	Ref  string
	Tree *files.Folder
	Book Book
}

// RefOf is the ref at which the book of a cluster is to be.
func RefOf(cluster string, bus exchange.Bus) string {
	if bus == exchange.Branch {
		return Branches + cluster
	}
	return Refs + cluster
}
