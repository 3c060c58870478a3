package main

import (
	"cmp"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/sources/git"
)

// credentialFlags adds the flags for the repository that is published to, and for a
// source that is another remote. Each is sent to its own repository only, and a
// password comes from a file or the environment, never from the command line.
func credentialFlags(cmd *cobra.Command) func() (source, target git.Auth, err error) {
	target := credentialSet(cmd, "", "WAYBILL_", "the published repository")
	source := credentialSet(cmd, "source-", "WAYBILL_SOURCE_", "the source, where it is another remote")
	plain := cmd.Flags().Bool("plain-http", false, "send passwords over http, too, where others can read them")
	return func() (s, t git.Auth, err error) {
		if t, err = target(); err == nil {
			s, err = source()
		}
		s.PlainHTTP, t.PlainHTTP = *plain, *plain
		return s, t, err
	}
}

func credentialSet(cmd *cobra.Command, prefix, env, of string) func() (git.Auth, error) {
	username := cmd.Flags().String(prefix+"username", "", "user name for "+of+" over HTTP(S); the password or token is read from --"+prefix+"password-file or $"+env+"PASSWORD")
	passwordFile := cmd.Flags().String(prefix+"password-file", "", "file with the password or token for "+of)
	meant := cmd.Flags().String(prefix+"credentials-for", "", "what these credentials are for, as https://host or https://host/path, and nothing else gets them (default $"+env+"CREDENTIALS_FOR, or else the host that the command line names)")
	sshKey := cmd.Flags().String(prefix+"ssh-key", "", "private key file for "+of+" over SSH")
	knownHosts := cmd.Flags().String(prefix+"known-hosts", "", "known_hosts file for "+of+" (default ~/.ssh/known_hosts)")
	return func() (git.Auth, error) {
		a := git.Auth{
			For: cmp.Or(*meant, os.Getenv(env+"CREDENTIALS_FOR")), Username: *username, Password: os.Getenv(env + "PASSWORD"),
			SSHKey: *sshKey, KnownHosts: *knownHosts,
		}
		if *passwordFile != "" {
			data, err := os.ReadFile(*passwordFile)
			if err != nil {
				return a, fmt.Errorf("reading --%spassword-file: %w", prefix, err)
			}
			a.Password = strings.TrimSpace(string(data))
		}
		return a, nil
	}
}

// given reports whether there is anything secret in credentials.
func given(a git.Auth) bool { return a.Username != "" || a.Password != "" || a.SSHKey != "" }

// forNamed are the credentials for a repository that the command line names: those that
// are meant for nothing in particular are meant for it.
func forNamed(a git.Auth, location string) git.Auth {
	a.For = cmp.Or(a.For, git.Origin(location))
	return a
}

// forConfigured are the credentials for a repository that waybill.yaml names. Who may
// write to the source could name any, so that they have to be meant for it.
func forConfigured(a git.Auth, location string) (git.Auth, error) {
	if to := git.Origin(location); to != "" && a.For == "" && given(a) {
		return a, fmt.Errorf("publish.repository in waybill.yaml is at %s, and it is not said that the credentials are for it; say so with --credentials-for %s or $WAYBILL_CREDENTIALS_FOR, or name the repository with --to", to, to)
	}
	return a, nil
}
