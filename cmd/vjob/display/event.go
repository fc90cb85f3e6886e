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

// EventFields are the columns of events.
var EventFields = []Field[wire.Event]{
	{Head: ">EVENT", Cell: func(e *wire.Event) any { return e.Seq }},
	{Head: "TIME", Cell: func(e *wire.Event) any { return e.At }},
	{Head: "KIND", Cell: func(e *wire.Event) any { return e.Kind }},
	{Head: "ABOUT", Cell: func(e *wire.Event) any { return about(e) }},
	{Head: ">VJOB", Level: OnOrder, Cell: func(e *wire.Event) any { return Some(e.VJob) }},
	{Head: "VM", Level: OnOrder, Cell: func(e *wire.Event) any { return e.VM }},
	{Head: "NODE", Level: OnOrder, Cell: func(e *wire.Event) any { return e.Node }},
	{Head: ">PLAN", Level: OnOrder, Cell: func(e *wire.Event) any { return Some(e.Plan) }},
	{Head: "STATE", Level: OnOrder, Cell: func(e *wire.Event) any { return e.State }},
	{Head: "TEXT", Cell: func(e *wire.Event) any { return e.Text }},
}

// EventTable is events, a line each.
func EventTable(events []wire.Event) *Table { return TableOf(EventFields, events) }
