package scheduler_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/ctxswitch/execute"
	"vjob/ctxswitch/gang"
	"vjob/ctxswitch/journal"
	"vjob/db"
	"vjob/hypervisor"
	"vjob/queue"
	"vjob/scheduler"
	"vjob/scheduler/admission"
	"vjob/scheduler/decide"
)

// cloud is a large cluster in racks, three quarters full: on every twentieth node a
// giant, on the others VMs of mixed sizes, which are smaller if there are more than five for a node; vjobs have 4 to 20
// members on as many nodes. More giants wait until others end.
type cloud struct {
	journal.Loaded
	rng   *rand.Rand
	rules string // of each vjob
}

const (
	rackSize  = 100
	giantStep = 20
)

// The sizes of VMs that are sold. A giant leaves no room for another.
var (
	flavours = []cluster.Resources{
		{CPU: cluster.CPU, Memory: 4096}, {CPU: 2 * cluster.CPU, Memory: 8192}, {CPU: 4 * cluster.CPU, Memory: 16384},
	}
	giant   = cluster.Resources{CPU: 15 * cluster.CPU, Memory: 61440}
	machine = cluster.Resources{CPU: 16 * cluster.CPU, Memory: 65536}
)

func newCloud(nodes, vms, waiting int, rules string) *cloud {
	c := &cloud{Loaded: journal.Loaded{Epoch: 1, NextOp: 1, NextPlan: 1}, rng: rand.New(rand.NewPCG(1, 20000)), rules: rules}
	var hosts []cluster.NodeID // of giants
	for i := range nodes {
		n := cluster.Node{
			ID: cluster.NodeID(fmt.Sprintf("n%05d", i)), Capacity: machine,
			Labels: map[string]string{"rack": fmt.Sprintf("r%03d", i/rackSize)},
		}
		c.Nodes = append(c.Nodes, n)
		if i%giantStep == 0 {
			hosts = append(hosts, n.ID)
		}
	}
	vms -= len(hosts)
	for len(hosts) > 0 {
		n := min(c.members(), len(hosts))
		c.add(repeat(giant, n), hosts[:n])
		hosts = hosts[n:]
	}
	c.crowd(vms)
	for range waiting {
		c.add(repeat(giant, c.members()), nil)
	}
	return c
}

func (c *cloud) members() int { return 4 + c.rng.IntN(17) }

func repeat(size cluster.Resources, n int) []cluster.Resources {
	return slices.Repeat([]cluster.Resources{size}, n)
}

// crowd runs so many VMs on the nodes without giants, round and round.
func (c *cloud) crowd(vms int) {
	free := repeat(machine, len(c.Nodes))
	parts := max(1, (vms+5*len(c.Nodes)-1)/(5*len(c.Nodes)))
	for at := 0; vms > 0; {
		var sizes []cluster.Resources
		var on []cluster.NodeID
		for range min(c.members(), vms) {
			size := flavours[c.rng.IntN(len(flavours))]
			size = cluster.Resources{CPU: size.CPU / cluster.MilliCPU(parts), Memory: size.Memory / cluster.MiB(parts)}
			for at++; at%giantStep == 0 || !size.Fits(free[at%len(free)]); at++ {
			}
			free[at%len(free)] = free[at%len(free)].Minus(size)
			sizes, on = append(sizes, size), append(on, c.Nodes[at%len(free)].ID)
		}
		c.add(sizes, on)
		vms -= len(sizes)
	}
}

// add adds a vjob that runs on the nodes, or waits.
func (c *cloud) add(sizes []cluster.Resources, on []cluster.NodeID) {
	id := cluster.VJobID(len(c.VJobs) + 1)
	job := &cluster.VJob{ID: id, Name: fmt.Sprintf("j%d", id), Owner: "u", Rules: c.rules, Terms: &cluster.Terms{}}
	rec := gang.Record{VJob: id, Members: make([]gang.Member, len(sizes))}
	if on != nil {
		job.State, job.Version, rec.Phase, rec.Incarnation = cluster.Running, 2, gang.Active, 1
	}
	for rank, size := range sizes {
		job.VMs = append(job.VMs, cluster.VM{ID: cluster.VMID{VJob: id, Rank: rank}, Reserved: size})
		if on != nil {
			rec.Members[rank].Node = on[rank]
		}
	}
	c.VJobs, c.Gangs = append(c.VJobs, job), append(c.Gangs, rec)
}

