package pack

import (
	"bytes"
	"compress/zlib"
	"context"
	"fmt"
	"hash/crc32"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"
)

// chunkSize is how many objects are compressed at a time: enough to make handing
// over cheap, few enough to keep what is in flight small.
const chunkSize = 64

// segment is a run of objects as they stand in a pack. Its offsets count from its
// own start.
type segment struct {
	data    []byte
	entries []entry
}

// objects compresses objects on all processors and writes them in their order.
// Worker i does the chunks i, i+n, i+2n and so on, and the writer takes from the
// workers in turn, so that the order needs no bookkeeping and no more than two
// chunks a worker are ever in memory.
func (w *writer) objects(ctx context.Context, objects []Object) error {
	chunks := slices.Collect(slices.Chunk(objects, chunkSize))
	n := min(runtime.GOMAXPROCS(0), len(chunks))
	done := make([]chan segment, n)
	g, ctx := errgroup.WithContext(ctx)
	for i := range n {
		done[i] = make(chan segment, 1)
		g.Go(func() error {
			e := newEncoder()
			for k := i; k < len(chunks); k += n {
				s, err := e.segment(chunks[k])
				if err != nil {
					return err
				}
				select {
				case done[i] <- s:
				case <-ctx.Done():
					return ctx.Err()
				}
			}
			return nil
		})
	}
	g.Go(func() error {
		for k := range chunks {
			select {
			case s := <-done[k%n]:
				w.append(s)
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
	return g.Wait()
}

func (w *writer) append(s segment) {
	for _, e := range s.entries {
		e.offset += w.offset
		w.entries = append(w.entries, e)
	}
	w.write(s.data)
}

// encoder compresses objects. The level is the fastest: manifests are small and
// alike, and the default one costs half as much again for a twentieth of the size. What is
// very short stays as it is: it would cost as much, and gain nothing.
type encoder struct{ fastest, none *zlib.Writer }

// short is how many bytes are not worth compressing.
const short = 128

func newEncoder() *encoder {
	e := &encoder{}
	for level, z := range map[int]**zlib.Writer{zlib.BestSpeed: &e.fastest, zlib.NoCompression: &e.none} {
		var err error
		if *z, err = zlib.NewWriterLevel(nil, level); err != nil {
			panic("pack: zlib does not know its own level: " + err.Error())
		}
	}
	return e
}

func (e *encoder) segment(objects []Object) (segment, error) {
	var buf bytes.Buffer
	entries := make([]entry, 0, len(objects))
	for _, o := range objects {
		start := buf.Len()
		if err := e.object(&buf, o); err != nil {
			return segment{}, err
		}
		entries = append(entries, entry{id: o.ID, offset: int64(start), crc: crc32.ChecksumIEEE(buf.Bytes()[start:])})
	}
	return segment{data: buf.Bytes(), entries: entries}, nil
}

// object appends an object: its header, the id of the one that it is made of, if there is
// one, and its data.
func (e *encoder) object(buf *bytes.Buffer, o Object) error {
	data, err := o.Data()
	if err != nil {
		return fmt.Errorf("reading object %s: %w", o.ID, err)
	}
	if o.From.IsZero() {
		buf.Write(header(o.Kind, len(data)))
	} else {
		buf.Write(header(refDelta, len(data)))
		buf.Write(o.From[:])
	}
	z := e.fastest
	if len(data) < short {
		z = e.none
	}
	z.Reset(buf)
	if _, err := z.Write(data); err != nil {
		return fmt.Errorf("compressing object %s: %w", o.ID, err)
	}
	if err := z.Close(); err != nil {
		return fmt.Errorf("compressing object %s: %w", o.ID, err)
	}
	return nil
}

// header is the kind and the size of an object: four bits of the size and the kind
// in the first byte, then seven bits of the size a byte, low ones first.
func header(k Kind, size int) []byte {
	b := byte(k)<<4 | byte(size&0x0f)
	size >>= 4
	var h []byte
	for size > 0 {
		h = append(h, b|0x80)
		b = byte(size & 0x7f)
		size >>= 7
	}
	return append(h, b)
}
