package main

import (
	"slices"

	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/sources/git"
)

// origin is what Git calls the repository that a clone was made from.
const origin = "origin"

// destination is where a source is published to.
type destination struct {
	location string // a path or a URL; empty: the source's own repository
	remote   string // what the clone calls it; empty where it has no name
	auth     git.Auth
	typed    bool // the command line names it
}

// destination finds where a source is published to: where --to says, else where its config
// says. What --to says is a remote before it is a path, as in Git.
func (w repositories) destination(source *git.Repo, s sources.Snapshot) (destination, error) {
	switch {
	case w.to == "":
		return w.configured(s)
	case !git.IsURL(w.to) && slices.Contains(source.Remotes(), w.to):
		return w.remote(source, w.to)
	}
	return destination{location: w.to, auth: forNamed(w.at, w.to), typed: true}, nil
}

// finder finds the repository that a source is published to.
type finder func(w repositories, source *git.Repo, s sources.Snapshot) (destination, error)

// home is where a source is published to, and of a clone, of which nothing is said, where it was made from.
func home(w repositories, source *git.Repo, s sources.Snapshot) (destination, error) {
	d, err := w.destination(source, s)
	if err == nil && d.location == "" && slices.Contains(source.Remotes(), origin) {
		return w.remote(source, origin)
	}
	return d, err
}

// configured is where the config says.
func (w repositories) configured(s sources.Snapshot) (destination, error) {
	to, err := configured(w.cmd, s)
	if err != nil {
		return destination{}, err
	}
	auth, err := forConfigured(w.typed(), to)
	return destination{location: to, auth: auth}, err
}

// remote is where a remote of a clone is. If it is not the command line that names it, it
// gets credentials that are meant for it, and no others.
func (w repositories) remote(source *git.Repo, name string) (destination, error) {
	remote, err := source.Remote(name, w.at.For)
	if err != nil {
		return destination{}, err
	}
	d := destination{location: remote.Location, remote: name, auth: w.at, typed: name == w.to}
	if d.typed {
		d.auth = forNamed(d.auth, d.location)
	} else if d.auth.For == "" {
		d.auth = git.Auth{KnownHosts: w.at.KnownHosts, PlainHTTP: w.at.PlainHTTP} // its URL may hold some
	}
	if remote.PassedOver != "" {
		w.warn("git push %s would go to %s, which is another host than that of its url or of the credentials, and does not count; --credentials-for says which host does", name, remote.PassedOver)
	}
	return d, nil
}

// sayWhere warns of a publication that stays in a clone.
func (w repositories) sayWhere(source *git.Repo) {
	names := source.Remotes()
	if len(names) == 0 {
		return
	}
	name := names[0]
	if slices.Contains(names, origin) {
		name = origin
	}
	w.warn("this is a clone of %s, and the branches are written to the clone alone; --to %s publishes there, and --to %s says that this is meant", source.Source(), name, w.path)
}
