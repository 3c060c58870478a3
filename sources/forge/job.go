package forge

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Job is what the environment of a CI job says of the forge that it runs for. What it does not say
// is empty.
type Job struct {
	Kind        Kind
	URL         string // of the forge
	Repository  string // that pull requests are made to
	PullRequest int
	Commit      string // the head of the pull request, or what was pushed
	Token       string
	Page        string // where people see the job
}

// commitID is a commit by its whole name.
var commitID = regexp.MustCompile(`^[0-9a-f]{40}([0-9a-f]{24})?$`)

// DetectJob reads the environment of GitHub Actions, of the Actions of Gitea and Forgejo, or of
// GitLab CI. File reads the file of the event that Actions have. Outside of them nothing is known
// but a token.
func DetectJob(env func(string) string, file func(path string) ([]byte, error)) (Job, error) {
	j := Job{Token: env("WAYBILL_FORGE_TOKEN")}
	var err error
	switch {
	case env("GITEA_ACTIONS") == "true" || env("FORGEJO_ACTIONS") == "true": // which say that they are GitHub's, too
		j.Kind = Gitea
		err = j.actions(env, file)
		j.Page = j.run(env("GITHUB_RUN_NUMBER"))
		j.take(env, "GITEA_TOKEN", "FORGEJO_TOKEN", "GITHUB_TOKEN")
	case env("GITHUB_ACTIONS") == "true":
		j.Kind = GitHub
		err = j.actions(env, file)
		j.Page = j.run(env("GITHUB_RUN_ID"))
		j.take(env, "GITHUB_TOKEN", "GH_TOKEN")
	case env("GITLAB_CI") == "true":
		j.gitlab(env)
		j.take(env, "GITLAB_TOKEN")
	}
	if !commitID.MatchString(j.Commit) {
		j.Commit = ""
	}
	return j, err
}

// take takes the first token that there is.
func (j *Job) take(env func(string) string, names ...string) {
	for _, name := range names {
		if j.Token == "" {
			j.Token = env(name)
		}
	}
}

// run is the page of a run of Actions.
func (j *Job) run(number string) string {
	if _, err := strconv.ParseUint(number, 10, 64); err != nil {
		return ""
	}
	return j.URL + "/" + j.Repository + "/actions/runs/" + number
}

// actions reads the environment of Actions. The commit of a pull request is that of the event:
// GITHUB_SHA is what would come of merging it.
func (j *Job) actions(env func(string) string, file func(string) ([]byte, error)) error {
	j.URL, j.Repository, j.Commit = env("GITHUB_SERVER_URL"), env("GITHUB_REPOSITORY"), env("GITHUB_SHA")
	path := env("GITHUB_EVENT_PATH")
	if path == "" {
		return nil
	}
	data, err := file(path)
	if err != nil {
		return fmt.Errorf("reading the event of the job, which $GITHUB_EVENT_PATH names: %w", err)
	}
	var event struct {
		PullRequest *struct {
			Number int
			Head   struct{ SHA string }
		} `json:"pull_request"`
	}
	if err := json.Unmarshal(data, &event); err != nil {
		return fmt.Errorf("reading the event of the job, which $GITHUB_EVENT_PATH names: %w", err)
	}
	if p := event.PullRequest; p != nil {
		j.PullRequest, j.Commit = p.Number, p.Head.SHA
	}
	return nil
}

// gitlab reads the environment of GitLab CI. A pipeline of merge requests that come from forks
// runs in the fork, and the merge request is one of the project that it is for. The commit of a
// merged result is none of the source branch.
func (j *Job) gitlab(env func(string) string) {
	j.Kind, j.URL, j.Page = GitLab, env("CI_SERVER_URL"), env("CI_JOB_URL")
	j.Repository, j.Commit = env("CI_PROJECT_PATH"), env("CI_COMMIT_SHA")
	number, err := strconv.Atoi(env("CI_MERGE_REQUEST_IID"))
	if err != nil {
		return
	}
	j.PullRequest = number
	if target := env("CI_MERGE_REQUEST_PROJECT_PATH"); target != "" {
		j.Repository = target
	}
	if head := env("CI_MERGE_REQUEST_SOURCE_BRANCH_SHA"); strings.TrimSpace(head) != "" {
		j.Commit = head
	}
}
