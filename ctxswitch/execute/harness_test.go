package execute_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/ctxswitch/execute"
	"vjob/ctxswitch/gang"
	"vjob/ctxswitch/journal"
	"vjob/hypervisor"
)

var start = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)

// settings have round numbers: every call may take 15 s, a boot 20 s more.
func settings() execute.Settings {
	s := execute.DefaultSettings
	s.Costs = ctxswitch.Costs{Boot: 5 * time.Second}
	s.Slack = 4
	s.Limits.DepartureGrace = 0 // what is not seen is lost at once
	return s
}

// harness is an executor of which a test plays the nodes, the store and the clock, and reads what
// the executor wants.
type harness struct {
	t         *testing.T
	exec      *execute.Executor
	now       time.Time
	calls     []hypervisor.Call // all that were wanted so far
	answered  []int             // calls that were carried out by [harness.wait]
	obeyed    int               // so many of them were carried out by [harness.obey]
	chains    [][]hypervisor.Call
	steps     []journal.Step
	looks     []cluster.NodeID // wanted since they were last asked for
	store     hypervisor.Store
	looking   bool                   // at the store
	storeErr  error                  // of looks at the store
	watched   map[cluster.NodeID]int // how often each node was looked at; the store is ""
	copies    map[cluster.NodeID][]hypervisor.Copy
	dead      map[cluster.NodeID]bool                 // do not answer
	endings   map[cluster.NodeID][]hypervisor.Ending  // may be nil
	exits     map[hypervisor.Guest]cluster.ExitStatus // what the consoles of missing guests say; may be nil
	absentees map[cluster.NodeID][]hypervisor.Guest   // to ask for in the looks
}

// world is what an executor starts from: nodes a, b and c of 4 CPU and 4 GiB.
func world(jobs ...*cluster.VJob) journal.Loaded {
	l := journal.Loaded{Epoch: 1, NextOp: 1, NextPlan: 1, VJobs: jobs}
	for _, id := range []cluster.NodeID{"a", "b", "c"} {
		l.Nodes = append(l.Nodes, cluster.Node{ID: id, Capacity: cluster.Resources{CPU: 4000, Memory: 4096}})
	}
	return l
}

// job has n members of 1 CPU and 1 GiB.
func job(id cluster.VJobID, n int, state cluster.State) *cluster.VJob {
	j := &cluster.VJob{ID: id, Name: fmt.Sprintf("j%d", id), Owner: "u", State: state, Terms: &cluster.Terms{}}
	for rank := range n {
		j.VMs = append(j.VMs, cluster.VM{
			ID: cluster.VMID{VJob: id, Rank: rank}, Reserved: cluster.Resources{CPU: 1000, Memory: 1024},
		})
	}
	return j
}

// at is a gang in a phase with its members on nodes.
func at(id cluster.VJobID, phase gang.Phase, nodes ...cluster.NodeID) gang.Record {
	r := gang.Record{VJob: id, Phase: phase, Since: start, Boots: 1, Incarnation: 1, Generation: 1}
	for _, n := range nodes {
		r.Members = append(r.Members, gang.Member{Node: n})
	}
	return r
}

func newHarness(t *testing.T, set execute.Settings, l journal.Loaded) *harness {
	t.Helper()
	return newHarnessAt(t, set, l, start)
}

// newHarnessAt starts an executor at an instant.
func newHarnessAt(t *testing.T, set execute.Settings, l journal.Loaded, now time.Time) *harness {
	t.Helper()
	d := &harness{
		t: t, exec: execute.New(set, l, now), now: now,
		watched: map[cluster.NodeID]int{},
		copies:  map[cluster.NodeID][]hypervisor.Copy{}, dead: map[cluster.NodeID]bool{},
	}
	d.store.Free = hypervisor.Spaces{}
	for _, n := range l.Nodes {
		d.store.Free[n.ID] = hypervisor.Space{Pool: "shared", Free: 1 << 30}
	}
	for _, rec := range l.Gangs {
		for rank, m := range rec.Members {
			if m.Node != "" && rec.Phase != gang.Saved && rec.Phase != gang.Absent {
				d.has(rec.VJob, rank, m.Node, hypervisor.CopyRunning)
			}
		}
	}
	return d
}

