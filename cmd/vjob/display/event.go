package display

import (
	"strconv"
	"strings"

	"vjob/api/wire"
)

// Event is an event in one line: its text, with what it is about in front unless
// the text says so.
func Event(e *wire.Event) string {
	subject := about(e)
	if strings.Contains(e.Text, subject) || e.Plan != 0 && strings.HasPrefix(e.Text, "context switch") {
		return e.Text
	}
	return subject + ": " + e.Text
}

// about is what an event is about.
func about(e *wire.Event) string {
	switch {
	case e.VM != "":
		return "VM " + e.VM
	case e.VJob != 0:
		return "vjob " + strconv.FormatInt(e.VJob, 10)
	case e.Plan != 0:
		return "plan " + strconv.FormatInt(e.Plan, 10)
	case e.Node != "":
		return "node " + e.Node
	}
	return "cluster"
}

// EventTable is events, a line each.
func EventTable(events []wire.Event) *Table {
	t := &Table{Heads: Heads(">EVENT TIME KIND ABOUT TEXT")}
	for i := range events {
		e := &events[i]
		t.Row(strconv.FormatInt(e.Seq, 10), Moment(&e.At), e.Kind, about(e), e.Text)
	}
	return t
}
