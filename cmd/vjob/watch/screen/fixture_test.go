package screen_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"vjob/api/wire"
	"vjob/cmd/vjob/cli"
	"vjob/cmd/vjob/watch/screen"
)

func TestMain(m *testing.M) {
	time.Local = time.UTC
	os.Exit(m.Run())
}

// noon is the present of the tests.
var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func ago(d time.Duration) time.Time { return noon.Add(-d) }

// start returns a view at noon that has heard of the daemon.
func start(page screen.Kind, width, height int) *screen.State {
	s := screen.New(screen.Settings{Page: page, CheckFilter: func(text string) error {
		_, err := cli.ParseFilter(text)
		return err
	}}, noon)
	s.Resize(width, height)
	s.Take(screen.Answer{Query: screen.Query{Kind: screen.Pulse}, Value: screen.PulseShown{
		Health: wire.Health{Ready: true, Reason: "ready"}, Plan: new(plan()), Alarms: new(2),
	}})
	s.Hear(events())
	return s
}

// press presses keys by their names; other words are typed.
func press(s *screen.State, keys ...string) {
	for _, key := range keys {
		text := ""
		if len([]rune(key)) == 1 {
			text = key
		}
		s.Press(key, text)
		answer(s)
	}
}

// answer answers the query of the view, as a daemon would.
func answer(s *screen.State) {
	q := s.Query()
	if v := value(q); v != nil {
		s.Take(screen.Answer{Query: q, Value: v})
	}
}

// value is the answer of the cluster of the tests.
func value(q screen.Query) any {
	switch q.Kind {
	case screen.Nodes:
		return wire.NodeList{Nodes: nodes()}
	case screen.VJobs:
		list := jobs()
		if q.ID != 0 {
			list = list[:1]
		}
		return wire.VJobList{VJobs: list, Total: len(list)}
	case screen.Plans:
		done := wire.Plan{ID: 3, State: "done", Policy: "firstfit", Began: ago(10 * time.Minute), Ended: new(ago(8 * time.Minute)), CostMiB: 4096, MakespanSeconds: 100, TookSeconds: 120, Ratio: 1.2, ActionCount: 4}
		return wire.PlanList{Plans: []wire.Plan{plan(), done}}
	case screen.Alarms:
		return wire.AlarmList{Alarms: []wire.Alarm{
			{ID: 9, Kind: "node-silent", Object: "node n3", Node: "n3", Text: "node n3 does not answer", Next: "look at the console of n3; if it is dead, make sure that it is off, then: vjob nodes down n3 --fenced", Since: ago(5 * time.Minute), Count: 2},
			{ID: 7, Kind: "image-lost", Object: "vjob 13", VJob: 13, Text: "an image of vjob 13 is incomplete", Next: "vjob show 13", Since: ago(time.Hour), AckedBy: "ada", AckedAt: new(ago(time.Minute)), Comment: "disk ordered"},
		}}
	case screen.OneVJob:
		j := jobs()[0]
		j.ID = q.ID
		return screen.VJobShown{
			Detail: wire.VJobDetail{
				VJob: j, Phase: "saving", Generation: 1, CPUSeconds: 40000, CPUWantedSeconds: 50000, MemoryMiBSeconds: 9 << 30,
				VMs:    []wire.VM{{ID: fmt.Sprintf("%d.0", q.ID), Node: "n1", CPUMilli: 2000, MemoryMiB: 2048, Image: "debian"}, {ID: fmt.Sprintf("%d.1", q.ID), Ended: true, ExitStatus: "0:0", CPUMilli: 2000, MemoryMiB: 2048}},
				Events: events()[:1],
			},
			Submission: wire.Submission{Count: 2, Template: &wire.VMSpec{Command: []string{"./run", "--steps", "9"}}},
		}
	case screen.Output:
		return screen.OutputShown{VMs: 2, Text: "step 1\r\nstep 2\tdone\nПривет 世界\n"}
	case screen.OneNode:
		return screen.NodeShown{Node: wire.NodeDetail{Node: nodes()[0]}, VJobs: jobs()[:1]}
	case screen.OnePlan:
		return plan()
	default:
		return nil
	}
}

