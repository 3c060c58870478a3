package main

import (
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/waybill-dev/waybill/test/browser"
)

// aside is the page around a comment: the forge writes what is in it, and has its style elsewhere.
var aside = template.Must(template.New("comment").Parse(`<!DOCTYPE html><html lang="en" data-ready><meta charset="utf-8"><title>The comment</title>
<style>body{font:14px/1.5 system-ui;max-width:900px;margin:24px auto;padding:0 16px}pre,code{font:12px/1.45 ui-monospace,monospace;background:#f6f8fa}
pre{padding:8px;overflow:auto}table{border-collapse:collapse}td,th{border:1px solid #d1d9e0;padding:4px 10px}summary{margin:6px 0}</style>
<body>{{.}}`))

// shot is a page of which pictures are saved.
type shot struct {
	name, url string
	ready     string // what is there once the page is whole
}

// pictures saves what the comment and the page of the report look like.
func (r *review) pictures(comment string) error {
	said, err := r.rendered(comment)
	if err != nil {
		return err
	}
	report, err := r.reported()
	if err != nil {
		return err
	}
	var shots []shot
	for name, text := range map[string]string{"comment": said, "report": report} {
		page := filepath.Join(r.dir, name+".html")
		if err := os.WriteFile(page, []byte(text), 0o644); err != nil {
			return err
		}
		shots = append(shots, shot{name, "file://" + page, "html[data-ready]"})
	}
	return r.shoot(shots...)
}

// look saves what the web UI looks like.
func (r *review) look() error {
	r.title("The web UI of the controller, at " + r.ui)
	return r.shoot(shot{"ui-problems", r.ui + "/", "main"}, shot{"ui-fleet", r.ui + "/fleet", "main table"}, shot{"ui-matrix", r.ui + "/matrix", "main table"}, shot{"ui-changes", r.ui + "/changes", "main"})
}

// shoot saves pictures, on a phone and on a desk, where there is a browser.
func (r *review) shoot(shots ...shot) (err error) {
	if _, missing := exec.LookPath("chromium"); missing != nil {
		r.say("\nThere is no chromium on this machine, so there are no pictures.")
		return nil
	}
	dir := filepath.Join(r.root, "bin", "pictures")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	ctx, stop, err := browser.Start(r.ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	for _, s := range shots {
		for _, width := range []int64{360, 1440} {
			var data []byte
			err := chromedp.Run(ctx, emulation.SetDeviceMetricsOverride(width, 900, 1, false), chromedp.Navigate(s.url), chromedp.WaitReady(s.ready, chromedp.ByQuery),
				chromedp.Evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true; })", nil), chromedp.FullScreenshot(&data, 100))
			if err != nil {
				return fmt.Errorf("taking a picture of %s: %w", s.name, err)
			}
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%s-%d.png", s.name, width)), data, 0o644); err != nil {
				return err
			}
		}
		r.say("A picture: %s", filepath.Join(dir, s.name+"-1440.png"))
	}
	return nil
}

// rendered is what the forge makes of a comment.
func (r *review) rendered(comment string) (string, error) {
	var said string
	err := r.do(http.MethodPost, "/markdown", map[string]any{"Text": comment, "Mode": "comment", "Context": repository}, &said)
	if err != nil {
		return "", err
	}
	var page strings.Builder
	err = aside.Execute(&page, template.HTML(said)) //nolint:gosec // a forge says so
	return page.String(), err
}

// reported is the page of the report.
func (r *review) reported() (string, error) {
	args := []string{"diff", "origin/main", "HEAD", "-C", r.source, "--to", "origin", "--plain-http", "-o", "html"}
	r.say("\n$ waybill %s > report.html", strings.Join(args, " "))
	out, err := r.command("waybill", args...).Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() == 1 {
		err = nil // it changes something
	}
	return string(out), err
}
