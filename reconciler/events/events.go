// Package events has what happens to clusters, as Kubernetes shows it.
package events

import (
	"fmt"
	"strings"
)

// Event is something that happened to a cluster, for people who ask Kubernetes for Events.
type Event struct {
	Cluster string
	Warning bool
	Reason  string // one word, in CamelCase
	Message string
}

// longestMessage is how many bytes Kubernetes takes as the note of an Event.
const longestMessage = 1024

// Normal returns one that is as it should be. What does not fit is cut.
func Normal(cluster, reason, format string, args ...any) Event {
	e := Warning(cluster, reason, format, args...)
	e.Warning = false
	return e
}

// Warning returns one that somebody should look at. What does not fit is cut.
func Warning(cluster, reason, format string, args ...any) Event {
	message := fmt.Sprintf(format, args...)
	if len(message) > longestMessage {
		message = strings.ToValidUTF8(message[:longestMessage-3], "") + "..."
	}
	return Event{Cluster: cluster, Warning: true, Reason: reason, Message: message}
}
