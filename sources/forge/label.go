package forge

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
)

// A Labeler is a repository at a forge whose pull requests have labels.
type Labeler interface {
	// AddLabel gives a pull request a label, which the repository gets, too, if it does not have it.
	AddLabel(ctx context.Context, number int, name string) error
	// RemoveLabel takes a label from a pull request, which may not have it.
	RemoveLabel(ctx context.Context, number int, name string) error
}

// labelColor is that of labels that are made, where the forge wants one to be said: yellow.
const labelColor = "#fbca04"

func labeling(number int) string { return fmt.Sprintf("labeling pull request %d", number) }

// labelsOf is where the labels of a pull request of GitHub's or Gitea's are.
func labelsOf(number int) string { return fmt.Sprintf("/issues/%d/labels", number) }

func (g *github) AddLabel(ctx context.Context, number int, name string) error {
	return g.addLabel(ctx, number, name)
}

func (g *github) RemoveLabel(ctx context.Context, number int, name string) error {
	return g.removeLabel(ctx, number, name)
}

// AddLabel goes by the number that a label has: releases before 1.22 know no other name, and none makes what is missing.
func (g *gitea) AddLabel(ctx context.Context, number int, name string) error {
	id, err := g.label(ctx, number, name)
	if err != nil {
		return err
	}
	if id == 0 {
		var made giteaLabel
		if err := g.do(ctx, call{
			doing: labeling(number), method: http.MethodPost, path: "/labels", in: map[string]string{"name": name, "color": labelColor}, out: &made,
		}); err != nil {
			return err
		}
		id = made.ID
	}
	return g.addLabel(ctx, number, id)
}

func (g *gitea) RemoveLabel(ctx context.Context, number int, name string) error {
	id, err := g.label(ctx, number, name)
	if err != nil || id == 0 {
		return err
	}
	return g.removeLabel(ctx, number, strconv.FormatInt(id, 10))
}

type giteaLabel struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
}

// label is the number of a label of the repository; zero if there is none of that name.
func (g *gitea) label(ctx context.Context, number int, name string) (id int64, err error) {
	all, err := pages[giteaLabel](ctx, g.client, get(labeling(number), "/labels", nil), nil)
	if i := slices.IndexFunc(all, func(l giteaLabel) bool { return l.Name == name }); i >= 0 {
		id = all[i].ID
	}
	return id, err
}

// AddLabel leaves the others; GitLab makes what is missing.
func (g *gitlab) AddLabel(ctx context.Context, number int, name string) error {
	return g.change(ctx, number, map[string]string{"add_labels": name})
}

func (g *gitlab) RemoveLabel(ctx context.Context, number int, name string) error {
	return g.change(ctx, number, map[string]string{"remove_labels": name})
}
