package ui

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/waybill-dev/waybill/reconciler/facts"
	"github.com/waybill-dev/waybill/reconciler/problems"
	"github.com/waybill-dev/waybill/reconciler/report"
	"github.com/waybill-dev/waybill/reconciler/ui/pages"
	"github.com/waybill-dev/waybill/render/object"
)

// How much of the past is shown on a page.
const (
	stepsShown   = 40
	commitsShown = 15
	changesShown = 100

	changesSearched = 300
)

func nowhere(_ *UI, r *http.Request, _ *facts.Facts) (answer, error) {
	return answer{}, fmt.Errorf("nothing is at %.200s: %w", r.URL.Path, errNowhere)
}

// broken is the start page. Addresses of the fleet that were there before go where that is now.
func broken(u *UI, r *http.Request, f *facts.Facts) (answer, error) {
	if q := r.URL.Query(); q.Has("region") || q.Has("status") {
		return answer{to: "/fleet?" + r.URL.RawQuery}, nil
	}
	list := u.problems(r.Context(), f)
	return answer{page: "problems", title: "Problems", here: "problems", body: pages.OfProblems(f, &list, r.URL.Query(), u.Now())}, nil
}

// problems lists what is broken, with who wrote the commits that brought it.
func (u *UI) problems(ctx context.Context, f *facts.Facts) problems.List {
	list := problems.Of(problems.Input{Facts: f, Objects: u.Reader.Everything}).Caused(func(since time.Time) string {
		c, _ := u.Reader.PublishedOf(ctx, f, since)
		return c.Source
	})
	return list.Authored(func(commit string) *facts.Author { return u.Reader.Author(ctx, commit) })
}

// search looks through everything.
func search(u *UI, r *http.Request, f *facts.Facts) (answer, error) {
	all, err := u.Reader.Changes(r.Context(), f, changesSearched)
	if err != nil {
		return answer{}, err
	}
	list, text := u.problems(r.Context(), f), r.URL.Query().Get("q")
	body := pages.OfSearch(&pages.Searched{Facts: f, Problems: &list, Changes: all}, text)
	return answer{page: "search", title: "Search", here: "search", find: text, body: body}, nil
}

func fleet(u *UI, r *http.Request, f *facts.Facts) (answer, error) {
	return answer{page: "fleet", title: "Fleet", here: "fleet", body: pages.OfFleet(f, r.URL.Query(), u.Now())}, nil
}

func matrix(u *UI, r *http.Request, f *facts.Facts) (answer, error) {
	list := problems.Of(problems.Input{Facts: f, Objects: u.Reader.Everything})
	return answer{page: "matrix", title: "Matrix", here: "matrix", body: pages.OfMatrix(f, &list, r.URL.Query(), u.Reader.Objects)}, nil
}

func cluster(u *UI, r *http.Request, f *facts.Facts) (answer, error) {
	name := r.PathValue("name")
	m := f.Cluster(name)
	if m == nil {
		return answer{}, fmt.Errorf("no cluster %.100q is registered by what is published: %w", name, errNowhere)
	}
	var b pages.Branch
	var err error
	if b.Objects, err = m.Everything(); err != nil {
		b.Error = err.Error()
	}
	if b.Commits, err = u.Reader.Branch(r.Context(), f, m, commitsShown); err != nil {
		return answer{}, err
	}
	return answer{page: "cluster", title: name, here: "fleet", body: pages.OfCluster(f, m, b, u.Now())}, nil
}

// found returns the template that an address names.
func found(r *http.Request, f *facts.Facts) (*facts.Template, error) {
	kind, namespace, name := r.PathValue("kind"), r.PathValue("namespace"), r.PathValue("name")
	all := f.Find(kind, pages.Namespace(namespace), name)
	if len(all) == 0 {
		return nil, fmt.Errorf("nothing that is published is the template %.200s: %w", kind+"/"+namespace+"/"+name, errNowhere)
	}
	return all[0], nil
}

// gone returns the template that an address names as it was last; nil if the last publications do not know it.
func (u *UI) gone(r *http.Request, f *facts.Facts) *facts.Template {
	kind, group, _ := strings.Cut(r.PathValue("kind"), ".")
	ref := object.Ref{Group: group, Kind: kind, Namespace: pages.Namespace(r.PathValue("namespace")), Name: r.PathValue("name")}
	return facts.Gone(r.Context(), u.Reader, f, ref)
}

func template(u *UI, r *http.Request, f *facts.Facts) (answer, error) {
	t, err := found(r, f)
	if err != nil {
		if t = u.gone(r, f); t == nil {
			return answer{}, err
		}
	}
	if here := pages.TemplateURL(t.Ref); here != r.URL.EscapedPath() && r.URL.RawQuery == "" && t.Ref.Kind != r.PathValue("kind") {
		return answer{to: here}, nil // which other one it is may change, if the group is left out
	}
	past, err := facts.History(r.Context(), u.Reader, f, t, stepsShown)
	if err != nil {
		return answer{}, err
	}
	body := pages.OfTemplate(f, t, past, r.URL.Query(), pages.Asked{Now: u.Now(), Said: u.Reader.Objects})
	return answer{page: "template", title: t.Ref.String(), here: "matrix", body: body}, nil
}

func why(u *UI, r *http.Request, f *facts.Facts) (answer, error) {
	t, err := found(r, f)
	if err != nil {
		return answer{}, err
	}
	e, ok, err := u.Reader.Explain(r.Context(), f, t.Ref)
	said, wrong := bytes.Buffer{}, ""
	switch {
	case err != nil:
		wrong = err.Error()
	case !ok:
		wrong = "The source has no such template any longer."
	default:
		explained := report.Explain(&e)
		if explained.Placement != nil {
			explained.Placement.Divisions = nil
		}
		if err := report.Explanation(&explained).Write(&said, report.Table); err != nil {
			return answer{}, err
		}
	}
	return answer{page: "why", title: "Why " + t.Ref.String(), here: "matrix", fragment: true, body: pages.OfWhy(t.Ref, said.String(), wrong)}, nil
}

func changes(u *UI, r *http.Request, f *facts.Facts) (answer, error) {
	all, err := u.Reader.Changes(r.Context(), f, changesShown)
	if err != nil {
		return answer{}, err
	}
	return answer{page: "changes", title: "Changes", here: "changes", body: pages.OfChanges(f, all, changesShown, r.URL.Query(), u.Now())}, nil
}

func change(u *UI, r *http.Request, f *facts.Facts) (answer, error) {
	id, within := r.PathValue("commit"), r.URL.Query().Get("cluster")
	c, ok, err := u.Reader.Find(r.Context(), f, id)
	if err != nil {
		return answer{}, err
	}
	if !ok {
		return answer{}, fmt.Errorf("no publication among the last ones is, or is of, the commit %.100q: %w", id, errNowhere)
	}
	if within != "" && f.Cluster(within) == nil {
		return answer{}, fmt.Errorf("no cluster %.100q is registered by what is published: %w", within, errNowhere)
	}
	e, err := u.Reader.Effect(r.Context(), f, c, within)
	if err != nil {
		return answer{}, err
	}
	return answer{page: "change", title: c.Subject, here: "changes", body: pages.OfChange(f, e, within, u.Now())}, nil
}
