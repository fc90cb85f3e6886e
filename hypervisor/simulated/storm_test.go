package simulated_test

import (
	"crypto/sha256"
	"fmt"
	"hash"
	"math/rand/v2"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/hypervisor"
	"vjob/hypervisor/simulated"
)

// storm is a client that makes random calls under faults.
type storm struct {
	t           *testing.T
	cfg         simulated.Config
	c           *simulated.Cluster
	rng         *rand.Rand
	now         time.Time
	op          hypervisor.OpID
	begun       map[hypervisor.OpID]hypervisor.Call
	replies     map[hypervisor.OpID]int
	sums        map[hypervisor.ImageID]string
	revoked     map[hypervisor.ImageID]int
	trace       hash.Hash
	log         []string // the newest lines of the trace
	reopenEvery int      // steps; 0 is never
	blind       bool     // it never looks
}

func newStorm(t *testing.T, seed uint64) *storm {
	t.Helper()
	cfg := simulated.Config{Profile: simulated.Lab, Seed: seed, Start: begin, Locks: seed%2 == 0, Faults: simulated.Harsh}
	for _, id := range []cluster.NodeID{"n1", "n2", "n3"} {
		cfg.Nodes = append(cfg.Nodes, simulated.Node{ID: id, Capacity: cluster.Resources{CPU: 2000, Memory: 1024}})
	}
	cfg.Pools = map[string]cluster.MiB{simulated.SharedPool: 4096}
	s := &storm{
		t: t, cfg: cfg, c: simulated.New(cfg), rng: rand.New(rand.NewPCG(seed, 7)), now: begin,
		begun: map[hypervisor.OpID]hypervisor.Call{}, replies: map[hypervisor.OpID]int{},
		sums: map[hypervisor.ImageID]string{}, revoked: map[hypervisor.ImageID]int{}, trace: sha256.New(),
	}
	s.c.OnChange = s.changed
	return s
}

func (s *storm) note(format string, args ...any) {
	line := s.now.Format("15:04:05.000000 ") + fmt.Sprintf(format, args...)
	s.trace.Write([]byte(line + "\n"))
	s.log = append(s.log[max(0, len(s.log)-30):], line)
}

func (s *storm) changed(ch simulated.Change) {
	s.note("change %+v", ch)
	switch {
	case ch.Kind == simulated.Revoked:
		s.revoked[ch.Image] = max(s.revoked[ch.Image], ch.Attempt)
	case ch.Kind == simulated.RestoreBegun && ch.Attempt <= s.revoked[ch.Image]:
		s.fail("attempt %d to restore %s was revoked", ch.Attempt, ch.Image)
	}
	truth := s.c.Truth()
	for _, n := range truth.Nodes {
		if n.MemoryUsed > n.Capacity.Memory {
			s.fail("node %s: %s of %s memory used", n.ID, n.MemoryUsed, n.Capacity.Memory)
		}
	}
	running := map[cluster.VMID]int{}
	for _, c := range truth.Copies {
		if c.State == hypervisor.CopyRunning {
			running[c.VM]++
		}
		if running[c.VM] > 1 && s.cfg.Locks {
			s.fail("%s runs twice in spite of the locks", c.VM)
		}
	}
}

func (s *storm) fail(format string, args ...any) {
	s.t.Helper()
	for _, line := range s.log {
		s.t.Log(line)
	}
	s.t.Fatalf("seed %d: %s", s.cfg.Seed, fmt.Sprintf(format, args...))
}

func (s *storm) advance(d time.Duration) {
	s.now = s.now.Add(d)
	for _, h := range s.c.Advance(s.now) {
		if h.Reply == nil {
			s.note("hint %s", h.Hint)
			continue
		}
		s.note("reply %d %+v %v", h.Reply.Op, h.Reply.Receipt, h.Reply.Err)
		s.replies[h.Reply.Op]++
		if s.replies[h.Reply.Op] > 1 {
			s.fail("operation %d was answered twice", h.Reply.Op)
		}
		if call := s.begun[h.Reply.Op]; call.Verb == hypervisor.Seal && h.Reply.Err == nil {
			s.sums[call.Image] = h.Reply.Receipt.Checksum
		}
	}
}

