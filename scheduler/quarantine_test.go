package scheduler_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/ctxswitch/journal"
	"vjob/queue"
	"vjob/scheduler"
)

// mines are vjobs with which no decision can be taken, and where it fails.
type mines map[cluster.VJobID]string

var fuses = []string{"policy", "room", "planner panics", "planner fails"}

// minedPolicy steps on the mines that lie in policies and rooms.
type minedPolicy struct {
	queue.Policy
	mines mines
}

func (p minedPolicy) Select(m *queue.Input) []queue.Verdict {
	for _, j := range m.Jobs {
		if p.mines[j.ID] == "policy" {
			panic("a mine in the policy")
		}
	}
	mined := *m
	mined.Capacity = func() queue.Capacity { return minedRoom{m.Capacity(), p.mines} }
	return p.Policy.Select(&mined)
}

type minedRoom struct {
	queue.Capacity
	mines mines
}

func (r minedRoom) Take(id cluster.VJobID) (bool, queue.Shortage) {
	if r.mines[id] == "room" {
		panic("a mine in the room")
	}
	return r.Capacity.Take(id)
}

type minedPlanner struct {
	ctxswitch.Planner
	mines mines
}

var errMine = errors.New("a mine in the planner")

func (p minedPlanner) Plan(problem ctxswitch.Problem) (ctxswitch.Plan, error) {
	for _, g := range problem.Gangs {
		switch p.mines[g.VJob] {
		case "planner panics":
			panic(errMine)
		case "planner fails":
			return ctxswitch.Plan{}, errMine
		}
	}
	return p.Planner.Plan(problem)
}

// begun are the vjobs that the plans so far boot, in order.
func (r *rig) begun() (ids []cluster.VJobID) {
	for _, p := range r.plans {
		for _, g := range p.Plan.Gangs {
			if g.Kind == cluster.Boot {
				ids = append(ids, g.VJob)
			}
		}
	}
	slices.Sort(ids)
	return ids
}

func mined(m mines) scheduler.Settings {
	set := settings()
	set.Policy, set.Planner = minedPolicy{set.Policy, m}, minedPlanner{set.Planner, m}
	return set
}

// Whichever vjobs are broken, and wherever that shows, the others start as if the broken
// ones were not there; an alarm names each of those, and once mended it starts as well.
func TestBrokenVJobsAreSetAside(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 7))
	for range 60 {
		const nodes = 8
		waiting := 1 + rng.IntN(12) // for so many there is room: the planner hears of all
		l := state(nodes, waiting)
		m := mines{}
		for range 1 + rng.IntN(4) {
			m[l.VJobs[rng.IntN(len(l.VJobs))].ID] = fuses[rng.IntN(len(fuses))]
		}
		sound := l
		sound.VJobs = slices.DeleteFunc(slices.Clone(l.VJobs), func(j *cluster.VJob) bool {
			return m[j.ID] != "" && j.State == cluster.Waiting
		})
		want := mount(t, settings(), sound)
		want.drain()

		r := mount(t, mined(m), l)
		r.drain()
		name := fmt.Sprintf("%d wait, %v", waiting, m)
		if !slices.Equal(r.begun(), want.begun()) {
			t.Fatalf("%s: %v start, without the broken ones %v do", name, r.begun(), want.begun())
		}
		for id := range m {
			if reason := r.core.Snapshot().VJob(id).Reason; !strings.Contains(reason, "it is set aside: ") || !strings.Contains(reason, "a mine in the ") {
				t.Errorf("%s: of %s it says %q", name, id, reason)
			}
			if alarms := r.alarms(id); len(alarms) != 1 {
				t.Errorf("%s: alarms about %s: %q", name, id, alarms)
			}
		}
		clear(m)
		r.at(time.Second)
		if left := nodes*3 - 2*waiting; left >= 0 && len(r.begun()) != waiting {
			t.Errorf("%s: once mended, %v of %d start", name, r.begun(), waiting)
		}
	}
}

// A vjob that stays broken is tried again after pauses that grow, and one alarm each.
func TestExileGrows(t *testing.T) {
	r := mount(t, mined(mines{2: "room"}), state(4, 1))
	r.drain()
	for second := 1; second <= 40; second++ {
		r.at(time.Duration(second) * time.Second)
	}
	alarms := r.alarms(2)
	if len(alarms) != 6 || !strings.Contains(alarms[0], "set aside for 1s") || !strings.Contains(alarms[5], "set aside for 32s") {
		t.Errorf("alarms in 40 seconds: %q", alarms)
	}
	if !strings.Contains(alarms[0], "minedRoom.Take") {
		t.Errorf("it does not say where: %q", alarms[0])
	}
}

// When no decision can be taken at all, what is under way goes on, an alarm is raised,
// and it is tried again.
func TestNoDecisionAtAll(t *testing.T) {
	set, broken := settings(), true
	set.Policy = failing{set.Policy, &broken}
	r := mount(t, set, state(4, 1))
	r.drain()
	for range 3 {
		r.core.Hint(r.now, "n0000")
		r.drain()
	}
	if alarms := r.alarms(0); len(alarms) != 1 || !strings.Contains(alarms[0], "no decision can be taken") {
		t.Errorf("alarms: %q", alarms)
	}
	broken = false
	r.at(time.Second)
	if got := r.begun(); len(got) != 1 {
		t.Errorf("after it was mended %v start", got)
	}
}

type failing struct {
	queue.Policy
	broken *bool
}

func (f failing) Select(m *queue.Input) []queue.Verdict {
	if *f.broken {
		panic("no decision is possible")
	}
	return f.Policy.Select(m)
}

// alarms are the texts of those about a vjob; 0: about none.
func (r *rig) alarms(id cluster.VJobID) (texts []string) {
	for _, e := range r.events {
		if e.Kind == journal.EventAlarm && e.VJob == id {
			texts = append(texts, e.Text)
		}
	}
	return texts
}
