package db_test

import (
	"context"
	"errors"
	"iter"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/ctxswitch/gang"
	"vjob/ctxswitch/journal"
	"vjob/db"
	"vjob/db/memory"
	"vjob/db/storetest"
	"vjob/hypervisor"
)

// TestMemoryAndDiskAgree gives random submissions and steps, valid and invalid, to both stores
// and expects the same answers and contents: what a simulation shows with one store must hold
// with the other.
func TestMemoryAndDiskAgree(t *testing.T) {
	dir := t.TempDir()
	runs := 0
	rapid.Check(t, func(r *rapid.T) {
		runs++
		path := filepath.Join(dir, strconv.Itoa(runs)+".db")
		disk, err := db.Open(path)
		if err != nil {
			r.Fatal(err)
		}
		defer func() { _ = disk.Close() }()
		p := pair{disk: disk, memory: &memory.Store{}}
		r.Repeat(map[string]func(*rapid.T){
			"submit": func(r *rapid.T) { p.submit(t.Context(), r) },
			"commit": func(r *rapid.T) { p.commit(t.Context(), r) },
			"nodes":  func(r *rapid.T) { p.nodes(t.Context(), r) },
			"load":   func(r *rapid.T) { p.load(t.Context(), r) },
			"prune":  func(r *rapid.T) { p.prune(t.Context(), r) },
		})
		p.load(t.Context(), r)
		p.compare(t.Context(), r)
	})
}

// pair is both stores.
type pair struct {
	disk   *db.DB
	memory *memory.Store
	epoch  int64
}

func agree(r *rapid.T, what string, a, b any) {
	r.Helper()
	if diff := cmp.Diff(a, b, cmpopts.EquateEmpty()); diff != "" {
		r.Fatalf("%s (-disk +memory):\n%s", what, diff)
	}
}

// kind is the sentinel of an error.
func kind(err error) string {
	for _, s := range []error{cluster.ErrNotFound, cluster.ErrConflict, cluster.ErrInvalid} {
		if errors.Is(err, s) {
			return s.Error()
		}
	}
	if err != nil {
		return "other: " + err.Error()
	}
	return "none"
}

func (p *pair) submit(ctx context.Context, r *rapid.T) {
	s := storetest.Submission(rapid.SampledFrom([]string{"", "a", "b"}).Draw(r, "name"), rapid.IntRange(0, 3).Draw(r, "vms"))
	s.Owner = rapid.SampledFrom([]string{"alice", "bob"}).Draw(r, "owner")
	s.Key = rapid.SampledFrom([]string{"", "k1", "k2"}).Draw(r, "key")
	s.Held = rapid.Bool().Draw(r, "held")
	s.Array = rapid.SampledFrom([][]string{nil, nil, {"x"}, {"x", "", "z"}}).Draw(r, "array")
	a, createdA, errA := p.disk.Submit(ctx, s)
	b, createdB, errB := p.memory.Submit(ctx, s)
	agree(r, "error of submit", kind(errA), kind(errB))
	agree(r, "created", createdA, createdB)
	agree(r, "vjob", a, b)
}

func (p *pair) nodes(ctx context.Context, r *rapid.T) {
	list := rapid.SliceOfN(rapid.Custom(node), 0, 3).Draw(r, "nodes")
	a, errA := p.disk.SaveNodes(ctx, list)
	b, errB := p.memory.SaveNodes(ctx, list)
	agree(r, "error of nodes", kind(errA), kind(errB))
	if errA == nil {
		agree(r, "undeclared", a, b)
	}
}

func node(r *rapid.T) cluster.Node {
	return cluster.Node{
		ID:       rapid.SampledFrom([]cluster.NodeID{"n1", "n2", "n3"}).Draw(r, "node"),
		State:    cluster.NodeState(rapid.IntRange(0, 3).Draw(r, "state")),
		Capacity: cluster.Resources{CPU: 1000, Memory: cluster.MiB(rapid.IntRange(1, 9).Draw(r, "memory"))},
		Labels:   rapid.SampledFrom([]map[string]string{nil, {"rack": "r1"}}).Draw(r, "labels"),
	}
}

func (p *pair) load(ctx context.Context, r *rapid.T) {
	a, err := p.disk.Load(ctx)
	if err != nil {
		r.Fatal(err)
	}
	b, err := p.memory.Load(ctx)
	if err != nil {
		r.Fatal(err)
	}
	p.epoch = a.Epoch
	agree(r, "load", a, b)
}

