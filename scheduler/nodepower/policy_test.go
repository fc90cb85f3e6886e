package nodepower_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/ctxswitch/execute"
	"vjob/ctxswitch/gang"
	"vjob/ctxswitch/journal"
	"vjob/ctxswitch/placement"
	"vjob/energy"
	"vjob/energy/budget"
	"vjob/energy/dpm"
	"vjob/energy/power/cycle"
	"vjob/hypervisor"
	"vjob/queue"
	"vjob/queue/quota"
	"vjob/scheduler/decide"
	"vjob/scheduler/nodepower"
	"vjob/scheduler/powercap"
)

var start = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)

// house is a cluster at rest: nodes that are on or off as the test has them, vjobs that run
// there and others that wait, and the policy under test. What it wishes of nodes
// stands on the board; nothing is carried out.
type house struct {
	t      *testing.T
	now    time.Time
	exec   *execute.Executor
	board  *nodepower.Controller
	watts  *powercap.Cap
	keeper *nodepower.Policy
	past   *dpm.History
	set    decide.Settings
	wait   []cluster.VJobID
	out    journal.Step
	again  time.Time // when it wants a decision
}

// plan is what a house is built from.
type plan struct {
	journal.Loaded
	fixed  []cluster.NodeID // have no power driver
	models map[cluster.NodeID]energy.Power
	watts  energy.Watts // of the whole cluster; 0: no limit
	silent []cluster.NodeID
	// strangers is the node with a foreign machine.
	strangers cluster.NodeID
}

// node adds one of some CPUs, and half a GiB for each. Its phase is that of a node on which
// no user has decided.
func (p *plan) node(id cluster.NodeID, cpus int, phase cycle.Phase) {
	p.Nodes = append(p.Nodes, cluster.Node{ID: id, Capacity: cluster.Resources{CPU: cluster.CPU * cluster.MilliCPU(cpus), Memory: 512 * cluster.MiB(cpus)}})
	want := cycle.WantOff
	if phase == cycle.On || phase == cycle.Starting {
		want = cycle.WantOn
	}
	p.Power = append(p.Power, cycle.Record{Node: id, Phase: phase, Want: want, Since: start.Add(-24 * time.Hour)})
}

// vjob adds a vjob with VMs of one CPU each; without a node it waits.
func (p *plan) vjob(vms int, on cluster.NodeID) *cluster.VJob {
	job := &cluster.VJob{ID: cluster.VJobID(len(p.VJobs) + 1), Owner: "u", State: cluster.Waiting, Submitted: start, Terms: &cluster.Terms{}}
	rec := gang.Record{VJob: job.ID, Members: make([]gang.Member, vms)}
	for rank := range vms {
		job.VMs = append(job.VMs, cluster.VM{
			ID: cluster.VMID{VJob: job.ID, Rank: rank}, Reserved: cluster.Resources{CPU: cluster.CPU, Memory: 256},
		})
		rec.Members[rank].Node = on
	}
	if on != "" {
		job.State, rec.Phase, rec.Incarnation = cluster.Running, gang.Active, 1
	}
	p.VJobs, p.Gangs = append(p.VJobs, job), append(p.Gangs, rec)
	return job
}

// build looks at every node once, so that all is known.
func (p *plan) build(t *testing.T) *house {
	t.Helper()
	h := &house{t: t, now: start}
	p.NextOp, p.NextPlan = 1, 1
	h.set = decide.Settings{
		Execute: execute.DefaultSettings, Policy: queue.FirstFit{}, Planner: ctxswitch.Repacker{},
		Energy: decide.Energy{Power: p.models},
	}
	h.exec = execute.New(h.set.Execute, p.Loaded, start)
	h.exec.Power = p.models
	board := nodepower.ControllerSettings{Limits: cycle.DefaultLimits}
	for _, n := range p.Nodes {
		if !slices.Contains(p.fixed, n.ID) {
			board.Nodes = append(board.Nodes, n.ID)
		}
	}
	records := slices.DeleteFunc(p.Power, func(r cycle.Record) bool { return slices.Contains(p.fixed, r.Node) })
	h.board = nodepower.NewController(&board, p.models, records, h.exec.PowerStates, &h.out, start)
	var stated journal.Budgets
	if p.watts > 0 {
		stated.Text = budget.Format([]budget.Budget{{Watts: p.watts}})
	}
	var err error
	if h.watts, err = powercap.New(powercap.Settings{Zone: time.UTC, Models: p.models}, stated, h.exec, h.board, &h.out, start); err != nil {
		t.Fatal(err)
	}
	h.past = dpm.NewHistory(dpm.Default.RiskWindow)
	s := nodepower.PolicySettings{Settings: dpm.Default, Every: 5 * time.Minute, Boot: 2 * time.Minute}
	h.keeper = nodepower.NewPolicy(&s, nodepower.Parts{
		Exec: h.exec, Controller: h.board, Power: h.watts, Models: p.models, Margin: time.Minute, Seed: 1, Past: h.past,
	})
	h.look(p)
	for _, job := range p.VJobs {
		if job.State == cluster.Waiting && job.Reservation.IsZero() && !job.Held {
			h.wait = append(h.wait, job.ID)
		}
	}
	return h
}

