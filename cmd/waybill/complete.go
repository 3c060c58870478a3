package main

import (
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	kubectlget "k8s.io/kubectl/pkg/cmd/get"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/reconciler/commands"
	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/reconciler/report/listing"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/sources/git"
)

// suggest lists what a word may be, for a shell. What is read for it is asked of no server.
type suggest func(w repositories) []string

// completes has every command below one suggest what its arguments and flags may be.
func completes(parent *cobra.Command) {
	for _, cmd := range parent.Commands() {
		completes(cmd)
		if isOfRollout := cmd.HasParent() && cmd.Parent().Name() == "rollout"; isOfRollout {
			cmd.ValidArgsFunction = rolloutArguments
		} else if s, most := arguments(cmd); s != nil {
			cmd.ValidArgsFunction = first(most, s)
		} else if strings.Contains(cmd.Use, pathArgument) {
			cmd.ValidArgsFunction = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
				return nil, cobra.ShellCompDirectiveFilterDirs
			}
		}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if s := values(cmd, f); s != nil {
				_ = cmd.RegisterFlagCompletionFunc(f.Name, first(0, s)) // it is there, and has none yet
			}
		})
	}
}

// arguments returns what suggests the arguments of a command, at most so many; 0 for any number.
func arguments(cmd *cobra.Command) (s suggest, most int) {
	switch path := strings.TrimPrefix(cmd.CommandPath(), "waybill "); {
	case path == "get":
		return nil, 0 // see getArguments
	case path == "explain":
		return objects, 1
	case path == "verify", path == "rollback":
		return branches, 1
	case path == "diff":
		return branches, 2
	case path == "apply", path == "status":
		return clusterNames, 0
	case strings.HasPrefix(path, "cluster ") && path != "cluster join":
		return clusterNames, 1
	}
	return nil, 0
}

// values returns what suggests the values of a flag.
func values(cmd *cobra.Command, f *pflag.Flag) suggest {
	if known, ok := f.Value.(*format); ok {
		return func(repositories) []string {
			var names []string
			for _, k := range known.known {
				names = append(names, string(k))
			}
			return names
		}
	}
	switch f.Name {
	case "namespace", "namespaces":
		return namespaces
	case "cluster", "without-cluster", strings.TrimPrefix(clustersFlag, "--"):
		return clusterNames
	case "rev":
		return branches
	case "to":
		return remotes
	case "output":
		if cmd.Name() == "get" {
			return func(repositories) []string { return kubectlget.NewGetPrintFlags().AllowedFormats() }
		}
	}
	return nil
}

// first completes the first arguments by what is suggested and was not named yet; 0 for any
// number of them.
func first(most int, s suggest) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
		if isPath(word) {
			return nil, cobra.ShellCompDirectiveFilterDirs
		}
		path, rest, err := sourceIn(cmd, args)
		if err != nil || most > 0 && len(rest) >= most {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		cmd.SetErr(io.Discard)
		named := slices.DeleteFunc(s(repositories{cmd: cmd, path: path, offline: true}), func(name string) bool {
			return !strings.HasPrefix(name, word) || slices.Contains(rest, name)
		})
		slices.Sort(named)
		return slices.Compact(named), cobra.ShellCompDirectiveNoFileComp
	}
}

// getArguments completes a kind, and behind it names of its objects.
func getArguments(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
	_, rest, err := sourceIn(cmd, args)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	if len(rest) == 0 {
		return first(1, kindNames)(cmd, args, word)
	}
	return first(0, func(w repositories) []string {
		namespace, _ := cmd.Flags().GetString("namespace")
		if listing.IsRecorded(rest[0]) {
			return commands.UnitsIn(recordedRollouts(w), namespace)
		}
		p, set := planned(w)
		lists := listing.Lists{Plan: p, Set: set}
		list, err := lists.List(listing.Query{Kind: rest[0], Namespace: namespace})
		if err != nil {
			return nil
		}
		return list.Names()
	})(cmd, args, word)
}

// rolloutArguments completes the arguments of a command of rollout: a unit, and behind it a stage or a cluster.
func rolloutArguments(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
	_, rest, _ := sourceIn(cmd, args) // first says nothing where that is an error
	takes := len(strings.Fields(cmd.Use)) - 1
	return first(takes, func(w repositories) []string {
		return commands.Suggest(recordedRollouts(w), rollouts.Verb(cmd.Name()), takes, rest, word)
	})(cmd, args, word)
}

// recordedRollouts are those that the state branch records, as far as they can be read.
func recordedRollouts(w repositories) []rollouts.Rollout {
	r, _, err := w.report("")
	if err != nil || r.Target == nil {
		return nil
	}
	all, _, _ := commands.Recorded(w.cmd.Context(), r.Target)
	return all
}

func kindNames(repositories) []string {
	names := []string{fluxList, argocdList}
	for _, k := range listing.Names() {
		names = append(names, k[0])
	}
	return names
}

// planned is the plan of a source as it stands, and what it was made with; empty where it cannot
// be read.
func planned(w repositories) (*plan.Plan, *policies.Set) {
	r, s, err := w.report("")
	if err != nil {
		return &plan.Plan{}, &policies.Set{}
	}
	p, obs, err := w.plan(r, s, plan.Branch)
	if err != nil {
		return &plan.Plan{}, &policies.Set{}
	}
	set, _, _ := policies.Settings{Failover: obs.Input.Source.Config.Failover.Enabled}.Load(obs.Input.Source.Objects, nil)
	return &p, &set
}

func objects(w repositories) []string {
	p, _ := planned(w)
	return listing.TemplateNames(p)
}

func namespaces(w repositories) []string {
	p, _ := planned(w)
	return listing.Namespaces(p)
}

func clusterNames(w repositories) []string {
	registered, _ := w.registered("")
	names := make([]string, 0, len(registered))
	for _, c := range registered {
		names = append(names, c.Name)
	}
	return names
}

func branches(w repositories) []string {
	repo := w.near()
	if repo == nil {
		return nil
	}
	heads, _ := repo.Heads(w.cmd.Context())
	return slices.Collect(maps.Keys(heads))
}

func remotes(w repositories) []string {
	repo := w.near()
	if repo == nil {
		return nil
	}
	return repo.Remotes()
}

// near is the repository of a source, if it is on this machine.
func (w repositories) near() *git.Repo {
	if git.IsURL(w.path) {
		return nil
	}
	repo, _ := w.source()
	return repo
}