// jobs are some vjobs; one name tries to take over the terminal, one is wide, one is an array.
func jobs() []wire.VJob {
	return []wire.VJob{
		{ID: 12, Name: "climate", Owner: "ada", State: "suspending", Reason: "context switch 4: saves", VMCount: 9, CPUMilli: 18000, MemoryMiB: 18432, RanSeconds: 4521, WalltimeSeconds: 7200, Submitted: ago(90 * time.Minute)},
		{ID: 13, Name: "evil\x1b[2J\u202e", Owner: "bob", State: "running", Reason: "runs", VMCount: 2, CPUMilli: 1500, MemoryMiB: 1024, RanSeconds: 61, Priority: 10, Submitted: ago(3 * time.Minute)},
		{ID: 14, Name: "気候変動の模型計算", Owner: "ada", State: "waiting", Held: true, Reason: "needs 6 CPU more and 12 GiB of memory; third in line behind 12 climate (ada) and 15 storm (bob), which run until 14:10 at the latest", VMCount: 1, CPUMilli: 500, MemoryMiB: 512},
		{ID: 20, Name: "sweep[1]", Owner: "ada", State: "waiting", Array: 20, Index: 1, VMCount: 1, CPUMilli: 1000, MemoryMiB: 512, Members: &wire.Members{First: 1, Last: 100, States: map[string]int{"waiting": 37, "running": 60, "terminated": 3}}},
	}
}

func nodes() []wire.Node {
	return []wire.Node{
		{Name: "n1", State: "online", CPUMilli: 4000, MemoryMiB: 8192, UsedCPUMilli: 2500, DemandCPUMilli: 2500, UsedMemoryMiB: 4096, VMs: []string{"12.0", "12.1", "99.0"}, Labels: map[string]string{"rack": "r1"}, Power: &wire.NodePower{Watts: 141.5, MostWatts: 180}},
		{Name: "n2", State: "draining", CPUMilli: 4000, MemoryMiB: 8192, UsedCPUMilli: 6000, DemandCPUMilli: 6000, UsedMemoryMiB: 8192, VMs: []string{"12.2"}},
		{Name: "n3", State: "online", Silent: true, Problem: "n3: node unreachable", Since: ago(5 * time.Minute), CPUMilli: 4000, MemoryMiB: 8192, VMs: []string{}},
	}
}

func events() []wire.Event {
	return []wire.Event{
		{Seq: 40, At: ago(2 * time.Minute), Kind: "state", VJob: 13, State: "running", Text: "vjob 13 is running: runs"},
		{Seq: 41, At: ago(time.Minute), Kind: "alarm", Node: "n3", Text: "node n3 is silent"},
		{Seq: 42, At: ago(20 * time.Second), Kind: "plan", Plan: 4, Text: "context switch 4 begins: 4 actions on 2 vjobs"},
	}
}

// plan is under way; one of its actions is late.
func plan() wire.Plan {
	began := ago(20 * time.Second)
	return wire.Plan{
		ID: 4, State: "running", Policy: "firstfit", Began: began, CostMiB: 18432, MakespanSeconds: 50, ActionCount: 4,
		Gangs: []wire.Gang{{VJob: 12, Kind: "suspend", Why: "to make room for 15 storm (bob): 6 CPU short"}, {VJob: 13, Kind: "migrate"}},
		Actions: []wire.Action{
			{ID: 0, Kind: "suspend", VM: "12.0", From: "n1", EndSec: 50, CostMiB: 2048, State: "running", Began: &began},
			{ID: 1, Kind: "migrate", VM: "13.1", From: "n2", To: "n1", Live: true, EndSec: 12, State: "running", Began: &began},
			{ID: 2, Kind: "suspend", VM: "12.1", From: "n1", EndSec: 10, State: "done", Began: &began, Ended: new(ago(8 * time.Second))},
			{ID: 3, Kind: "boot", VM: "15.0", To: "n1", After: []int{0, 2}, StartSec: 50, EndSec: 56, State: "planned"},
		},
	}
}
