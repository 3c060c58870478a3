package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/render/draw"
	"github.com/waybill-dev/waybill/sources/git"
)

const randomKeyFlag = "random-key-file"

// maxRandomKey is how many bytes a file with a random key has at most: an endless one is
// none.
const maxRandomKey = 64 << 10

// randomKey reads the random key with which a source at a path is published. There may be
// none. A source that may be a stranger's could show what is drawn from it.
func randomKey(cmd *cobra.Command, path string) (draw.Key, error) {
	file, untrusted, err := randomFlags(cmd)
	if err != nil || file == "" {
		return draw.Key{}, err
	}
	if untrusted {
		return draw.Key{}, fmt.Errorf("--%s and --untrusted do not go together: a stranger's source could show what is drawn from the key", randomKeyFlag)
	}
	inside, err := isInside(file, path)
	if err == nil && inside {
		err = fmt.Errorf("%s is among the files of the source, from where it is one git add to Git; put it elsewhere", file)
	}
	if err != nil {
		return draw.Key{}, fmt.Errorf("reading --%s: %w", randomKeyFlag, err)
	}
	return readRandomKey(file)
}

// reportKey is the random key of a report, which for a source that may be a stranger's is
// made up, and thrown away.
func reportKey(cmd *cobra.Command, path string) (draw.Key, error) {
	if _, untrusted, err := randomFlags(cmd); err != nil || untrusted {
		key, wrong := draw.Throwaway(rand.Reader)
		return key, errors.Join(err, wrong)
	}
	return randomKey(cmd, path)
}

func randomFlags(cmd *cobra.Command) (file string, untrusted bool, err error) {
	flags := cmd.Root().PersistentFlags()
	if file, err = flags.GetString(randomKeyFlag); err == nil {
		untrusted, err = flags.GetBool("untrusted")
	}
	return file, untrusted, err
}

// readRandomKey reads a random key that nobody but its owner can read.
func readRandomKey(file string) (key draw.Key, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("reading --%s: %w", randomKeyFlag, err)
		}
	}()
	f, err := os.Open(file)
	if err != nil {
		return draw.Key{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return draw.Key{}, err
	case !info.Mode().IsRegular():
		return draw.Key{}, fmt.Errorf("%s is no file", file)
	case isOpenToOthers(info):
		return draw.Key{}, fmt.Errorf("others than its owner can read %s, which has mode %04o; make it readable for you alone: chmod 600 %s", file, info.Mode().Perm(), file)
	case info.Size() > maxRandomKey:
		return draw.Key{}, fmt.Errorf("%s has more than %d bytes; 32 random ones are enough", file, maxRandomKey)
	}
	secret, err := io.ReadAll(io.LimitReader(f, maxRandomKey))
	if err != nil {
		return draw.Key{}, err
	}
	if key, err = draw.NewKey(secret); err != nil {
		return draw.Key{}, fmt.Errorf("%s is no random key: %w; make one: head -c 32 /dev/urandom > %s", file, err, file)
	}
	return key, nil
}

// isInside reports whether a file is in the work tree around a path. The source may be
// no repository, and then is the folder itself; a URL has no work tree.
func isInside(file, path string) (bool, error) {
	if git.IsURL(path) {
		return false, nil
	}
	root, err := filepath.Abs(path)
	if err != nil {
		return false, err
	}
	for dir := root; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			root = dir
			break
		}
	}
	if root, err = filepath.EvalSymlinks(root); err != nil {
		return false, nil //nolint:nilerr // what opens the source says what is wrong with it
	}
	if file, err = filepath.Abs(file); err != nil {
		return false, err
	}
	if file, err = filepath.EvalSymlinks(file); err != nil {
		return false, err
	}
	rel, err := filepath.Rel(root, file)
	return err == nil && filepath.IsLocal(rel) && !strings.HasPrefix(filepath.ToSlash(rel), ".git/"), nil
}
