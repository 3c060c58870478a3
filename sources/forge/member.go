package forge

import (
	"context"
	"errors"
)

// OfMember reports whether the head of a pull request is a member's: of somebody who may write to the
// repository. What a forge says of where a head is from is not enough. Gitea and Forgejo say of a head
// that a reader pushed to refs/for/ (AGit) that it is in the repository, and a branch of the name that
// a pull request gives may have another commit. So the branch has to be at the head.
//
// Tip is the commit of the pull request's branch in the repository, read later than the pull request;
// empty where there is no such branch. Whoever opened the pull request is asked about, too: where the
// forge tells that they may not write, it is a stranger's. Where it does not tell, the branch decides:
// Gitea tells administrators only, and bots that write are no collaborators.
func OfMember(ctx context.Context, f Forge, p *PullRequest, tip string) (bool, error) {
	if p.Fork || p.Branch == "" || tip == "" || tip != p.Head {
		return false, nil
	}
	if p.Author.Bot || p.Author.ID == 0 {
		return true, nil
	}
	may, err := f.Permission(ctx, p.Author)
	if errors.Is(err, ErrForbidden) {
		return true, nil
	}
	return may >= Write, err
}