// has puts a copy on a node.
func (d *harness) has(id cluster.VJobID, rank int, node cluster.NodeID, state hypervisor.CopyState) {
	vm := cluster.VMID{VJob: id, Rank: rank}
	d.gone(id, rank, node)
	d.copies[node] = append(d.copies[node], hypervisor.Copy{
		VM: vm, Stamp: hypervisor.Stamp{Incarnation: 1, Epoch: 1}, State: state, CPU: 1000,
	})
}

// gone takes a copy away.
func (d *harness) gone(id cluster.VJobID, rank int, node cluster.NodeID) {
	vm := cluster.VMID{VJob: id, Rank: rank}
	d.copies[node] = slices.DeleteFunc(d.copies[node], func(c hypervisor.Copy) bool { return c.VM == vm })
}

// flush takes what the executor wants, once.
func (d *harness) flush() {
	effects := d.exec.Flush()
	if fresh := d.exec.FreshWake(); !effects.Wake.Equal(fresh) {
		d.t.Errorf("a tick is wanted at %s, must be at %s", effects.Wake, fresh)
	}
	if !effects.Step.Empty() {
		d.steps = append(d.steps, effects.Step)
	}
	for _, c := range effects.Chains {
		if len(c.Calls) != len(c.Deadline) {
			d.t.Errorf("%d calls with %d deadlines", len(c.Calls), len(c.Deadline))
		}
		d.chains = append(d.chains, c.Calls)
		d.calls = append(d.calls, c.Calls...)
	}
	d.published()
	d.looks = append(d.looks, effects.Looks...)
	if effects.Missing != nil {
		d.absentees = effects.Missing
	}
	d.looking = d.looking || effects.LookStore
}

// published checks that the published reports are those of now. Each call takes in only what has changed since the last.
func (d *harness) published() {
	live, want := d.exec.Live(), d.exec.Jobs()
	got, ids := slices.Collect(live.All()), make([]cluster.VJobID, len(want))
	for i := range want {
		ids[i] = want[i].Job.ID
	}
	if listed := d.exec.JobsIn(ids); !reflect.DeepEqual(listed, want) {
		d.t.Errorf("listed are\n%+v, now it is\n%+v", listed, want)
	}
	for i := range want {
		want[i].Booked = 0 // it is not published
	}
	if !reflect.DeepEqual(got, want) && len(got)+len(want) > 0 {
		d.t.Errorf("published are\n%+v, now it is\n%+v", got, want)
	}
	kept, fresh := d.exec.Nodes(), d.exec.FreshNodes()
	for i := range fresh {
		if !reflect.DeepEqual(kept[i], fresh[i]) {
			d.t.Errorf("reported is\n%+v, now it is\n%+v", kept[i], fresh[i])
		}
	}
}

// settle answers all looks until nothing more is wanted, and lets no time pass.
func (d *harness) settle() {
	for d.flush(); len(d.looks) > 0 || d.looking; d.flush() {
		looks := d.looks
		d.looks = nil
		for _, node := range looks {
			d.watched[node]++
			if d.dead[node] {
				d.exec.Looked(d.now, node, hypervisor.View{}, hypervisor.ErrUnreachable)
				continue
			}
			view := hypervisor.View{Node: node, Copies: d.copies[node], Endings: slices.Clone(d.endings[node])}
			for _, g := range d.absentees[node] {
				if status, ok := d.exits[g]; ok {
					view.Endings = append(view.Endings, hypervisor.Ending{
						VM: g.VM, Stamp: hypervisor.Stamp{Incarnation: g.Incarnation}, Cause: hypervisor.CauseShutdown, Exit: status,
					})
				}
			}
			delete(d.absentees, node)
			d.exec.Looked(d.now, node, view, nil)
		}
		if d.looking {
			d.looking = false
			d.watched[""]++
			store := d.store
			if d.storeErr != nil {
				store = hypervisor.Store{}
			}
			d.exec.LookedStore(d.now, store, d.storeErr)
		}
	}
}

