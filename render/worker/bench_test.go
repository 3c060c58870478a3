package worker

import (
	"testing"
	"testing/fstest"
)

// BenchmarkJob is a job that reads a file, in a child that is there.
func BenchmarkJob(b *testing.B) {
	p := pool(b)
	jobs := []Job{order{Do: "cat", Arg: "a"}.job(fstest.MapFS{"a": {Data: []byte("a: 1")}})}
	for b.Loop() {
		if err := p.Do(b.Context(), jobs)[0].Err; err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkStart is a child that starts, does a job, and ends.
func BenchmarkStart(b *testing.B) {
	p := pool(b)
	jobs := []Job{order{Do: "echo"}.job(nil)}
	for b.Loop() {
		if err := p.Do(b.Context(), jobs)[0].Err; err != nil {
			b.Fatal(err)
		}
		p.idle[0].end()
		p.idle = nil
	}
}

// BenchmarkOutput is a job with a mebibyte of output.
func BenchmarkOutput(b *testing.B) {
	p := pool(b)
	b.SetBytes(1 << 20)
	jobs := []Job{order{Do: "zeros", N: 1 << 20}.job(nil)}
	for b.Loop() {
		if err := p.Do(b.Context(), jobs)[0].Err; err != nil {
			b.Fatal(err)
		}
	}
}
