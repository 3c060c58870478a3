// Package firstsource writes an example as somebody's first source.
package firstsource

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Write writes an example as the source dir. It overwrites nothing.
func Write(dir string, all fs.FS, name string) ([]string, error) {
	var names []string
	files, err := fs.Sub(all, name)
	if err != nil {
		return nil, err
	}
	err = fs.WalkDir(files, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(files, path)
		if err != nil {
			return err
		}
		name := filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return fmt.Errorf("making a folder: %w", err)
		}
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if err != nil {
			return fmt.Errorf("writing the first source: %w; init overwrites nothing, so choose another folder", err)
		}
		if _, err := f.Write(data); err != nil {
			f.Close()
			return fmt.Errorf("writing %s: %w", name, err)
		}
		names = append(names, name)
		return f.Close()
	})
	return names, err
}
