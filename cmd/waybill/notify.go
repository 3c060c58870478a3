package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/reconciler/facts"
	"github.com/waybill-dev/waybill/reconciler/notify"
)

// notifyFlags say who is told of what changes in the fleet.
type notifyFlags struct{ webhookFile, slackFile string }

// addNotifyFlags adds these flags.
func addNotifyFlags(cmd *cobra.Command) *notifyFlags {
	f, flags := &notifyFlags{}, cmd.Flags()
	flags.StringVar(&f.webhookFile, "notify-webhook-file", "", "file with the URL of a webhook that is told when a cluster is held, fails or is well again, when work moves, how changes go out in stages, and what becomes of new versions; see docs/notifications.md")
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

// parts notify receivers, if there are any.
func (f *notifyFlags) parts(_ context.Context, c *controller) ([]runnable, error) {
	receivers, err := f.receivers()
	if err != nil || len(receivers) == 0 {
		return nil, err
	}
	r := c.loop.Reconciler
	n := &notify.Notifier{
		Reader: &facts.Reader{Reconciler: forOthers(*r), Rev: c.loop.Rev, Fresh: c.loop.Interval / 2}, Receivers: receivers, Source: r.Source.Name(), URL: c.url,
		Interval: c.loop.Interval, Now: time.Now, Log: c.loop.Log, Client: http.DefaultClient,
	}
	return []runnable{{name: "notifications", leads: true, run: alone(n.Run)}}, nil
}
