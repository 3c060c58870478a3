package bench

import (
	"fmt"
	"os"
	"path/filepath"
)

// WriteTo writes the source into a folder.
func (s *Source) WriteTo(dir string) error {
	for name, text := range s.Texts {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
			return fmt.Errorf("writing a source: %w", err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			return fmt.Errorf("writing a source: %w", err)
		}
	}
	return nil
}
