package worker

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// childArgument is upon which this test binary is a child.
const childArgument = "worker-child"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == childArgument {
		os.Exit(Main(obey))
	}
	code := m.Run()
	if left() {
		fmt.Fprintln(os.Stderr, "the tests leave children behind")
		code = 1
	}
	os.Exit(code)
}

// order is a job of these tests: what the child shall do.
type order struct {
	Do, Arg string
	N       int
}

func (o order) job(files fs.FS) Job {
	data, err := json.Marshal(o)
	if err != nil {
		panic(err)
	}
	return Job{Name: o.Do, Key: string(data), Input: data, Files: files}
}

// obey is the handler of these tests. What gets out says "hit".
func obey(job []byte, fsys fs.FS) ([]byte, error) {
	var o order
	if err := json.Unmarshal(job, &o); err != nil {
		return nil, err
	}
	if do, ok := honest[o.Do]; ok {
		return do(o, fsys)
	}
	if do, ok := escapes()[o.Do]; ok {
		got, err := do(o)
		if err != nil {
			return []byte("denied: " + err.Error()), nil
		}
		return []byte("hit " + got), nil
	}
	if do, ok := deadly[o.Do]; ok {
		do(o)
		return nil, errors.New("it is alive")
	}
	return nil, fmt.Errorf("no order %q", o.Do)
}

// honest are orders that stay within what a handler may do.
var honest = map[string]func(order, fs.FS) ([]byte, error){
	"echo":  func(o order, _ fs.FS) ([]byte, error) { return []byte(o.Arg), nil },
	"fail":  func(o order, _ fs.FS) ([]byte, error) { return nil, errors.New(o.Arg) },
	"zeros": func(o order, _ fs.FS) ([]byte, error) { return make([]byte, o.N), nil },
	"cat":   func(o order, fsys fs.FS) ([]byte, error) { return fs.ReadFile(fsys, o.Arg) },
	"stat": func(o order, fsys fs.FS) ([]byte, error) {
		i, err := fs.Stat(fsys, o.Arg)
		if err != nil {
			return nil, err
		}
		return fmt.Appendf(nil, "%s %d", i.Mode(), i.Size()), nil
	},
	"walk": func(_ order, fsys fs.FS) ([]byte, error) {
		var all bytes.Buffer
		err := fs.WalkDir(fsys, ".", func(p string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			data, err := fs.ReadFile(fsys, p)
			fmt.Fprintf(&all, "%s=%s\n", p, data)
			return err
		})
		return all.Bytes(), err
	},
	"getenv": func(order, fs.FS) ([]byte, error) { return []byte(strings.Join(os.Environ(), " ")), nil },
	"getwd": func(order, fs.FS) ([]byte, error) {
		dir, err := os.Getwd()
		return []byte(dir), err
	},
	"sort": func(o order, fsys fs.FS) ([]byte, error) {
		names, err := fs.Glob(fsys, "*")
		return []byte(filepath.ToSlash(strings.Join(names, " "))), err
	},
}
