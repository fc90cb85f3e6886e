package oar_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"vjob/oar/rest"
	"vjob/settings"
)

// scheduleCase is a schedule that OAR 2 made.
type scheduleCase struct {
	ID          string `json:"id"`
	Submissions []struct {
		Args []string `json:"args"`
	} `json:"submissions"`
	Result []struct {
		Jobs []struct {
			Job   int    `json:"job"`
			State string `json:"state"`
			Start *int64 `json:"start"`
			Nodes string `json:"nodes"`
		} `json:"jobs"`
	} `json:"result"`
}

// unscheduled are the schedules of OAR 2 that are not held against ours, with the reason.
var unscheduled = map[string]string{
	"s07": "differs: a dependency on a job that there is not is refused",
	"s13": "differs: a best-effort job starts at once, and is ended for the other; OAR looked at both together",
	"s14": "waits: a submission of it is not written down; tests of scheduler end best-effort vjobs for others",
	"s16": "waits: needs a node that is absent from the start",
	"s19": "differs: timesharing has no effect",
	"s20": "differs: postpone and expire are not offered",
	"s23": "judged by TestStateLog: the room of a suspended job is used",
}

// gap is what OAR leaves between the end of a job and the start of the next: a minute
// and a second. We leave none.
const gap = 61

// patience is how many seconds a slow machine may take for a case. Schedules that differ
// do so by an hour.
const patience = 600

// Jobs start in OAR's order, and at its times but for the gaps.
func TestSchedules(t *testing.T) {
	for _, c := range load(t).Scheduled {
		if _, why := unscheduled[c.ID]; why {
			continue
		}
		t.Run(c.ID, func(t *testing.T) {
			t.Parallel()
			x := open(t, fourNodes)
			var ids []string
			for _, s := range c.Submissions {
				words := slices.Clone(s.Args)
				words[len(words)-1] = "sleep 100000000" // they run for longer than the test
				ids = append(ids, x.sub("alice", words...))
			}
			for _, want := range c.Result[0].Jobs {
				x.starts(ids[want.Job-1], want.State, want.Start, len(strings.Split(want.Nodes, "+")))
			}
		})
	}
}

// fourNodes is the platform of the schedules.
func fourNodes(s *settings.Settings) {
	s.Nodes = nil
	for i := range 4 {
		s.Nodes = append(s.Nodes, settings.Node{
			Name: fmt.Sprintf("n%02d", i+1), CPU: settings.CPU{MilliCPU: 2000}, Memory: settings.Size{MiB: 8192},
			Labels: map[string]string{"cluster": string("AB"[i/2]), "switch": fmt.Sprintf("sw%d", i/2+1), "mem": fmt.Sprint(32 + 32*(i%2))},
		})
	}
}

// starts waits until a job is shown to start as it should.
func (x *site) starts(id, state string, start *int64, nodes int) {
	x.tb.Helper()
	deadline := time.Now().Add(3 * time.Minute)
	for {
		var shown map[string]rest.Job
		r := x.run("alice", "oarstat", "-J", "--format", "3", "-j", id)
		if err := json.Unmarshal([]byte(r.out), &shown); err != nil {
			x.tb.Fatal(err, r)
		}
		j := shown[id]
		in := j.Scheduled - time.Now().Unix()
		switch {
		case state == "toLaunch" && j.State == "Running" && len(j.Nodes) == nodes,
			state == "Hold" && j.State == "Hold",
			state == "Waiting" && j.State == "Waiting" && start != nil && in <= *start && in >= *start-(*start/3600+1)*gap-patience:
			return
		case time.Now().After(deadline):
			wanted := "at some time"
			if start != nil {
				wanted = fmt.Sprintf("in %d s", *start)
			}
			x.tb.Errorf("job %s is %s on %v and starts in %d s; OAR: %s %s on %d nodes", id, j.State, j.Nodes, in, state, wanted, nodes)
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}