// views is what the nodes show: each VM needs the CPU that it reserved, and a lock
// lets it migrate while it runs.
func (c *cloud) views() map[cluster.NodeID]hypervisor.View {
	seen := views(c.Loaded)
	for _, v := range seen {
		for i := range v.Copies {
			copied := &v.Copies[i]
			copied.State, copied.Lock = hypervisor.CopyRunning, true
			copied.CPU = c.VJobs[copied.VM.VJob-1].VMs[copied.VM.Rank].Reserved.CPU
		}
	}
	return seen
}

// daemon is a core as package daemon makes it, after its first decision.
type daemon struct {
	*cloud
	core *scheduler.Core
	seen map[cluster.NodeID]hypervisor.View
	now  time.Time
}

func newDaemon(b *testing.B, c *cloud, rules string) *daemon {
	b.Helper()
	d := &daemon{cloud: c, seen: c.views(), now: epoch}
	set := execute.DefaultSettings
	set.Costs = ctxswitch.ThesisCosts
	d.core = scheduler.NewCore(scheduler.Settings{
		Settings: decide.Settings{
			Execute: set, Policy: queue.FirstFit{Count: queue.Observed}, Live: true,
			Planner: ctxswitch.Repacker{Rounds: math.MaxInt, Clock: func() func() bool {
				end := time.Now().Add(250 * time.Millisecond)
				return func() bool { return time.Now().After(end) }
			}},
			Backoff: time.Second,
		},
		Rules: rules,
	}, c.Loaded, d.now)
	d.core.Flush(d.now)
	for _, n := range c.Nodes {
		d.core.Looked(d.now, n.ID, d.seen[n.ID], nil)
	}
	d.core.LookedStore(d.now, hypervisor.Store{}, nil)
	d.rests(b)
	return d
}

// decides demands that a plan is begun, rests that none is.
func (d *daemon) decides(b *testing.B) journal.Step {
	b.Helper()
	e := d.core.Flush(d.now)
	if len(e.Step.Plans) == 0 || len(e.Chains) == 0 {
		b.Fatal("no plan")
	}
	return e.Step
}

func (d *daemon) rests(b *testing.B) {
	b.Helper()
	if e := d.core.Flush(d.now); len(e.Step.Plans) > 0 {
		b.Fatalf("a plan for nothing:\n%s", e.Step.Plans[0].Plan.String())
	}
}

// BenchmarkScale is the core of the daemon with 10,000 nodes that hold nearly nothing, with 20,000 nodes, 100,000 VMs that run
// and 1,000 vjobs that wait, and with 100,000 nodes and a million VMs: from an event to what is to be written and called. The
// 250 ms that the planner may take are in it wherever there is a plan.
func BenchmarkScale(b *testing.B) {
	for _, kind := range []struct {
		name         string
		nodes, vms   int
		waiting      int
		own, cluster string
	}{
		{"empty", 10_000, 500, 0, "", ""},
		{"plain", 20_000, 100_000, 1000, "", ""},
		{"rules", 20_000, 100_000, 1000, "continuous spread($VMS);", "for $r in $ALL_NODES / rack { capacity($r, 600); }"},
		{"million", 100_000, 1_000_000, 1000, "", ""},
	} {
		c := sync.OnceValue(func() *cloud { return newCloud(kind.nodes, kind.vms, kind.waiting, kind.own) })
		for _, event := range []struct {
			name string
			run  func(b *testing.B, d *daemon)
		}{
			{"comes", benchmarkCome},
			{"ends", benchmarkEnd},
			{"drain", benchmarkDrain},
			{"look", benchmarkLook},
			{"tick", benchmarkTick},
			{"snapshot", benchmarkSnapshot},
		} {
			b.Run(kind.name+"/"+event.name, func(b *testing.B) {
				if kind.waiting == 0 && (event.name == "ends" || event.name == "drain") {
					b.Skip("nothing would follow from it")
				}
				d := newDaemon(b, c(), kind.cluster)
				before := processor()
				event.run(b, d)
				b.StopTimer()
				b.ReportMetric((processor()-before).Seconds()/float64(b.N), "cpu-s/op")
				b.ReportMetric(live(), "live-MiB")
				runtime.KeepAlive(d)
			})
		}
	}
}