// look shows the executor what is on each node: nodes that are off do not answer.
func (h *house) look(p *plan) {
	h.exec.LookedStore(h.now, hypervisor.Store{}, nil)
	for _, n := range p.Nodes {
		r := h.board.Record(n.ID)
		if r != nil && r.Phase.Switches() || slices.Contains(p.silent, n.ID) {
			h.exec.Looked(h.now, n.ID, hypervisor.View{}, hypervisor.ErrUnreachable)
			continue
		}
		view := hypervisor.View{Node: n.ID}
		if n.ID == p.strangers {
			view.Unmanaged = []string{"gateway"}
		}
		for _, rec := range p.Gangs {
			for rank, m := range rec.Members {
				if m.Node == n.ID {
					view.Copies = append(view.Copies, hypervisor.Copy{
						VM: cluster.VMID{VJob: rec.VJob, Rank: rank}, CPU: cluster.CPU, Stamp: hypervisor.Stamp{Incarnation: 1},
					})
				}
			}
		}
		h.exec.Looked(h.now, n.ID, view, nil)
	}
	if !h.exec.AllSeen() {
		h.t.Fatal("not all is known")
	}
}

// variant is what the core of the loop would show.
func (h *house) variant() *decide.Variant {
	nodes := h.exec.Nodes()
	for i := range nodes {
		n := *nodes[i]
		if n.State = h.board.State(n.ID, n.State); n.Silent && n.State == cluster.Online {
			n.State = cluster.Draining
		}
		nodes[i] = &n
	}
	return decide.NewView(&h.set, &decide.Facts{
		Now: h.now, VJobs: h.exec.Jobs(), Nodes: nodes, Bookings: h.exec.VMs, Past: &quota.Ledger{}, Reader: placement.NewReader(),
		Budgets: h.watts.Books(), Least: h.board.Draws(),
	}).Vary()
}

// tend runs the policy and returns its new wishes:
// "b on".
func (h *house) tend(decided bool) string {
	before := map[cluster.NodeID]cycle.Want{}
	for _, n := range h.exec.Nodes() {
		if r := h.board.Record(n.ID); r != nil {
			before[n.ID] = r.Want
		}
	}
	h.past.Add(h.now, nodepower.Samples(h.exec))
	h.again = h.keeper.Tend(&nodepower.Scene{Now: h.now, Decided: decided, Waiting: h.wait, View: h.variant})
	var wishes []string
	for _, n := range h.exec.Nodes() {
		if r := h.board.Record(n.ID); r != nil && r.Want != before[n.ID] {
			wishes = append(wishes, string(n.ID)+" "+r.Want.String())
		}
	}
	return strings.Join(wishes, ", ")
}

// after lets time pass with a turn each minute, and returns the first wishes.
func (h *house) after(d time.Duration) string {
	for end := h.now.Add(d); h.now.Before(end); {
		h.now = h.now.Add(time.Minute)
		if wishes := h.tend(false); wishes != "" {
			return wishes
		}
	}
	return ""
}

func (h *house) expect(got, want string) {
	h.t.Helper()
	if got != want {
		h.t.Errorf("it wishes %q, want %q", got, want)
	}
}

// reasons are what people read of the switches.
func (h *house) reasons() string {
	var list []string
	for _, r := range h.out.Power {
		list = append(list, r.Reason)
	}
	return strings.Join(list, "; ")
}
