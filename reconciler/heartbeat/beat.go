// Package heartbeat is how an agent says that it is there, and how that is judged. An agent says
// it with every Beat, which it signs; a Book notes when one came, by the clock of whoever reads,
// and says whether the lease of a cluster runs. It does no I/O and has no clock.
//
// A beat is a text of trailers, which is the message of a commit without a history where beats
// go by Git, and sealed with a signature of its own where they go by HTTP.
package heartbeat

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/waybill-dev/waybill/sources/signing"
)

// Refs and Branches begin the names of the refs that beats are at, which the name of the cluster
// ends. Branches are for servers that take no others.
const (
	Refs     = "refs/waybill/heartbeat/"
	Branches = "refs/heads/waybill/heartbeat/"
)

// AgentKey is the annotation of a Cluster that has the public half of its agent's key.
const AgentKey = "waybill.dev/agent-key"

// namespace is that of signatures of sealed beats.
const namespace = "heartbeat@waybill.dev"

// MaxSize is how many bytes a beat has at most, sealed or not.
const MaxSize = 4 << 10

// Beat says that an agent is there.
type Beat struct {
	Cluster string
	UID     string // of the Namespace kube-system of the cluster
	Agent   string // which of several
	// Sequence grows with every beat of a cluster, whatever its agents.
	Sequence uint64
	// Session is what whoever hears beats by HTTP asked for; empty by Git.
	Session string
}

// The trailers of a beat, in their order.
const (
	keyCluster  = "Heartbeat-Cluster"
	keyUID      = "Heartbeat-UID"
	keyAgent    = "Heartbeat-Agent"
	keySequence = "Heartbeat-Sequence"
	keySession  = "Heartbeat-Session"
)

// Text is the beat as a message of a commit.
func (b *Beat) Text() string {
	var t strings.Builder
	fmt.Fprintf(&t, "%s: heartbeat\n\n%s: %s\n%s: %s\n%s: %s\n%s: %d\n", b.Cluster, keyCluster, b.Cluster, keyUID, b.UID, keyAgent, b.Agent, keySequence, b.Sequence)
	if b.Session != "" {
		fmt.Fprintf(&t, "%s: %s\n", keySession, b.Session)
	}
	return t.String()
}

// errMalformed says that a text is no beat.
var errMalformed = errors.New("it is no heartbeat")

// Parse reads what Text wrote, and nothing else.
func Parse(text string) (Beat, error) {
	if len(text) > MaxSize {
		return Beat{}, fmt.Errorf("%w: it has %d bytes, and may have %d", errMalformed, len(text), MaxSize)
	}
	var b Beat
	var err error
	_, trailers, _ := strings.Cut(text, "\n\n")
	for line := range strings.Lines(trailers) {
		key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		switch key {
		case keyCluster:
			b.Cluster = value
		case keyUID:
			b.UID = value
		case keyAgent:
			b.Agent = value
		case keySequence:
			b.Sequence, err = strconv.ParseUint(value, 10, 64)
		case keySession:
			b.Session = value
		}
	}
	for _, word := range []string{b.Cluster, b.UID, b.Agent} {
		if !isWord(word) {
			return Beat{}, errMalformed
		}
	}
	if err != nil || b.Session != "" && !isWord(b.Session) || b.Text() != text {
		return Beat{}, errMalformed
	}
	return b, nil
}

// isWord reports a text that can be shown to anybody, on a line.
func isWord(text string) bool {
	const longest = 253
	isOdd := func(r rune) bool { return !unicode.IsPrint(r) || unicode.IsSpace(r) }
	return text != "" && len(text) <= longest && utf8.ValidString(text) && !strings.ContainsFunc(text, isOdd)
}

// Seal returns the beat with a signature.
func (b *Beat) Seal(key signing.Key) ([]byte, error) {
	text := []byte(b.Text())
	signature, err := key.Sign(namespace, text)
	if err != nil {
		return nil, err
	}
	return append(append(text, '\n'), signature...), nil
}

// Open reads a sealed beat that was signed by a key.
func Open(sealed []byte, by signing.Public) (Beat, error) {
	if len(sealed) > MaxSize {
		return Beat{}, fmt.Errorf("%w: it has %d bytes, and may have %d", errMalformed, len(sealed), MaxSize)
	}
	i := bytes.LastIndex(sealed, []byte("\n\n"))
	if i < 0 {
		return Beat{}, errMalformed
	}
	text, signature := sealed[:i+1], sealed[i+2:]
	if err := by.Verify(namespace, text, signature); err != nil {
		return Beat{}, err
	}
	return Parse(string(text))
}