func (p *pair) commit(ctx context.Context, r *rapid.T) {
	step := p.step(r)
	agree(r, "error of commit", kind(p.disk.Commit(ctx, step)), kind(p.memory.Commit(ctx, step)))
}

func (p *pair) prune(ctx context.Context, r *rapid.T) {
	h := journal.Horizon{Events: moment(r, "events"), Plans: moment(r, "plans"), VJobs: moment(r, "vjobs"), Charges: moment(r, "charges"), Energy: moment(r, "energy")}
	batches := func(list iter.Seq2[journal.Pruned, error]) (all []journal.Pruned) {
		for done, err := range list {
			if err != nil {
				r.Fatal(err)
			}
			all = append(all, done)
		}
		return all
	}
	agree(r, "pruned", batches(p.disk.Prune(ctx, h)), batches(p.memory.Prune(ctx, h)))
}

// moment is one of the first hours, or the zero time.
func moment(r *rapid.T, name string) time.Time {
	hours := rapid.IntRange(-1, 3).Draw(r, name)
	if hours < 0 {
		return time.Time{}
	}
	return storetest.Start.Add(time.Duration(hours) * time.Hour)
}

// step is random, with ids so small that they collide, and with faults.
func (p *pair) step(r *rapid.T) (s journal.Step) {
	small := func(name string) int64 { return int64(rapid.IntRange(1, 4).Draw(r, name)) }
	some := func(name string) bool { return rapid.IntRange(0, 3).Draw(r, name) == 0 }
	if some("vjob change") {
		s.VJobs = append(s.VJobs, p.change(r))
	}
	if some("gang") {
		s.Gangs = append(s.Gangs, record(r, cluster.VJobID(small("gang's vjob"))))
	}
	if some("node") {
		s.Nodes = append(s.Nodes, node(r))
	}
	if some("rules") {
		s.Rules = &journal.Rules{Text: rapid.SampledFrom([]string{"", "ban($ALL_VMS, n1);"}).Draw(r, "text"), By: "root", At: storetest.Start}
	}
	if some("plan") {
		s.Plans = append(s.Plans, journal.Plan{
			ID: journal.PlanID(small("new plan")), At: storetest.Start, State: journal.PlanRunning,
			Plan: ctxswitch.Plan{Actions: make([]ctxswitch.Action, rapid.IntRange(0, 2).Draw(r, "actions"))},
		})
	}
	if some("closed") {
		s.Closed = append(s.Closed, journal.PlanChange{
			ID: journal.PlanID(small("closed plan")), State: journal.PlanDone, Ended: moment(r, "end of plan"), Note: "n",
		})
	}
	if some("action") {
		s.Actions = append(s.Actions, journal.ActionChange{
			Plan: journal.PlanID(small("plan of action")), Action: ctxswitch.ActionID(rapid.IntRange(-1, 2).Draw(r, "action")),
			State: rapid.SampledFrom([]journal.PlanState{journal.PlanRunning, journal.PlanDone, journal.PlanPending}).Draw(r, "progress"),
			At:    storetest.Start, Note: "x",
		})
	}
	if some("skew") {
		s.Skews = append(s.Skews, journal.SkewChange{Plan: journal.PlanID(small("plan of skew")) - 1, VJob: 1, Kind: "pause", Skew: 7})
	}
	if some("intent") {
		s.Intents = append(s.Intents, journal.Intent{
			Call: hypervisor.Call{Op: hypervisor.OpID(small("op")), Verb: hypervisor.Pause, VM: cluster.VMID{VJob: 1}},
			Plan: journal.PlanID(small("plan of intent")) - 1, Epoch: p.epoch, At: moment(r, "call"),
		})
	}
	if some("result") {
		s.Results = append(s.Results, journal.Result{Op: hypervisor.OpID(small("op of result")), Error: "e"})
	}
	if some("usage") {
		s.Usage = append(s.Usage, journal.Usage{VJob: cluster.VJobID(small("account")), Running: 7, Crowded: 6, CPU: 2, Wanted: 4, MemorySec: 3, Joules: 5})
	}
	if some("charge") {
		s.Charges = append(s.Charges, journal.Charge{
			User: rapid.SampledFrom([]string{"alice", "bob"}).Draw(r, "user"), Project: rapid.SampledFrom([]string{"", "p"}).Draw(r, "project"),
			Queue: "q", Hour: storetest.Start.Add(time.Duration(small("hour of charge")) * time.Hour), CPUTime: small("cpu"), MemoryTime: 5,
		})
	}
	if some("hours") {
		hour := storetest.Start.Truncate(time.Hour).Add(time.Duration(small("hour")) * time.Hour)
		s.NodeHours = append(s.NodeHours, journal.NodeHour{
			Hour: hour, Node: cluster.NodeID(rapid.SampledFrom([]string{"a", "b"}).Draw(r, "drawing")), Millijoules: small("drawn"), Unused: 1,
		})
		s.VJobHours = append(s.VJobHours, journal.VJobHour{
			Hour: hour, VJob: cluster.VJobID(small("drawing vjob")), Owner: "alice", Queue: "q", Millijoules: small("drawn for it"), Shifted: small("shifted") == 1,
		})
	}
	if some("event") {
		s.Events = append(s.Events, journal.Event{
			At: moment(r, "event"), Kind: journal.EventAlarm, VJob: cluster.VJobID(small("event's vjob")), Text: "t",
		})
	}
	return s
}

