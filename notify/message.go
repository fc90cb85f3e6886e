package notify

import (
	"fmt"
	"strings"
	"time"

	"vjob/cluster"
	"vjob/journal"
)

// Tag is the kind of an event, in the words that OAR has for it.
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

// Tags are all tags.
func Tags() []Tag { return []Tag{Running, End, Error, Info, Suspended, Resuming} }

// TagOf is the tag of an event; ok is false for one of which nobody is told.
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

// Message is what somebody is told.
type Message struct {
	Seq   int64          `json:"event"` // of the event: the same message may come twice, and then has the same
	Tag   Tag            `json:"tag"`
	VJob  cluster.VJobID `json:"vjob"`
	Name  string         `json:"name"`
	Owner string         `json:"owner"`
	Text  string         `json:"text"`
	At    time.Time      `json:"at"`
	Host  string         `json:"host"` // of the daemon
	OAR   bool           `json:"-"`    // submitted as a job of OAR
}

// MessageOf is what is told of an event of a vjob.
func MessageOf(e *journal.Event, t Tag, j *cluster.VJob, host string) Message {
	m := Message{Seq: e.Seq, Tag: t, VJob: j.ID, Name: j.Name, Owner: j.Owner, Text: e.Text, At: e.At.UTC(), Host: host}
	for label, value := range j.Labels {
		if strings.HasPrefix(label, "oar.") {
			m.OAR = true
		}
		if label == "oar.name" {
			m.Name = value
		}
	}
	return m
}

// Subject is the subject of a mail, one line of printable text. For jobs of OAR it is
// the one that filters of its users know.
func (m *Message) Subject() string {
	from := "vjob"
	if m.OAR {
		from = "OAR"
	}
	return line(fmt.Sprintf("*%s* [%s]: %d (%s) on %s", from, m.Tag, m.VJob, m.Name, m.Host))
}

// Body is the text of a mail.
func (m *Message) Body() string {
	return line(m.Text) + "\n\n" + fmt.Sprintf("vjob:  %d %s\nowner: %s\nat:    %s\n", m.VJob, line(m.Name), line(m.Owner), m.At.Format(time.RFC3339))
}

// line is a text without anything that ends a line or that a terminal obeys.
func line(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 || r == 0x2028 || r == 0x2029 {
			return ' '
		}
		return r
	}, text)
}
