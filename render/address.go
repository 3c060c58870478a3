package render

import "strings"

// Address is where a cluster is published: a branch or, where clusters share one, a folder at the
// root of it.
type Address struct{ Branch, Folder string }

// String is BRANCH or BRANCH:FOLDER, which is no name of a branch.
func (a Address) String() string {
	if a.Folder == "" {
		return a.Branch
	}
	return a.Branch + ":" + a.Folder
}

// ParseAddress reads what String writes.
func ParseAddress(s string) Address {
	branch, folder, _ := strings.Cut(s, ":")
	return Address{Branch: branch, Folder: folder}
}

// Cluster is the one whose address it is. Its name has no slash.
func (a Address) Cluster() string {
	if a.Folder != "" {
		return a.Folder
	}
	return a.Branch[strings.LastIndexByte(a.Branch, '/')+1:]
}

// Words names the address in a sentence.
func (a Address) Words() string {
	if a.Folder == "" {
		return "branch " + a.Branch
	}
	return "folder " + a.Folder + " of branch " + a.Branch
}

// Path returns where on the branch a file of the cluster is.
func (a Address) Path(file string) string {
	if a.Folder == "" {
		return file
	}
	return a.Folder + "/" + file
}

// Removal is the command by which somebody takes away what is published at an address.
func (a Address) Removal() string {
	if a.Folder == "" {
		return "delete the branch: git push REMOTE --delete " + a.Branch
	}
	return "remove the folder from the branch " + a.Branch + ": git rm -r " + a.Folder
}

// Addresses are those of a fleet: a branch for each cluster, whose name is Prefix and the cluster's
// or else, with Shared, a folder for each cluster on that branch, which is called as the cluster.
type Addresses struct{ Prefix, Shared string }

// Of returns the address of a cluster.
func (a Addresses) Of(cluster string) Address {
	if a.Shared != "" {
		return Address{Branch: a.Shared, Folder: cluster}
	}
	return Address{Branch: a.Prefix + cluster}
}

// Words names the addresses in a sentence.
func (a Addresses) Words() string {
	if a.Shared != "" {
		return "folders of branch " + a.Shared
	}
	return "branches that begin with " + a.Prefix
}

// Noun is what a cluster has: a branch, or a folder.
func (a Addresses) Noun() string {
	if a.Shared != "" {
		return "folder"
	}
	return "branch"
}

// Has reports a branch on which clusters are published.
func (a Addresses) Has(branch string) bool {
	if a.Shared != "" {
		return branch == a.Shared
	}
	return strings.HasPrefix(branch, a.Prefix)
}

// Cluster returns the cluster that an address, as String writes it, is of; false for none.
func (a Addresses) Cluster(address string) (string, bool) {
	if a.Shared != "" {
		return strings.CutPrefix(address, a.Shared+":")
	}
	return strings.CutPrefix(address, a.Prefix)
}

// Addresses are those that a config gives.
func (p *Publish) Addresses() Addresses {
	if p.Layout == LayoutFolders {
		return Addresses{Shared: p.Branch}
	}
	return Addresses{Prefix: p.BranchPrefix}
}
