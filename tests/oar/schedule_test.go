package oar_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/oar"
	"vjob/scheduler"
)

// scheduleCase is a schedule of OAR 2.
type scheduleCase struct {
	ID          string `json:"id"`
	Submissions []struct {
		User string   `json:"user"`
		Args []string `json:"args"`
	} `json:"submissions"`
	Result []struct {
		Jobs []scheduled `json:"jobs"`
	} `json:"result"`
}

// scheduled is the state of a job after a pass of OAR.
type scheduled struct {
	Job      int    `json:"job"`
	State    string `json:"state"`
	Start    *int64 `json:"start"`
	Nodes    string `json:"nodes"`
	Walltime int64  `json:"walltime"`
	Message  string `json:"message"`
}

// skippedSchedules are the schedules of OAR 2 that are not compared, with the reason.
var skippedSchedules = map[string]string{
	"s07": "differs: a dependency on an unknown job is refused",
	"s14": "judged by TestBestEffort",
	"s20": "judged by TestWindows; what cannot end by its deadline ends in Error, where OAR lets it wait for ever",
	"s23": "judged by TestStateLog: the room of a suspended job is used",
}

// The gaps that OAR leaves between the end of a job and the start of the next: the setting of the site
// and a second. One case has another gap.
const usualGap = 61 * time.Second

var gaps = map[string]time.Duration{"s22": 2 * time.Second}

// before has the preparations of a case.
var before = map[string]func(*simulation){
	"s15": func(p *simulation) { p.set("n04", cluster.Draining) },
	"s16": func(p *simulation) { p.set("n04", cluster.Draining) },
}

// Jobs start in OAR's order, with its sizes, at its times to the second.
func TestSchedules(t *testing.T) {
	for _, c := range load(t).Scheduled {
		if _, why := skippedSchedules[c.ID]; why {
			continue
		}
		t.Run(c.ID, func(t *testing.T) {
			gap := usualGap
			if own, ok := gaps[c.ID]; ok {
				gap = own
			}
			p := newSimulation(t, fourNodes(), gap)
			if prepare, ok := before[c.ID]; ok {
				prepare(p)
			}
			var ids []cluster.VJobID
			for _, s := range c.Submissions {
				ids = append(ids, p.mustSubmit(s.User, s.Args...))
			}
			p.run(2 * pause) // a pass without a boot
			for _, want := range c.Result[0].Jobs {
				p.checkSchedule(ids[want.Job-1], &want)
			}
		})
	}
}

// checkSchedule compares the state of a job.
func (p *simulation) checkSchedule(id cluster.VJobID, want *scheduled) {
	p.t.Helper()
	got, starts := p.schedule(id), int64(-1)
	kept := p.store.job(id)
	if want.Start != nil && (!kept.BestEffort || *want.Start == 0) { // best-effort jobs have no forecast
		starts = *want.Start
	}
	launched := got.State == oar.StateToLaunch || got.State == oar.StateLaunching
	nodes := 0
	if launched && want.Nodes != "" {
		nodes = len(strings.Split(want.Nodes, "+"))
	}
	if launched != (want.State == "toLaunch") || !launched && string(got.State) != want.State || got.Start != starts || len(got.Nodes) != nodes {
		p.t.Errorf("job %d: %s, want %s from %d s on %s", id, got, want.State, starts, want.Nodes)
	}
	if !launched {
		return
	}
	record, _ := oar.RecordOf(kept.Labels)
	size := fmt.Sprintf("R=%d,W=%s,", kept.Reserved().CPU*cluster.MilliCPU(oar.Sharers(record.Types))/cluster.CPU, oar.FormatWalltime(kept.Walltime))
	if !strings.HasPrefix(want.Message, size) {
		p.t.Errorf("job %d: %s, want %s", id, size, want.Message)
	}
}

// With a node absent, ALL waits for it, and BEST takes the present ones.
func TestAbsent(t *testing.T) {
	p := newSimulation(t, fourNodes(), usualGap)
	p.set("n04", cluster.Draining)
	p.run(time.Minute)
	best := p.mustSubmit("u1", "-l", "nodes=BEST,walltime=1", "sleep 3000")
	all := p.mustSubmit("u1", "-l", "nodes=ALL,walltime=1", "sleep 3000")
	p.run(time.Minute)
	if a, b := p.schedule(best), p.schedule(all); a.State != oar.StateRunning || len(a.Nodes) != 3 || b.State != oar.StateWaiting || b.Start != -1 {
		t.Errorf("BEST: %s; ALL: %s", a, b)
	}
}

// fourNodes is the platform of the schedules.
func fourNodes() []cluster.Node {
	nodes := equalNodes(4, 2)
	for i := range nodes {
		nodes[i].Labels = map[string]string{"cluster": string("AB"[i/2]), "switch": fmt.Sprintf("sw%d", i/2+1), "mem": fmt.Sprint(32 + 32*(i%2))}
	}
	return nodes
}

// A running best-effort job ends when a job of another queue needs its nodes, and not before.
func TestBestEffort(t *testing.T) {
	p := newSimulation(t, fourNodes(), usualGap)
	first := p.mustSubmit("u1", "-t", "besteffort", "-l", "nodes=2,walltime=1", "sleep 3000")
	p.run(time.Minute)
	beside := p.mustSubmit("u2", "-l", "nodes=2,walltime=1", "sleep 3000")
	p.run(time.Minute)
	if a, b := p.schedule(first), p.schedule(beside); a.State != oar.StateRunning || b.State != oar.StateRunning {
		t.Fatalf("both have room: %s, %s", a, b)
	}
	if err := p.shell.Order(beside, scheduler.OrderDelete, "u2"); err != nil {
		t.Fatal(err)
	}
	p.run(time.Minute)
	second := p.mustSubmit("u2", "-l", "nodes=3,walltime=1", "sleep 3000")
	p.run(10 * time.Minute)
	if a, b := p.schedule(first), p.schedule(second); a.State == oar.StateRunning || b.State != oar.StateRunning || len(b.Nodes) != 3 {
		t.Errorf("%s, %s", a, b)
	}
}
