package worker

import (
	"encoding/binary"
	"math"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync/atomic"
	"time"
)

// deadly are orders after which a child is no more.
var deadly = map[string]func(order){
	"allocate": func(o order) {
		var all [][]byte
		for range o.N {
			all = append(all, make([]byte, 16<<20))
		}
		runtime.KeepAlive(all)
	},
	"spin": func(order) {
		for i := uint64(0); ; i++ {
			atomic.AddUint64(&spun, i)
		}
	},
	"spin on all": func(o order) {
		for range o.N {
			go func() {
				for {
					atomic.AddUint64(&spun, 1)
				}
			}()
		}
		time.Sleep(time.Hour)
	},
	"warn":    func(o order) { _, _ = os.Stderr.WriteString(o.Arg + "\n") },
	"sleep":   func(order) { time.Sleep(time.Hour) },
	"recurse": func(o order) { recurse(o, 0) },
	"panic":   func(o order) { panic("the password is " + o.Arg + "\nmain.hunter2(0x1)\n\tfile.go:1") },
	"index":   func(o order) { _ = o.Arg[len(o.Arg)+o.N] },
	"leave behind": func(o order) {
		_ = exec.Command("/bin/sh", "-c", o.Arg).Run()
		os.Exit(0)
	},
	"exit": func(o order) { os.Exit(o.N) },
	"close": func(order) {
		os.Stdout.Close()
		time.Sleep(time.Hour)
	},
	"flood": func(order) {
		block := make([]byte, 1<<20)
		for {
			if _, err := os.Stdout.Write(block); err != nil {
				return
			}
		}
	},
	"flood stderr": func(o order) {
		line := []byte(strings.Repeat("the password is hunter2\n", 1000))
		for range o.N {
			if _, err := os.Stderr.Write(line); err != nil {
				return
			}
		}
	},
	"frame": func(o order) { // a frame of kind N, and in it Arg
		frame := binary.BigEndian.AppendUint32([]byte{byte(o.N)}, uint32(len(o.Arg)))
		_, _ = os.Stdout.Write(append(frame, o.Arg...))
		time.Sleep(time.Hour)
	},
	"promise": func(o order) { // a frame that is longer than what comes
		_, _ = os.Stdout.Write(binary.BigEndian.AppendUint32([]byte{byte(kindOutput)}, uint32(o.N)))
		time.Sleep(time.Hour)
	},
	"threads": func(order) {
		for range 100_000 {
			go func() {
				runtime.LockOSThread()
				time.Sleep(time.Hour)
			}()
		}
		time.Sleep(time.Hour)
	},
}

// spun keeps loops from being optimised away.
var spun uint64

func recurse(o order, depth int) int {
	var pad [1024]byte
	pad[depth%len(pad)] = byte(depth)
	if depth == math.MaxInt {
		return 0
	}
	return recurse(o, depth+1) + int(pad[(depth*7)%len(pad)])
}
