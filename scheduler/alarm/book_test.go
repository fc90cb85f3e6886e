package alarm_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
	"vjob/scheduler/alarm"
)

var start = time.Date(2026, 11, 24, 8, 0, 0, 0, time.UTC)

func at(minutes int) time.Time { return start.Add(time.Duration(minutes) * time.Minute) }

func silent(node cluster.NodeID) journal.Condition {
	return journal.Condition{Kind: journal.AlarmNodeSilent, Node: node, Text: "node " + string(node) + " does not answer"}
}

// update returns the nodes and states of the events of an update, and the alarms that it writes.
func update(b *alarm.Book, minute int, present ...journal.Condition) (events string, written []journal.Alarm) {
	var out journal.Step
	b.Update(at(minute), present, &out)
	var list []string
	for _, e := range out.Events {
		list = append(list, string(e.Node)+":"+e.State)
	}
	return strings.Join(list, " "), out.Alarms
}

// An alarm lasts from when its condition is first seen until it is not seen any more, and writes nothing in between.
func TestAnAlarmLastsAsLongAsItsCause(t *testing.T) {
	b := alarm.NewBook(5, nil, start)
	if events, written := update(b, 0, silent("a"), silent("b")); events != "" || len(written) != 2 || written[0].ID != 5 || written[1].ID != 6 {
		t.Errorf("raised: %q %+v", events, written)
	}
	if events, written := update(b, 1, silent("a"), silent("b")); events != "" || written != nil {
		t.Errorf("unchanged: %q %+v", events, written)
	}
	changed := silent("b")
	changed.Text = "another reason"
	if events, written := update(b, 2, silent("a"), changed); events != "" || len(written) != 1 || written[0].Text != "another reason" || !written[0].Since.Equal(at(0)) {
		t.Errorf("changed: %q %+v", events, written)
	}
	if events, written := update(b, 3, changed); events != "a:ended" || len(written) != 1 || !written[0].Ended.Equal(at(3)) {
		t.Errorf("ended: %q %+v", events, written)
	}
	if open := b.Open(); len(open) != 1 || open[0].Node != "b" {
		t.Errorf("open: %+v", open)
	}
}

// What comes back within an hour is the same alarm, raised once more, and no longer acknowledged.
func TestAnAlarmThatComesBack(t *testing.T) {
	b := alarm.NewBook(0, nil, start)
	update(b, 0, silent("a"))
	var out journal.Step
	if err := b.Acknowledge(at(1), 1, "root", "on it", &out); err != nil || len(out.Alarms) != 1 || out.Events[0].State != alarm.StateAcknowledged {
		t.Fatalf("%v %+v", err, out)
	}
	if a := b.Open()[0]; a.AckedBy != "root" || a.Comment != "on it" || !a.AckedAt.Equal(at(1)) {
		t.Errorf("acknowledged: %+v", a)
	}
	update(b, 5)
	if _, written := update(b, 50, silent("a")); len(written) != 1 || written[0].ID != 1 || written[0].Count != 2 || written[0].AckedBy != "" || !written[0].Since.Equal(at(50)) {
		t.Errorf("again: %+v", written)
	}
	update(b, 51)
	update(b, 120)
	if _, written := update(b, 200, silent("a")); len(written) != 1 || written[0].ID != 2 || written[0].Count != 1 {
		t.Errorf("much later: %+v", written)
	}
}

// A start continues: the acknowledgement stays, also if the condition is seen a little later; what does not come back ends.
func TestAStartKeepsAlarms(t *testing.T) {
	loaded := []journal.Alarm{
		{ID: 3, Condition: silent("a"), Since: at(-60), Count: 1, AckedBy: "root"},
		{ID: 4, Condition: silent("b"), Since: at(-60), Count: 1},
		{ID: 7, Condition: silent("c"), Since: at(-60), Ended: at(-10), Count: 4},
	}
	b := alarm.NewBook(8, loaded, start)
	if events, written := update(b, 0); events != "" || written != nil {
		t.Errorf("at the start: %q %+v", events, written)
	}
	if events, written := update(b, 1, silent("a")); events != "" || written != nil || b.Open()[0].AckedBy != "root" {
		t.Errorf("seen again: %q %+v", events, written)
	}
	if events, _ := update(b, 3, silent("a"), silent("c")); events != "b:ended" {
		t.Errorf("later: %q", events)
	}
	if open := b.Open(); len(open) != 2 || open[1].ID != 7 || open[1].Count != 5 {
		t.Errorf("open: %+v", open)
	}
}

// An alarm that is raised after the start ends at once with its cause.
func TestANewAlarmEndsDuringTheStart(t *testing.T) {
	b := alarm.NewBook(1, nil, start)
	update(b, 0, silent("a"))
	if events, _ := update(b, 1); events != "a:ended" {
		t.Errorf("events %q", events)
	}
	var out journal.Step
	if err := b.Acknowledge(at(1), 1, "root", "", &out); !errors.Is(err, cluster.ErrNotFound) || len(out.Alarms) != 0 {
		t.Errorf("an ended one is acknowledged: %v", err)
	}
}

// Each kind says what to do next.
func TestEveryKindHasANextStep(t *testing.T) {
	for _, kind := range journal.AlarmKinds {
		c := journal.Condition{Kind: kind, VJob: 7, Node: "n3"}
		if next := c.Next(); next == "" || strings.Contains(next, "%!") {
			t.Errorf("%s: %q", kind, next)
		}
	}
}
