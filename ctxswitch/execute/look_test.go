package execute_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/ctxswitch/execute"
	"vjob/ctxswitch/gang"
	"vjob/ctxswitch/journal"
	"vjob/hypervisor"
)

// A look that tells nothing new costs the same however many vjobs there are.
func TestALookWithoutNewsCostsNothing(t *testing.T) {
	const vjobs = 3000
	l := world()
	for i := range vjobs {
		id := cluster.VJobID(i + 1)
		l.VJobs = append(l.VJobs, job(id, 1, cluster.Running))
		l.Gangs = append(l.Gangs, at(id, gang.Active, []cluster.NodeID{"b", "b", "a"}[min(i, 2)]))
	}
	d := newHarness(t, settings(), l)
	d.settle()
	view := hypervisor.View{Node: "b", Copies: d.copies["b"]}
	allocs := testing.AllocsPerRun(100, func() {
		d.exec.Looked(d.now, "b", view, nil)
		d.exec.Flush()
	})
	if allocs > 8 {
		t.Errorf("%.0f allocations for a look at a node with %d of %d VMs", allocs, len(view.Copies), vjobs)
	}
}

// twins are two executors with the same events, except that each look of one of them reports
// one more foreign ending: so it takes every look for news.
type twins struct {
	t     *testing.T
	rng   *rand.Rand
	now   time.Time
	lazy  *execute.Executor
	eager *execute.Executor
	there map[cluster.NodeID]map[cluster.VMID]hypervisor.Copy
	open  []hypervisor.Call
	looks []cluster.NodeID
	told  int // the number of endings passed on
}

// both has both do something, and demands that the same comes of it.
func (w *twins) both(do func(e *execute.Executor)) {
	w.t.Helper()
	do(w.lazy)
	do(w.eager)
	one, other := w.lazy.Flush(), w.eager.Flush()
	if !reflect.DeepEqual(one, other) {
		w.t.Fatalf("after %s the one wants\n%+v\nthe other\n%+v", w.now.Sub(start), one, other)
	}
	for _, c := range one.Chains {
		w.open = append(w.open, c.Calls...)
	}
	w.looks = append(w.looks, one.Looks...)
	if one.LookStore {
		w.both(func(e *execute.Executor) { e.LookedStore(w.now, hypervisor.Store{}, nil) })
	}
	if got, want := w.lazy.Walltimes.Next(), nextEnd(w.lazy, w.now); !got.Equal(want) {
		w.t.Fatalf("after %s the next walltime ends at %s, want %s", w.now.Sub(start), got, want)
	}
}

// nextEnd asks every vjob.
func nextEnd(e *execute.Executor, now time.Time) (next time.Time) {
	for _, r := range e.Jobs() {
		end := now.Add(r.Job.Walltime - r.Ran)
		if r.Short {
			end = end.Add(max(r.Job.Walltime, 10*time.Minute) - r.Crowded)
		}
		if r.Record.Phase == gang.Active && r.Job.Walltime > 0 && end.After(now) && (next.IsZero() || end.Before(next)) {
			next = end
		}
	}
	return next
}

// look answers a look that is wanted, in any order.
func (w *twins) look() {
	if len(w.looks) == 0 {
		return
	}
	i := w.rng.IntN(len(w.looks))
	id := w.looks[i]
	w.looks = append(w.looks[:i], w.looks[i+1:]...)
	if w.rng.IntN(20) == 0 {
		w.both(func(e *execute.Executor) { e.Looked(w.now, id, hypervisor.View{}, hypervisor.ErrUnreachable) })
		return
	}
	view := hypervisor.View{Node: id}
	for _, vm := range slices.SortedFunc(maps.Keys(w.there[id]), cluster.VMID.Compare) {
		view.Copies = append(view.Copies, w.there[id][vm])
	}
	w.both(func(e *execute.Executor) {
		if e == w.eager {
			w.told++
			view.Endings = []hypervisor.Ending{{VM: cluster.VMID{VJob: 999, Rank: w.told}}}
		}
		e.Looked(w.now, id, view, nil)
	})
}

// reply carries a call out, or not, and answers it.
func (w *twins) reply() {
	if len(w.open) == 0 {
		return
	}
	i := w.rng.IntN(len(w.open))
	call := w.open[i]
	w.open = append(w.open[:i], w.open[i+1:]...)
	r := execute.Reply{Op: call.Op, Began: w.now, Ended: w.now}
	switch {
	case w.rng.IntN(5) == 0:
		r.Err = hypervisor.ErrNoMemory
	case call.Verb == hypervisor.Boot:
		w.put(call.Node, hypervisor.Copy{VM: call.VM, Stamp: call.Stamp, State: hypervisor.CopyRunning, CPU: 1000, Lock: true})
	case call.Verb == hypervisor.Migrate:
		if c, ok := w.there[call.Node][call.VM]; ok {
			w.put(call.To, c)
			delete(w.there[call.Node], call.VM)
		}
	case call.Verb == hypervisor.Pause || call.Verb == hypervisor.Unpause:
		if c, ok := w.there[call.Node][call.VM]; ok {
			c.State = map[hypervisor.Verb]hypervisor.CopyState{
				hypervisor.Pause: hypervisor.CopyPaused, hypervisor.Unpause: hypervisor.CopyRunning,
			}[call.Verb]
			w.put(call.Node, c)
		}
	case call.Verb == hypervisor.Destroy || call.Verb == hypervisor.Shutdown:
		delete(w.there[call.Node], call.VM)
	}
	w.both(func(e *execute.Executor) { e.Replied(w.now, r) })
}

