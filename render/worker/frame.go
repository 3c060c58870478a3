package worker

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
)

// kind says what a frame is.
type kind byte

const (
	kindSettings kind = 'S' // to the child, first: settings
	kindReport   kind = 'W' // from the child: its walls
	kindJob      kind = 'J' // to the child: the input of a job
	kindAsk      kind = 'P' // from the child: a path
	kindFound    kind = 'F' // to the child: what is there
	kindOutput   kind = 'O' // from the child: the output of the job
	kindError    kind = 'E' // from the child: the handler's error
)

const (
	header   = 5
	maxFrame = math.MaxInt32
	// maxSmall bounds frames that hold no content: reports, paths, errors.
	maxSmall = 64 << 10
)

// errProtocol is what a frame that breaks the protocol is wrapped in.
var errProtocol = errors.New("broke the protocol")

// writeFrame writes one frame.
func writeFrame(w io.Writer, k kind, payload []byte) error {
	if len(payload) > maxFrame {
		return fmt.Errorf("writing a frame: %d bytes are more than %d", len(payload), maxFrame)
	}
	head := binary.BigEndian.AppendUint32([]byte{byte(k)}, uint32(len(payload))) //nolint:gosec // it is no more than maxFrame
	if len(payload) <= maxSmall {                                                // in one system call
		_, err := w.Write(append(head, payload...))
		return err
	}
	if _, err := w.Write(head); err != nil {
		return err
	}
	_, err := w.Write(payload)
	return err
}

// readFrame reads one frame, of at most the bytes that most allows for its kind. A
// kind that most does not know, and a length beyond it, are errProtocol. It holds
// memory for what came, not for what the length promises.
func readFrame(r io.Reader, most map[kind]int64) (kind, []byte, error) {
	var head [header]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, nil, err
	}
	k, size := kind(head[0]), int64(binary.BigEndian.Uint32(head[1:]))
	limit, ok := most[k]
	if !ok {
		return 0, nil, fmt.Errorf("%w: a frame of kind %q", errProtocol, byte(k))
	}
	if size > limit {
		return 0, nil, fmt.Errorf("%w: a frame of %d bytes is more than %d", errProtocol, size, limit)
	}
	var payload bytes.Buffer
	if size <= maxSmall {
		payload.Grow(int(size))
	}
	if _, err := io.CopyN(&payload, r, size); err != nil {
		return 0, nil, io.ErrUnexpectedEOF
	}
	return k, payload.Bytes(), nil
}
