package render

import "strings"

// StateBranch is the branch of the state, which Waybill keeps beside those of the clusters.
const StateBranch = "waybill/state"

// OrdersBranch is the branch of what maintainers ordered by comments on pull requests.
const OrdersBranch = "waybill/orders"

// UpdatesBranch is the branch that remembers new versions of images, and UpdatePrefix begins those on which they are proposed.
const (
	UpdatesBranch = "waybill/updates"
	UpdatePrefix  = "waybill/update/"
)

// ownBranches are below what Waybill keeps a branch for each cluster besides: its status, what its
// agent observes, that agent's heartbeat, and its endpoints; and a branch for each proposal.
var ownBranches = []string{"waybill/status/", "waybill/observed/", "waybill/heartbeat/", "waybill/endpoints/", UpdatePrefix}

// prefixProblem says why branches may not begin with prefix; "" if they may. Whatever
// a cluster is called, which is a name without a slash, its branch must be
//
//   - told from other branches: behind a prefix that ends with a slash stands nothing
//     but clusters, while "ma" would make a cluster "in" of the branch "main";
//   - a branch that Git takes (git-check-ref-format);
//   - no branch that Waybill keeps, nor a folder of one, or below one: Git has no
//     branch "a" beside a branch "a/b".
func prefixProblem(prefix string) string {
	switch {
	case !strings.HasSuffix(prefix, "/"):
		return "which does not end with a slash; branches of other names could begin with it"
	case !isRefPath(strings.TrimSuffix(prefix, "/")):
		return "which no branch name can begin with"
	case strings.HasPrefix(StateBranch, prefix), strings.HasPrefix(prefix, StateBranch+"/"):
		return "where a cluster's branch could be in the way of " + StateBranch
	case strings.HasPrefix(prefix, OrdersBranch+"/"):
		return "where a cluster's branch could be in the way of " + OrdersBranch
	case strings.HasPrefix(prefix, UpdatesBranch+"/"):
		return "where a cluster's branch could be in the way of " + UpdatesBranch
	}
	for _, own := range ownBranches {
		if strings.HasPrefix(own, prefix) || strings.HasPrefix(prefix, own) {
			return "where a cluster's branch could be in the way of those below " + own
		}
	}
	return ""
}

// sharedProblem says why clusters may not have folders on a branch; "" if they may. It must be no
// branch that Waybill keeps, nor be in the way of one, nor be taken for the branch of a cluster.
func sharedProblem(branch, prefix string) string {
	switch {
	case branch == "" || !isRefPath(branch):
		return "which is no name of a branch"
	case strings.HasPrefix(branch+"/", prefix), strings.HasPrefix(prefix, branch+"/"):
		return "which is in the way of the branches below spec.publish.branchPrefix, " + prefix
	}
	for _, own := range append([]string{StateBranch + "/", OrdersBranch + "/", UpdatesBranch + "/"}, ownBranches...) {
		if strings.HasPrefix(own, branch+"/") || strings.HasPrefix(branch, own) {
			return "which is in the way of " + strings.TrimSuffix(own, "/")
		}
	}
	return ""
}

// BranchProblem says why a branch that people name may not be pushed beside those that are published; "" if it may.
func (p *Publish) BranchProblem(branch string) string {
	if problem := sharedProblem(branch, p.BranchPrefix); problem != "" {
		return problem
	}
	if shared := p.Addresses().Shared; shared != "" && (strings.HasPrefix(branch+"/", shared+"/") || strings.HasPrefix(shared+"/", branch+"/")) {
		return "which is in the way of spec.publish.branch, " + shared
	}
	return ""
}

// isRefPath reports whether Git takes path as the beginning of a branch name.
func isRefPath(path string) bool {
	for part := range strings.SplitSeq(path, "/") {
		if part == "" || part[0] == '.' || strings.HasSuffix(part, ".lock") {
			return false
		}
	}
	isBad := func(r rune) bool { return r <= ' ' || r == 0x7f || strings.ContainsRune("~^:?*[\\", r) }
	return path[0] != '-' && !strings.ContainsFunc(path, isBad) && !strings.Contains(path, "..") && !strings.Contains(path, "@{")
}
