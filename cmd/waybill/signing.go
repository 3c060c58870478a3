package main

import (
	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/cmd/waybill/private"
	"github.com/waybill-dev/waybill/sources/git"
)

// signingFlag adds the flag of those who publish, and returns repositories that sign with its key.
// The key is not to be in the source.
func signingFlag(cmd *cobra.Command, where func(path string) (repositories, error)) func(path string) (repositories, error) {
	const name = "signing-key"
	file := cmd.Flags().String(name, "", "file with the private key that signs the commits of branches, as ssh-keygen -t ed25519 makes it; agents ask for it with --"+signersFlag)
	return func(path string) (repositories, error) {
		w, err := where(path)
		if err != nil || *file == "" {
			return w, err
		}
		if err := private.Outside(name, *file, path); err != nil {
			return w, err
		}
		key, err := readKey(name, *file)
		if err != nil {
			return w, err
		}
		public := key.Public()
		w.sign, w.key = git.Signer(key.SignCommit), &public
		return w, nil
	}
}
