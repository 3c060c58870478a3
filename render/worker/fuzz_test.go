package worker

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"
)

// FuzzReadFrame: whatever comes, a frame is either what writeFrame writes, or an
// error; and it is never longer than allowed.
func FuzzReadFrame(f *testing.F) {
	f.Add([]byte("O\x00\x00\x00\x02ab"))
	f.Add([]byte("O\xff\xff\xff\xff"))
	f.Add([]byte("x\x00\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		const most = 16
		k, payload, err := readFrame(bytes.NewReader(data), map[kind]int64{kindOutput: most})
		if err != nil {
			if len(data) >= header && !errors.Is(err, errProtocol) && !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Fatalf("error %v", err)
			}
			return
		}
		var again bytes.Buffer
		if err := writeFrame(&again, k, payload); err != nil || len(payload) > most || !bytes.HasPrefix(data, again.Bytes()) {
			t.Fatalf("%q gives %q, written %q, %v", data, payload, again.Bytes(), err)
		}
	})
}

// only is a file system that fails the test on a path that no honest child asks for.
type only struct {
	fs.FS

	t *testing.T
}

func (o only) Open(name string) (fs.File, error) {
	if !fs.ValidPath(name) || len(name) > maxPath {
		o.t.Errorf("opened %q", name)
	}
	return o.FS.Open(name)
}

// FuzzLookup: no path gets out of the files, no file is sent twice, and no more is
// sent than there is room for.
func FuzzLookup(f *testing.F) {
	files := fstest.MapFS{"a": {Data: []byte("content of a")}, "d/b": {Data: make([]byte, 300)}}
	f.Add("a", "d")
	f.Add("../a", "d/b")
	f.Add("/", ".")
	f.Add("d/b", "d/b")
	f.Fuzz(func(t *testing.T, first, second string) {
		const room = 400
		l, sent := newLookup(only{files, t}, room), 0
		for _, name := range []string{first, second} {
			data, err := l.answer(name)
			if err != nil {
				if fs.ValidPath(name) && len(name) <= maxPath && first != second {
					t.Fatalf("%q: %v", name, err)
				}
				continue
			}
			if answer, err := decodeFound(data); err != nil || answer.Kind != l.reads[len(l.reads)-1].Kind && l.err == nil {
				t.Fatalf("%q gives %q, %v; noted %v", name, data, err, l.reads)
			}
			if l.err == nil {
				sent += len(data)
			}
		}
		if sent > room {
			t.Fatalf("%d bytes sent of %d", sent, room)
		}
	})
}

// FuzzReduced: nothing of a panic's text is told, whatever it looks like.
func FuzzReduced(f *testing.F) {
	const stack = "\n\ngoroutine 1 [running]:\nmain.main()\n\t/src/main.go:1 +0x1\n"
	f.Add("hunter2")
	f.Add("x\ngoroutine 1 [running]:\nmain.hunter2(0x1)")
	f.Add("runtime error: hunter2")
	f.Fuzz(func(t *testing.T, text string) {
		var e tail
		fmt.Fprint(&e, "panic: "+strings.ReplaceAll(text, "\n", "\n\t")+stack) // as the runtime indents it
		if len(text)+len(stack) > maxStderr/2 {
			return
		}
		kind, ok := strings.CutSuffix(e.reduced(), " in main.main")
		if !ok || kind != crashKind(kind) && kind != crashKind("fatal error: "+kind) {
			t.Fatalf("%q is reduced to %q", text, e.reduced())
		}
	})
}