// processor is the time that processors have worked for us: the machine may be busy.
func processor() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// live is what is alive on the heap, in MiB.
func live() float64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc) / (1 << 20)
}

// benchmarkCome lets small vjobs come, one for each decision, and start.
func benchmarkCome(b *testing.B, d *daemon) {
	b.Helper()
	for id := cluster.VJobID(len(d.VJobs) + 1); b.Loop(); id++ {
		d.core.VJobs.Submitted(d.now, latecomer(id, 9, cluster.Resources{CPU: cluster.CPU / 10, Memory: 64}))
		d.decides(b)
	}
}

// benchmarkEnd lets giants end, so that others may start.
func benchmarkEnd(b *testing.B, d *daemon) {
	b.Helper()
	next := 0
	for b.Loop() {
		rec := d.Gangs[next]
		next++
		for rank, m := range rec.Members {
			view := d.seen[m.Node]
			view.Copies, view.Endings = nil, []hypervisor.Ending{{
				VM: cluster.VMID{VJob: rec.VJob, Rank: rank}, Stamp: hypervisor.Stamp{Incarnation: 1}, Cause: hypervisor.CauseShutdown,
			}}
			d.core.Looked(d.now, m.Node, view, nil)
		}
		d.decides(b)
	}
}

// benchmarkDrain drains racks.
func benchmarkDrain(b *testing.B, d *daemon) {
	b.Helper()
	next := 0
	for b.Loop() {
		d.drain(b, next)
		next++
	}
}

// drain drains a rack.
func (d *daemon) drain(b *testing.B, rack int) journal.Step {
	b.Helper()
	for _, n := range d.Nodes[rack*rackSize : (rack+1)*rackSize] {
		if err := d.core.Nodes.Set(d.now, []cluster.NodeID{n.ID}, cluster.Draining, "a"); err != nil {
			b.Fatal(err)
		}
	}
	return d.decides(b)
}

// benchmarkLook looks at nodes on which nothing has changed.
func benchmarkLook(b *testing.B, d *daemon) {
	b.Helper()
	next := 0
	for b.Loop() {
		n := d.Nodes[next%len(d.Nodes)].ID
		next++
		d.core.Looked(d.now, n, d.seen[n], nil)
		d.rests(b)
	}
}

// benchmarkTick lets time pass, and nothing else.
func benchmarkTick(b *testing.B, d *daemon) {
	b.Helper()
	for b.Loop() {
		d.now = d.now.Add(time.Second)
		d.core.Tick(d.now)
		d.rests(b)
	}
}

// benchmarkSnapshot measures snapshots.
func benchmarkSnapshot(b *testing.B, d *daemon) {
	b.Helper()
	for b.Loop() {
		d.core.Snapshot()
	}
}

// BenchmarkScaleCommit is the store, on disk: what a drained rack has it write.
func BenchmarkScaleCommit(b *testing.B) {
	d := newDaemon(b, newCloud(20000, 100000, 1000, ""), "")
	store, err := db.Open(filepath.Join(b.TempDir(), "vjob.db"))
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	if _, err := store.Load(b.Context()); err != nil { // the first epoch
		b.Fatal(err)
	}
	if _, err := store.SaveNodes(b.Context(), d.Nodes); err != nil {
		b.Fatal(err)
	}
	for _, job := range d.VJobs {
		if _, _, err := store.Submit(b.Context(), admission.Submission{Owner: job.Owner, VMs: job.VMs, Rules: job.Rules}); err != nil {
			b.Fatal(err)
		}
	}
	begun := journal.Step{Gangs: d.Gangs}
	for _, job := range d.VJobs {
		if job.State == cluster.Running {
			begun.VJobs = append(begun.VJobs,
				journal.VJobChange{ID: job.ID, State: cluster.Booting, Version: 1}, journal.VJobChange{ID: job.ID, State: cluster.Running, Version: 2})
		}
	}
	if err := store.Commit(b.Context(), begun); err != nil {
		b.Fatal(err)
	}
	for rack := 0; b.Loop(); rack++ {
		b.StopTimer()
		step := d.drain(b, rack)
		b.StartTimer()
		if err := store.Commit(b.Context(), step); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(len(step.Plans[0].Plan.Actions)), "actions")
	}
}