func (s *storm) node() cluster.NodeID { return s.cfg.Nodes[s.rng.IntN(len(s.cfg.Nodes))].ID }

// step makes one random call, or looks.
func (s *storm) step() {
	s.op++
	id := vm(1+s.rng.IntN(3), s.rng.IntN(2))
	call := hypervisor.Call{
		Op: s.op, Verb: hypervisor.Verb(s.rng.IntN(int(hypervisor.Abort) + 1)), VM: id, Node: s.node(), To: s.node(),
		Image:   hypervisor.ImageID{VM: id, Generation: 1 + s.rng.IntN(3), Attempt: 1},
		Attempt: 1 + int(s.op)/20, Stamp: hypervisor.Stamp{Incarnation: 1 + int(s.op)/100, Epoch: 1},
	}
	if copies := s.c.Truth().Copies; len(copies) > 0 && s.rng.IntN(3) > 0 { // mostly a call that can succeed
		m := copies[s.rng.IntN(len(copies))]
		call.VM, call.Node, call.Image.VM = m.VM, m.Node, m.VM
	}
	if call.Verb == hypervisor.Revoke {
		call.Attempt--
	}
	call.Checksum = s.sums[call.Image]
	call.Machine = machine(256, 2, cluster.Step{CPU: 800, Duration: 20 * time.Second}, cluster.Step{
		CPU: 300, Duration: 5 * time.Second, After: []cluster.StepRef{{Rank: 1 - call.VM.Rank, Index: 0}},
	})
	call.Machine.Payload.Program.Lockstep = call.VM.VJob == 3
	s.begun[call.Op] = call
	s.c.Begin(s.now, call)
	if !s.blind && s.rng.IntN(4) == 0 {
		view, err := s.c.Look(s.now, s.node())
		s.note("look %+v %v", view, err)
		store, err := s.c.LookStore(s.now)
		s.note("store %+v %v", store, err)
	}
	s.advance(time.Duration(s.rng.IntN(int(2 * time.Second))))
}

// run makes calls, heals the cluster and waits until every job has ended. It returns the hash of the
// trace.
func (s *storm) run(steps int) string {
	for i := range steps {
		s.step()
		if s.reopenEvery > 0 && i%s.reopenEvery == 0 {
			s.reopen()
		}
	}
	s.c.Heal(s.now)
	s.advance(time.Hour)
	silent := 0
	for op := range s.begun {
		if s.replies[op] == 0 {
			silent++
		}
	}
	if silent > steps/10 {
		s.fail("%d of %d calls were never answered", silent, steps)
	}
	for _, c := range s.c.Truth().Copies {
		left := c.Job == hypervisor.JobIncoming && c.Incomplete // by a daemon that died
		if c.Job != hypervisor.JobNone && !left {
			s.fail("a job of %s on %s never ended: %s", c.VM, c.Node, c.Job)
		}
	}
	return fmt.Sprintf("%x", s.trace.Sum(nil))
}

// reopen replaces the cluster by one that is restored from its snapshot.
func (s *storm) reopen() {
	s.advance(0)
	data, err := s.c.Snapshot()
	if err != nil {
		s.fail("%v", err)
	}
	if s.c, err = simulated.Restore(s.cfg, data); err != nil {
		s.fail("%v", err)
	}
	s.c.OnChange = s.changed
}

func TestStormIsDeterministic(t *testing.T) {
	seeds := 40
	if testing.Short() {
		seeds = 10
	}
	hashes := map[string]bool{}
	for seed := range uint64(seeds) {
		first := newStorm(t, seed).run(300)
		if again := newStorm(t, seed).run(300); again != first {
			t.Fatalf("seed %d: two runs differ", seed)
		}
		hashes[first] = true
	}
	if len(hashes) != seeds {
		t.Fatalf("%d seeds gave %d different traces", seeds, len(hashes))
	}
}

func TestStormContinuesFromSnapshots(t *testing.T) {
	for seed := range uint64(20) {
		want := newStorm(t, seed).run(200)
		s := newStorm(t, seed)
		s.reopenEvery = 7
		if got := s.run(200); got != want {
			t.Fatalf("seed %d: the run with restarts differs", seed)
		}
	}
}
