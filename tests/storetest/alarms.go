package storetest

import (
	"testing"
	"time"

	"vjob/ctxswitch/journal"
)

// testAlarms: alarms come back as they are, and ended ones go with their horizon, unless a start needs them.
func testAlarms(t *testing.T, w *World) {
	w.load(t)
	at := func(minutes int) time.Time { return Start.Add(time.Duration(minutes) * time.Minute).UTC() }
	open := journal.Alarm{ID: 1, Condition: journal.Condition{Kind: journal.AlarmNodeSilent, Node: "n1", Text: "silent"}, Since: at(0), Count: 2}
	w.commit(t, journal.Step{Alarms: []journal.Alarm{open}})
	open.AckedBy, open.AckedAt, open.Comment = "root", at(1), "on it"
	late := journal.Alarm{ID: 2, Condition: journal.Condition{Kind: journal.AlarmLost, VJob: 7, Text: "lost"}, Since: at(1), Count: 1}
	w.commit(t, journal.Step{Alarms: []journal.Alarm{open, late}})
	late.Ended = at(2)
	w.commit(t, journal.Step{Alarms: []journal.Alarm{late}})
	w.reopen()
	l := w.load(t)
	same(t, "loaded", l.Alarms, []journal.Alarm{open, late})
	same(t, "the next number", l.NextAlarm, journal.AlarmID(3))
	same(t, "open", w.Alarms(journal.AlarmFilter{Open: true}), []journal.Alarm{open})
	same(t, "all, the newest first", w.Alarms(journal.AlarmFilter{}), []journal.Alarm{late, open})
	same(t, "of a kind", w.Alarms(journal.AlarmFilter{Kind: journal.AlarmLost, Limit: 1}), []journal.Alarm{late})
	same(t, "a page", w.Alarms(journal.AlarmFilter{Before: 2}), []journal.Alarm{open})

	var many []journal.Alarm
	for i := range 210 {
		a := late
		a.ID, a.Since, a.Ended = journal.AlarmID(3+i), at(3+i), at(3+i)
		many = append(many, a)
	}
	w.commit(t, journal.Step{Alarms: many})
	sum, _ := w.prune(t, journal.Horizon{Events: at(1000)})
	same(t, "pruned", sum.Alarms, 11)
	if left := w.Alarms(journal.AlarmFilter{}); len(left) != 201 || left[200].ID != 1 {
		t.Errorf("%d alarms are left", len(left))
	}
}
