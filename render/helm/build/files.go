package build

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/ignore"
)

// The limits of a chart, archives of sub-charts and what is in them included. The
// first two are Helm's own for a packaged chart.
const (
	maxFile    = 5 << 20   // bytes a file
	maxChart   = 100 << 20 // bytes of all files
	maxFiles   = 10_000    // files
	maxNesting = 10        // charts in charts
)

// budget is what is left of a chart's limits.
type budget struct{ bytes, files int64 }

func newBudget() *budget { return &budget{bytes: maxChart, files: maxFiles} }

// spend takes a file of a size out of the budget.
func (b *budget) spend(name string, size int64) error {
	b.bytes -= size
	b.files--
	switch {
	case size > maxFile:
		return fmt.Errorf("%s has %d bytes; a file of a chart may have %d", name, size, maxFile)
	case b.bytes < 0:
		return fmt.Errorf("%s is too much: the files of a chart may have %d bytes together", name, maxChart)
	case b.files < 0:
		return fmt.Errorf("%s is too much: a chart may have %d files", name, maxFiles)
	default:
		return nil
	}
}

// readFiles reads the files of a chart as Helm does from a folder: without what
// .helmignore names, and without byte order marks.
func readFiles(chart fs.FS) ([]*loader.BufferedFile, error) {
	rules, err := ignoreRules(chart)
	if err != nil {
		return nil, err
	}
	left := newBudget()
	var files []*loader.BufferedFile
	err = fs.WalkDir(chart, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || name == "." {
			return err
		}
		data, err := readEntry(chart, rules, name, entry)
		if err != nil || data == nil {
			return err
		}
		files = append(files, &loader.BufferedFile{Name: name, Data: bytes.TrimPrefix(data, []byte("\xEF\xBB\xBF"))})
		return checkFile(name, data, left)
	})
	if err != nil {
		return nil, fmt.Errorf("reading the chart: %w", err)
	}
	return files, nil
}

// readEntry reads a file. It returns nil for a folder, and for what is ignored.
func readEntry(chart fs.FS, rules *ignore.Rules, name string, entry fs.DirEntry) ([]byte, error) {
	info, err := entry.Info()
	if err != nil {
		return nil, err
	}
	switch ignored := rules.Ignore(name, info); {
	case ignored && entry.IsDir():
		return nil, fs.SkipDir
	case ignored || entry.IsDir():
		return nil, nil
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is no regular file (%s); a chart may not have symbolic links", name, info.Mode().Type())
	case info.Size() > maxFile:
		return nil, fmt.Errorf("%s has %d bytes; a file of a chart may have %d", name, info.Size(), maxFile)
	}
	data, err := fs.ReadFile(chart, name)
	if data == nil {
		data = []byte{}
	}
	return data, err
}

// checkFile holds a file, and what is in it if it is a packaged sub-chart, against
// the limits.
func checkFile(name string, data []byte, left *budget) error {
	if err := checkName(name); err != nil {
		return err
	}
	if err := left.spend(name, int64(len(data))); err != nil {
		return err
	}
	if nesting(name) > maxNesting {
		return fmt.Errorf("%s is in more than %d charts, one in another", name, maxNesting)
	}
	if isPackage(name) {
		return checkPackage(name, data, left)
	}
	return nil
}

// nesting counts the charts that a file's name leads through, its own included.
func nesting(name string) int { return strings.Count("/"+name, "/charts/") + 1 }

// isPackage reports whether Helm takes a file for the package of a sub-chart.
func isPackage(name string) bool {
	folder, file := path.Split(name)
	return path.Ext(file) == ".tgz" && (folder == "charts/" || strings.HasSuffix(folder, "/charts/"))
}

// checkName refuses names that mean another file to somebody else.
func checkName(name string) error {
	if !fs.ValidPath(name) || strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == '\\' || r == 0x7f }) {
		return fmt.Errorf("%q is no name for a file of a chart", name)
	}
	return nil
}

// ignoreRules reads the chart's .helmignore, if it has one.
func ignoreRules(chart fs.FS) (*ignore.Rules, error) {
	data, err := fs.ReadFile(chart, ignore.HelmIgnore)
	if errors.Is(err, fs.ErrNotExist) {
		rules := ignore.Empty()
		rules.AddDefaults()
		return rules, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", ignore.HelmIgnore, err)
	}
	rules, err := ignore.Parse(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", ignore.HelmIgnore, err)
	}
	rules.AddDefaults()
	return rules, nil
}
