package notify

import (
	"fmt"
	"strings"
	"time"
	"unicode"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
)

// Tag is the kind of an event, in OAR's terms.
type Tag string

// The tags.
const (
	Running   Tag = "RUNNING"   // it runs, for the first time or again
	End       Tag = "END"       // it has ended
	Error     Tag = "ERROR"     // it has failed
	Info      Tag = "INFO"      // it waits again
	Suspended Tag = "SUSPENDED" // it is suspended
	Resuming  Tag = "RESUMING"  // it is being resumed
)

// Tags returns all tags.
func Tags() []Tag { return []Tag{Running, End, Error, Info, Suspended, Resuming} }

// TagOf returns the tag of an event; ok is false for an event without notifications.
func TagOf(e *journal.Event) (t Tag, ok bool) {
	if e.Kind != journal.EventState || e.VJob == 0 {
		return "", false
	}
	t, ok = map[string]Tag{
		cluster.Running.String(): Running, cluster.Terminated.String(): End, cluster.Failed.String(): Error,
		cluster.Waiting.String(): Info, cluster.Suspended.String(): Suspended, cluster.Paused.String(): Suspended,
		cluster.Resuming.String(): Resuming,
	}[e.State]
	return t, ok
}

// Message is one notification.
type Message struct {
	Seq   int64          `json:"event"` // of the event; a repeated message has the same
	Tag   Tag            `json:"tag"`
	VJob  cluster.VJobID `json:"vjob"`
	Name  string         `json:"name"`
	Owner string         `json:"owner"`
	Text  string         `json:"text"`
	At    time.Time      `json:"at"`
	Host  string         `json:"host"` // of the daemon
	OAR   bool           `json:"-"`    // submitted as a job of OAR

	bundled []Message // the bundled messages; see [bundle]
}

// Bounds of a message. They bound the memory of the delivery queues.
const (
	maxText    = 1024 // bytes of its text, and of its name
	maxBundled = 100  // messages that a bundle lists
)

// About returns a message with the data of a vjob, without an event.
func About(j *cluster.VJob, host string) Message {
	m := Message{VJob: j.ID, Name: j.Name, Owner: j.Owner, Host: host}
	for label, value := range j.Labels {
		if strings.HasPrefix(label, "oar.") {
			m.OAR = true
		}
		if label == "oar.name" {
			m.Name = clip(value)
		}
	}
	return m
}

// Of returns the message of an event.
func (m Message) Of(e *journal.Event, t Tag) Message {
	m.Seq, m.Tag, m.Text, m.At = e.Seq, t, clip(e.TextFor(m.Owner)), e.At.UTC()
	return m
}

// clip truncates a text of a user to maxText bytes.
func clip(text string) string {
	if len(text) > maxText {
		text = strings.ToValidUTF8(text[:maxText], "") + "…"
	}
	return text
}

// bundle combines several messages to one address, oldest first.
func bundle(list []Message) Message {
	last := &list[len(list)-1]
	return Message{Seq: last.Seq, Owner: last.Owner, At: last.At, Host: last.Host, OAR: last.OAR, bundled: list}
}

// Subject returns the subject of a mail, one line of printable text. Jobs of OAR have OAR's
// subject, which filters of users match. A checked name is the only text of a user in it, so
// that it cannot mislead.
func (m *Message) Subject() string {
	from := "vjob"
	if m.OAR {
		from = "OAR"
	}
	if len(m.bundled) > 0 {
		return singleLine(fmt.Sprintf("*%s* %d notifications on %s", from, len(m.bundled), m.Host))
	}
	name := ""
	if cluster.IsName(m.Name) {
		name = " (" + m.Name + ")"
	}
	return singleLine(fmt.Sprintf("*%s* [%s]: %d%s on %s", from, m.Tag, m.VJob, name, m.Host))
}

// Body returns the text of a mail.
func (m *Message) Body() string {
	if len(m.bundled) > 0 {
		return bundleBody(m.bundled)
	}
	return singleLine(m.Text) + "\n\n" + fmt.Sprintf("vjob:  %d %s\nowner: %s\nat:    %s\n", m.VJob, singleLine(m.Name), singleLine(m.Owner), m.At.Format(time.RFC3339))
}

// bundleBody returns the text of a mail for several messages.
func bundleBody(list []Message) string {
	var b strings.Builder
	b.WriteString("More notifications came than are sent one by one:\n\n")
	for i := range list[:min(len(list), maxBundled)] {
		m := &list[i]
		fmt.Fprintf(&b, "%s  [%s] %s\n", m.At.Format(time.RFC3339), m.Tag, singleLine(m.Text))
	}
	if rest := len(list) - maxBundled; rest > 0 {
		fmt.Fprintf(&b, "and %d more: vjob list shows all vjobs\n", rest)
	}
	return b.String()
}

// singleLine replaces characters that are not printable by spaces: line ends, terminal controls,
// and characters that hide or turn text.
func singleLine(text string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, text)
}