// pass lets time go on in steps of a second, with every look answered.
func (d *harness) pass(long time.Duration) {
	for end := d.now.Add(long); d.now.Before(end); {
		d.now = d.now.Add(min(time.Second, end.Sub(d.now)))
		d.exec.Tick(d.now)
		d.settle()
	}
}

// reply answers a call.
func (d *harness) reply(op hypervisor.OpID, err error) {
	d.exec.Replied(d.now, d.replyTo(op, err))
	d.settle()
}

func (d *harness) replyTo(op hypervisor.OpID, err error) execute.Reply {
	return execute.Reply{Op: op, Err: err, Began: d.now, Ended: d.now}
}

// adopt begins plan 1.
func (d *harness) adopt(gangs []ctxswitch.Gang, actions ...ctxswitch.Action) {
	d.adoptAs(1, gangs, actions...)
}

// adoptAs begins a plan.
func (d *harness) adoptAs(id journal.PlanID, gangs []ctxswitch.Gang, actions ...ctxswitch.Action) {
	for i := range actions {
		actions[i].ID = ctxswitch.ActionID(i)
	}
	d.exec.Adopt(d.now, id, "test", ctxswitch.Plan{Actions: actions, Gangs: gangs})
	d.settle()
}

// act is an action of a plan.
func act(kind cluster.ActionKind, id cluster.VJobID, rank int, from, to cluster.NodeID, after ...ctxswitch.ActionID) ctxswitch.Action {
	return ctxswitch.Action{Kind: kind, VM: cluster.VMID{VJob: id, Rank: rank}, From: from, To: to, After: after}
}

func group(kind cluster.ActionKind, id cluster.VJobID, actions ...ctxswitch.ActionID) ctxswitch.Gang {
	return ctxswitch.Gang{VJob: id, Kind: kind, Actions: actions}
}

// wanted is every call so far in words: "1 boot 1.0@a".
func (d *harness) wanted() string {
	list := make([]string, len(d.calls))
	for i, c := range d.calls {
		list[i] = fmt.Sprintf("%d %s %s@%s", c.Op, c.Verb, c.VM, c.Node)
		if c.To != "" {
			list[i] += ">" + string(c.To)
		}
	}
	return strings.Join(list, ", ")
}

func (d *harness) wants(want string) {
	d.t.Helper()
	if got := d.wanted(); got != want {
		d.t.Errorf("calls so far:\n got %s\nwant %s", got, want)
	}
}

// isIn checks the phase of the gang of vjob 1.
func (d *harness) isIn(phase gang.Phase) {
	d.t.Helper()
	if r, ok := d.exec.Job(1); !ok || r.Record.Phase != phase {
		d.t.Errorf("the gang is %+v (live %v), want %s", r.Record, ok, phase)
	}
}

// told counts the events that contain a text.
func (d *harness) told(text string) int {
	n := 0
	for _, s := range d.steps {
		for _, e := range s.Events {
			if strings.Contains(e.TextFor(""), text) {
				n++
			}
		}
	}
	return n
}

// progress is the states of a plan's actions and its own at last: "done failed; failed".
func (d *harness) progress(id journal.PlanID, actions int) string {
	states := make([]string, actions)
	closed := "running"
	for _, s := range d.steps {
		for _, a := range s.Actions {
			if a.Plan == id {
				states[a.Action] = string(a.State)
			}
		}
		for _, c := range s.Closed {
			if c.ID == id {
				closed = string(c.State)
			}
		}
	}
	return strings.Join(states, " ") + "; " + closed
}
