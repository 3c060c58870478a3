package ui

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"strconv"
	"strings"
)

// leastCompressed is how many bytes an answer has at least that is worth compressing.
const leastCompressed = 1 << 10

// body writes the headers of an answer about its length, and returns what is to be sent: compressed, if whoever asks takes that. Pages
// hold nothing that somebody could find out by their length: what is not to be seen is in none.
func body(w http.ResponseWriter, r *http.Request, data []byte) []byte {
	h := w.Header()
	h.Add("Vary", "Accept-Encoding")
	if len(data) >= leastCompressed && takesGzip(r.Header.Get("Accept-Encoding")) {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		_, _ = z.Write(data) // a buffer takes all
		_ = z.Close()
		data = b.Bytes()
		h.Set("Content-Encoding", "gzip")
	}
	h.Set("Content-Length", strconv.Itoa(len(data)))
	return data
}

// takesGzip reports that an Accept-Encoding (RFC 9110, section 12.5.3) takes gzip.
func takesGzip(accepted string) bool {
	for part := range strings.SplitSeq(accepted, ",") {
		coding, weight, _ := strings.Cut(strings.ReplaceAll(part, " ", ""), ";")
		if strings.EqualFold(coding, "gzip") {
			q, err := strconv.ParseFloat(strings.TrimPrefix(weight, "q="), 64)
			return weight == "" || err == nil && q > 0
		}
	}
	return false
}