func (w *twins) put(node cluster.NodeID, c hypervisor.Copy) {
	if w.there[node] == nil {
		w.there[node] = map[cluster.VMID]hypervisor.Copy{}
	}
	w.there[node][c.VM] = c
}

// disturb does to a copy what happens without us.
func (w *twins) disturb() {
	node := anyNode(w.rng)
	vms := slices.SortedFunc(maps.Keys(w.there[node]), cluster.VMID.Compare)
	if len(vms) == 0 {
		return
	}
	c := w.there[node][vms[w.rng.IntN(len(vms))]]
	switch w.rng.IntN(4) {
	case 0:
		delete(w.there[node], c.VM)
		return
	case 1:
		c.CPU = cluster.MilliCPU(w.rng.IntN(4) * 1000)
	case 2:
		c.State = hypervisor.CopyPaused
	default:
		node = anyNode(w.rng)
	}
	w.put(node, c)
}

func anyNode(rng *rand.Rand) cluster.NodeID { return []cluster.NodeID{"a", "b", "c"}[rng.IntN(3)] }

// plan boots a vjob that waits, or migrates one that runs, wherever there may be room.
func (w *twins) plan(id journal.PlanID) {
	jobs := w.lazy.Jobs()
	if len(jobs) == 0 {
		return
	}
	r := jobs[w.rng.IntN(len(jobs))]
	if !r.Idle || r.Blind {
		return
	}
	kind := map[gang.Phase]cluster.ActionKind{gang.Absent: cluster.Boot, gang.Active: cluster.Migrate}[r.Record.Phase]
	plan := ctxswitch.Plan{Gangs: []ctxswitch.Gang{{VJob: r.Job.ID, Kind: kind}}}
	for rank, m := range r.Record.Members {
		to := anyNode(w.rng)
		if kind == cluster.Migrate && (m.Ended || to == m.Node) {
			continue
		}
		a := ctxswitch.ActionID(len(plan.Actions))
		plan.Actions = append(plan.Actions, ctxswitch.Action{
			ID: a, Kind: kind, VM: r.Job.VMs[rank].ID, From: m.Node, To: to, Live: kind == cluster.Migrate,
		})
		plan.Gangs[0].Actions = append(plan.Gangs[0].Actions, a)
	}
	if len(plan.Actions) > 0 {
		w.both(func(e *execute.Executor) { e.Adopt(w.now, id, "test", plan) })
	}
}

// Looks without news are skipped: a gang that would have acted then is woken by another event.
// And the next end of a walltime is always known.
func TestPassingOverALookChangesNothing(t *testing.T) {
	for seed := range uint64(100) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			w := &twins{t: t, rng: rand.New(rand.NewPCG(seed, 6)), now: start, there: map[cluster.NodeID]map[cluster.VMID]hypervisor.Copy{}}
			l := world()
			for id := range cluster.VJobID(6) {
				j := job(id+1, 1+w.rng.IntN(2), cluster.Waiting)
				j.Walltime = time.Duration(w.rng.IntN(4)) * time.Minute
				l.VJobs = append(l.VJobs, j)
			}
			w.lazy, w.eager = execute.New(settings(), l, start), execute.New(settings(), l, start)
			w.lazy.Needs, w.eager.Needs = observed, observed
			w.lazy.Expect, w.eager.Expect = seed%2 == 1, seed%2 == 1
			for turn := range 400 {
				w.turn(journal.PlanID(turn + 1))
			}
		})
	}
}

// observed counts the CPU that is seen.
func observed(job *cluster.VJob, rank int, cpu cluster.MilliCPU, seen bool) cluster.Resources {
	need := job.VMs[rank].Reserved
	if seen {
		need.CPU = cpu
	}
	return need
}

func (w *twins) turn(id journal.PlanID) {
	switch w.rng.IntN(12) {
	case 0, 1, 2, 3:
		w.look()
	case 4, 5, 6:
		w.reply()
	case 7:
		w.disturb()
	case 8:
		w.plan(id)
	case 9:
		if over := w.lazy.Walltimes.Overdue(); len(over) > 0 {
			w.both(func(e *execute.Executor) {
				_ = e.Clear(w.now, over[0], gang.ThenTerminate, cluster.Because("its walltime is over"))
			})
		}
	default:
		w.now = w.now.Add(time.Duration(w.rng.IntN(4000)) * time.Millisecond)
		w.both(func(e *execute.Executor) { e.Tick(w.now) })
	}
}
