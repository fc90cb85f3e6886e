package db

import (
	"strings"
	"testing"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
)

// log makes events of texts such as "3 submitted" or "3 running", numbered from first.
func log(first int64, words ...string) []journal.Event {
	list := make([]journal.Event, len(words))
	for i, w := range words {
		id, state, _ := strings.Cut(w, " ")
		list[i] = journal.Event{Seq: first + int64(i), Kind: journal.EventState, VJob: cluster.VJobID(id[0] - '0'), State: state}
		if state == "submitted" {
			list[i].Kind, list[i].State = journal.EventSubmitted, cluster.Waiting.String()
		}
	}
	return list
}

// A log may lack what was pruned, and nothing else.
func TestPrunedLog(t *testing.T) {
	type states = map[cluster.VJobID]cluster.State
	none, some := prunedHistory{}, prunedHistory{Events: 9, VJobs: 2}
	for _, c := range []struct {
		name   string
		pruned prunedHistory
		log    []journal.Event
		table  states
		want   string
	}{
		{"whole", none, log(1, "1 submitted", "1 booting"), states{1: cluster.Booting}, ""},
		{"no submission", none, log(1, "1 booting"), states{1: cluster.Booting}, "never submitted"},
		{"not an edge", none, log(1, "1 submitted", "1 running"), states{1: cluster.Running}, "waiting cannot become running"},
		{"one vjob more than logged", none, log(1, "1 submitted"), states{1: cluster.Waiting, 2: cluster.Failed}, "vjob 2: not in the log"},
		{"one vjob less than logged", none, log(1, "1 submitted", "1 failed"), nil, "present: false"},

		{"a submission was deleted", some, log(10, "3 stopping", "3 terminated"), states{3: cluster.Terminated}, ""},
		{"the submission of a live vjob is missing", some, log(10, "3 running"), states{3: cluster.Running}, "its oldest events are missing"},
		{"not an edge in the rest", some, log(10, "3 booting", "3 suspended"), states{3: cluster.Suspended}, "booting cannot become suspended"},
		{"a submission that was not deleted is missing", some, log(10, "3 submitted", "4 failed"), states{3: cluster.Waiting, 4: cluster.Failed}, "vjob 4 was never submitted"},
		{"all events of an ended vjob", some, log(10, "3 submitted"), states{1: cluster.Failed, 3: cluster.Waiting}, ""},
		{"all events of a live vjob", some, log(10, "3 submitted"), states{1: cluster.Running, 3: cluster.Waiting}, "vjob 1: not in the log"},
		{"all events of a later vjob", some, log(10, "3 submitted"), states{3: cluster.Waiting, 4: cluster.Failed}, "vjob 4: not in the log"},
		{"an ended vjob was deleted", some, log(10, "2 stopping", "2 terminated"), nil, ""},
		{"a live vjob is missing", some, log(8, "2 submitted"), nil, "present: false"},
		{"an ended vjob that was not deleted is missing", some, log(10, "3 submitted", "3 failed"), nil, "present: false"},
		{"a live vjob is kept whole", some, log(1, "1 submitted"), states{1: cluster.Waiting}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newLogReplay(c.pruned)
			var err error
			for _, e := range c.log {
				if err == nil {
					err = r.Add(e)
				}
			}
			if err == nil {
				err = r.Compare(c.table)
			}
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}
