package main

import (
	"crypto/rand"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/cmd/waybill/private"
	"github.com/waybill-dev/waybill/render/draw"
)

const randomKeyFlag = "random-key-file"

// randomKey reads the random key with which a source at a path is published. There may be
// none. A source that may be a stranger's could show what is drawn from it.
func randomKey(cmd *cobra.Command, path string) (draw.Key, error) {
	file := valueOf(cmd, randomKeyFlag)
	if file == "" {
		return draw.Key{}, nil
	}
	if isUntrusted(cmd) {
		return draw.Key{}, fmt.Errorf("--%s and --untrusted do not go together: a stranger's source could show what is drawn from the key", randomKeyFlag)
	}
	if err := private.Outside(randomKeyFlag, file, path); err != nil {
		return draw.Key{}, err
	}
	return readRandomKey(file)
}

// reportKey is the random key of a report, which for a source that may be a stranger's is
// made up, and thrown away.
func reportKey(cmd *cobra.Command, path string) (draw.Key, error) {
	if isUntrusted(cmd) {
		return draw.Throwaway(rand.Reader)
	}
	return randomKey(cmd, path)
}

// readRandomKey reads a random key that nobody but its owner can read.
func readRandomKey(file string) (draw.Key, error) {
	secret, err := private.Read(randomKeyFlag, file)
	if err != nil {
		return draw.Key{}, err
	}
	key, err := draw.NewKey(secret)
	if err != nil {
		return key, fmt.Errorf("reading --%s: %s is no random key: %w; make one: head -c 32 /dev/urandom > %s", randomKeyFlag, file, err, file)
	}
	return key, nil
}
