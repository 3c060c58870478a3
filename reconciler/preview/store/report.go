package store

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"time"

	"github.com/waybill-dev/waybill/reconciler/preview"
	"github.com/waybill-dev/waybill/reconciler/preview/page"
)

// mostOf is how many bytes of HTML one report has at most.
const mostOf = 8 << 20

// Report is a comparison as package page writes it. Nobody may modify it.
type Report struct {
	Head string    // commit that it is of
	At   time.Time // when it was made
	Long bool      // it is too long to be kept
	// Mistaken says that the source has errors that it did not have.
	Mistaken bool

	packed []byte
}

// HTML is the report as a page shows it; empty if it was too long.
func (r *Report) HTML() ([]byte, error) {
	if r.Long {
		return nil, nil
	}
	unpacked, err := gzip.NewReader(bytes.NewReader(r.packed))
	if err != nil {
		return nil, fmt.Errorf("unpacking a report: %w", err)
	}
	text, err := io.ReadAll(unpacked)
	if err != nil {
		return nil, fmt.Errorf("unpacking a report: %w", err)
	}
	return text, nil
}

func (r *Report) size() int {
	if r == nil {
		return 0
	}
	return len(r.packed)
}

// pack writes a comparison.
func pack(c *preview.Comparison) (*Report, error) {
	text, err := page.Body(c)
	if err != nil {
		return nil, err
	}
	if len(text) > mostOf {
		return &Report{Long: true, Mistaken: c.Errors() > 0}, nil
	}
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(text); err != nil {
		return nil, fmt.Errorf("packing a report: %w", err)
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("packing a report: %w", err)
	}
	return &Report{packed: b.Bytes(), Mistaken: c.Errors() > 0}, nil
}
