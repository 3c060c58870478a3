package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/reconciler/facts"
	"github.com/waybill-dev/waybill/reconciler/notify"
)

// notifyFlags say who is told of what changes in the fleet.
type notifyFlags struct{ webhookFile, slackFile string }

// addNotifyFlags adds these flags.
func addNotifyFlags(cmd *cobra.Command) *notifyFlags {
	f, flags := &notifyFlags{}, cmd.Flags()
	flags.StringVar(&f.webhookFile, "notify-webhook-file", "", "file with the URL of a webhook that is told when a cluster is held, fails or is well again, and when work moves; see docs/notifications.md")
	flags.StringVar(&f.slackFile, "notify-slack-file", "", "file with the URL of an incoming webhook of Slack that is told the same")
	return f
}

// receivers are those who are told.
func (f *notifyFlags) receivers() (all []*notify.Receiver, err error) {
	for _, from := range []struct {
		flag, file string
		slack      bool
	}{{"notify-webhook-file", f.webhookFile, false}, {"notify-slack-file", f.slackFile, true}} {
		if from.file == "" {
			continue
		}
		text, err := os.ReadFile(from.file)
		if err != nil {
			return nil, fmt.Errorf("reading --%s: %w", from.flag, err)
		}
		at, err := notify.ParseURL(text)
		if err != nil {
			return nil, fmt.Errorf("reading --%s: %s: %w", from.flag, from.file, err)
		}
		all = append(all, &notify.Receiver{Name: from.file, URL: at, Slack: from.slack})
	}
	return all, nil
}

// beside returns the work of a loop with what notifies beside it. The reconciler is for nobody else.
func (f *notifyFlags) beside(r reconciler.Reconciler, loop *reconciler.Loop, url string, work func(context.Context) error) (func(context.Context) error, error) {
	receivers, err := f.receivers()
	if err != nil || len(receivers) == 0 {
		return work, err
	}
	n := &notify.Notifier{
		Reader: &facts.Reader{Reconciler: forOthers(r), Rev: loop.Rev, Fresh: loop.Interval / 2}, Receivers: receivers, Source: r.Source.Name(), URL: url,
		Interval: loop.Interval, Now: time.Now, Log: loop.Log, Client: http.DefaultClient,
	}
	return func(ctx context.Context) error {
		group, ctx := errgroup.WithContext(ctx)
		group.Go(func() error { return n.Run(ctx) })
		group.Go(func() error { return work(ctx) })
		return group.Wait()
	}, nil
}
