package oar_test

import (
	"strings"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/oar"
)

// Case s20 of OAR 2: a postponed job is forecast to start at its time, and does. A job that cannot end
// by its deadline, or that expired, never starts; in OAR the former waits for ever.
func TestWindows(t *testing.T) {
	p := newSimulation(t, fourNodes(), usualGap)
	later := p.began.Add(2 * time.Hour).In(time.Local).Format(time.DateTime)
	postponed := p.mustSubmit("u1", "-t", "postpone="+later, "-l", "nodes=1,walltime=1", "sleep 9")
	late := p.mustSubmit("u1", "-t", "deadline="+later, "-l", "nodes=1,walltime=3", "sleep 9")
	intime := p.mustSubmit("u1", "-t", "deadline="+later, "-l", "nodes=1,walltime=1", "sleep 9")
	expired := p.mustSubmit("u1", "-t", "expire=2020-01-01", "-l", "nodes=1,walltime=1", "sleep 9")
	blocked := p.mustSubmit("u1", "-t", "expire="+later, "-l", "nodes=4,walltime=1", "--hold", "sleep 9")
	p.run(2 * pause)
	if got := p.schedule(postponed); got.State != oar.StateWaiting || got.Start != 7200 {
		t.Errorf("postponed: %s", got)
	}
	if got := p.schedule(intime); got.State != oar.StateToLaunch && got.State != oar.StateLaunching {
		t.Errorf("in time: %s", got)
	}
	p.checkFailed(late, "it will never run: it was to start by")
	p.checkFailed(expired, "it will never run: it was to start by 2020-01-01 00:00:00 UTC")
	p.run(2*time.Hour - time.Minute)
	if a, b := p.schedule(postponed), p.schedule(blocked); a.State != oar.StateWaiting || b.State != oar.StateHold {
		t.Errorf("before their time: postponed %s, blocked %s", a, b)
	}
	p.run(2 * time.Minute)
	if got := p.schedule(postponed); got.State != oar.StateRunning && got.State != oar.StateLaunching && got.State != oar.StateTerminated {
		t.Errorf("at its time: %s", got)
	}
	p.checkFailed(blocked, "it will never run: it was to start by")
}

// checkFailed checks that a job has failed, and why.
func (p *simulation) checkFailed(id cluster.VJobID, why string) {
	p.t.Helper()
	if j := p.store.job(id); j.State != cluster.Failed || !strings.HasPrefix(j.Cause.String(), why) {
		p.t.Errorf("job %s is %s: %s, want failed: %s…", id, j.State, j.Cause, why)
	}
}

// Inner jobs run in a container with a name; of several, in the first that lasts long enough (case k014
// of OAR 3). Names belong to a user.
func TestNamedContainers(t *testing.T) {
	x := open(t)
	r := x.run("alice", "oarsub", "-t", "inner=yop", "sleep 1")
	if r.code != 254 || !strings.Contains(r.err, "you have no container") {
		t.Errorf("%+v", r)
	}
	soon := func(d time.Duration) string { return time.Now().Add(d).Format(time.DateTime) }
	short := x.sub("alice", "-t", "container=yop", "-r", soon(time.Hour), "-l", "nodes=2,walltime=0:0:50")
	long := x.sub("alice", "-t", "container=yop", "-r", soon(2*time.Hour), "-l", "nodes=3,walltime=0:10")
	for line, want := range map[string]string{
		"-t|inner=yop|-l|nodes=1,walltime=0:0:40":  short,
		"-t|inner=yop|-l|nodes=1,walltime=0:0:100": long,
		"-t|inner=yop|-l|nodes=3,walltime=0:0:40":  long,
	} {
		id := x.sub("alice", append(strings.Split(line, "|"), "sleep 1")...)
		j, err := x.root.VJob(t.Context(), number(t, id))
		if err != nil || string(j.Terms.Inner) != want {
			t.Errorf("%s is inside %s (%v), want %s", line, j.Terms.Inner, err, want)
		}
	}
	for line, want := range map[string]string{
		"-t|inner=yop|-l|nodes=1,walltime=1":       "walltime",
		"-t|inner=yop|-l|nodes=4,walltime=0:0:100": "container",
		"-t|inner=nosuch":                          "no container of yours has this name; you have yop, yop",
	} {
		r := x.run("alice", "oarsub", append(strings.Split(line, "|"), "sleep 1")...)
		if r.code == 0 || !strings.Contains(r.err, want) {
			t.Errorf("%s: %+v", line, r)
		}
	}
	if r := x.run("bob", "oarsub", "-t", "inner=yop", "sleep 1"); r.code != 254 || !strings.Contains(r.err, "you have no container") {
		t.Errorf("bob: %+v", r)
	}
}

func number(t *testing.T, text string) (n int64) {
	t.Helper()
	id, err := cluster.ParseVJobID(text)
	if err != nil {
		t.Fatal(err)
	}
	return int64(id)
}

// Of several -l the forecast selects the one that ends first, with OAR's gap between jobs: all nodes
// for an hour, starting in an hour and 61 s, or half of them now for two hours and half a minute.
func TestShapeBesideAGap(t *testing.T) {
	for gap, want := range map[time.Duration]int{0: 0, usualGap: 2} {
		p := newSimulation(t, fourNodes(), gap)
		p.mustSubmit("u1", "-l", "nodes=2,walltime=1", "sleep 3600")
		p.run(time.Minute / 6)
		moldable := p.mustSubmit("u1", "-l", "nodes=4,walltime=1", "-l", "nodes=2,walltime=2:0:20", "sleep 3600")
		p.run(2 * pause)
		if got := p.schedule(moldable); len(got.Nodes) != want {
			t.Errorf("gap %s: %s, want %d nodes", gap, got, want)
		}
	}
}