// change is mostly valid: the right version, sometimes a wrong one.
func (p *pair) change(r *rapid.T) journal.VJobChange {
	id := cluster.VJobID(rapid.IntRange(1, 4).Draw(r, "vjob"))
	c := journal.VJobChange{ID: id, State: cluster.State(rapid.IntRange(0, 9).Draw(r, "state")), Cause: cluster.Because("r")}
	c.Ended = moment(r, "ended")
	if kept, ok := p.memory.VJob(id); ok {
		c.Version = kept.Version + rapid.IntRange(-1, 2).Draw(r, "version")
		c.Held = kept.Held
	}
	return c
}

func record(r *rapid.T, id cluster.VJobID) gang.Record {
	g := gang.Record{
		VJob: id, Phase: gang.Phase(rapid.IntRange(0, 10).Draw(r, "phase")), Since: storetest.Start,
		Generation: rapid.IntRange(0, 3).Draw(r, "generation"), Members: make([]gang.Member, rapid.IntRange(1, 3).Draw(r, "members")),
	}
	for rank := range g.Members {
		if rapid.Bool().Draw(r, "image") {
			g.Members[rank].Image = &gang.Image{
				ID:   hypervisor.ImageID{VM: cluster.VMID{VJob: id, Rank: rank}, Generation: 1, Attempt: 2},
				Node: "n1", Bytes: 5, Checksum: "c",
			}
		}
	}
	return g
}

func (p *pair) compare(ctx context.Context, r *rapid.T) {
	events, err := p.disk.Events(ctx, journal.EventFilter{})
	if err != nil {
		r.Fatal(err)
	}
	agree(r, "events", events, p.memory.Events(0))
	totals, err := p.disk.Totals(ctx)
	if err != nil {
		r.Fatal(err)
	}
	agree(r, "totals", totals, p.memory.Totals())
	for _, by := range []journal.EnergyBy{journal.ByVJob, journal.ByNode} {
		f := journal.EnergyFilter{From: storetest.Start, To: storetest.Start.Add(3 * time.Hour), By: by}
		energy, err := p.disk.Energy(ctx, f)
		if err != nil {
			r.Fatal(err)
		}
		agree(r, "energy", energy, p.memory.Energy(f))
	}
	_, vjobs, err := p.disk.VJobs(ctx, journal.Filter{})
	if err != nil {
		r.Fatal(err)
	}
	agree(r, "vjobs", vjobs, len(p.memory.VJobs()))
	plans, err := p.disk.Plans(ctx, 0, 0)
	if err != nil {
		r.Fatal(err)
	}
	agree(r, "plans", len(plans), len(p.memory.Plans()))
	for _, row := range p.memory.VJobs() {
		a, err := p.disk.VJob(ctx, row.ID)
		if err != nil {
			r.Fatal(err)
		}
		b, _ := p.memory.VJob(row.ID)
		agree(r, "vjob", a, b)
	}
	for _, b := range p.memory.Plans() {
		a, err := p.disk.Plan(ctx, b.ID)
		if err != nil {
			r.Fatal(err)
		}
		agree(r, "plan", a, b)
	}
}
