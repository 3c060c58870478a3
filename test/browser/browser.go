// Package browser starts headless Chromium for tests and for the demo: one that has a folder of its
// own, knows nothing, and asks nobody anything of itself.
package browser

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/chromedp/chromedp"
)

// Start starts a browser, in which actions of chromedp run with the context that it returns. Stop
// ends it, and removes its folder.
func Start(ctx context.Context) (_ context.Context, stop func() error, err error) {
	program, err := exec.LookPath("chromium")
	if err != nil {
		return nil, nil, fmt.Errorf("%w; install it with: apt-get install chromium", err)
	}
	dir, err := os.MkdirTemp("", "waybill-chromium-")
	if err != nil {
		return nil, nil, err
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program), chromedp.UserDataDir(filepath.Join(dir, "profile")), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.WSURLReadTimeout(time.Minute), chromedp.Env("HOME="+dir, "XDG_CONFIG_HOME="+dir, "XDG_CACHE_HOME="+dir),
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true), chromedp.Flag("no-proxy-server", true))
	ctx, ended := chromedp.NewExecAllocator(ctx, options...)
	ctx, closed := chromedp.NewContext(ctx)
	return ctx, func() error {
		_ = chromedp.Cancel(ctx) // waits until it has written what it writes at its end
		closed()
		ended()
		return remove(dir)
	}, nil
}

// remove removes the folder of a browser, to which its last process may write until it has ended,
// and that is after the browser has.
func remove(dir string) (err error) {
	const tries, pause = 100, 50 * time.Millisecond
	tick := time.NewTicker(pause)
	defer tick.Stop()
	for range tries {
		if err = os.RemoveAll(dir); err == nil {
			return nil
		}
		<-tick.C
	}
	return errors.Join(errors.New("what a browser left cannot be removed"), err)
}
