package ctxswitch_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/queue"
)

// stock packs what the scene has, every VM with the need that the scene knows.
func (s *scene) stock() ctxswitch.PackingInput {
	needs := map[cluster.VMID]cluster.Resources{}
	for _, id := range s.Current.VMs() {
		needs[id] = s.Current.Need(id)
		if next, changes := s.Next[id]; changes {
			needs[id] = next
		}
	}
	return ctxswitch.PackingInput{Current: s.Current, Rules: s.Rules, Claims: s.Claims, Pinned: s.Pinned, Needs: needs}
}

func TestPackingTake(t *testing.T) {
	type taken struct {
		vjob  cluster.VJobID
		ok    bool
		short string // of those that do not fit
	}
	shape := queue.Shortage{}.String()
	for _, c := range []struct {
		name   string
		scene  *scene
		effort int
		want   []taken
	}{
		{"until the room is used up", newScene().node("n1", 2, 2).node("n2", 2, 2).
			waiting("1.0", 1, 1).waiting("1.1", 2, 1).waiting("2.0", 2, 2).waiting("3.0", 1, 1), 0, []taken{
			{1, true, ""}, {2, false, "needs 1 CPU more"}, {3, true, ""},
		}},
		{"what is not taken uses no room", newScene().node("n1", 1, 1).
			running("1.0", 1, 1, "n1").waiting("2.0", 1, 1), 0, []taken{
			{2, true, ""}, {1, false, "needs 1 CPU and 1 GiB more"},
		}},
		{"what is pinned does", newScene().node("n1", 1, 1).
			running("1.0", 1, 1, "n1").waiting("2.0", 1, 1).pin("1.0"), 0, []taken{
			{2, false, "needs 1 CPU and 1 GiB more"}, {1, true, ""},
		}},
		{"so does what is claimed", newScene().node("n1", 1, 1).claim("n1", 0.5, 0.5).waiting("1.0", 1, 0.5), 0, []taken{
			{1, false, "needs 0.5 CPU more"},
		}},
		{"nothing is left behind by a vjob that does not fit", newScene().node("n1", 2, 2).node("n2", 1, 2).
			waiting("1.0", 1, 1).waiting("1.1", 2, 1).waiting("1.2", 1, 1).waiting("2.0", 2, 2).waiting("3.0", 1, 1), 0, []taken{
			{1, false, "needs 1 CPU more"}, {2, true, ""}, {3, true, ""},
		}},
		{"room in pieces", newScene().node("n1", 2, 2).node("n2", 2, 2).
			running("1.0", 1, 1, "n1").running("2.0", 1, 1, "n2").waiting("3.0", 2, 2), -1, []taken{
			{1, true, ""}, {2, true, ""}, {3, false, shape + ", the largest has 1 CPU and 1 GiB"},
		}},
		{"room in pieces is put together", newScene().node("n1", 2, 2).node("n2", 2, 2).
			running("1.0", 1, 1, "n1").running("2.0", 1, 1, "n2").waiting("3.0", 2, 2), 0, []taken{
			{1, true, ""}, {2, true, ""}, {3, true, ""},
		}},
		{"everything is packed anew where moving a few does not help", newScene().node("n1", 6, 9).node("n2", 6, 9).
			running("1.0", 3, 1, "n1").running("2.0", 2, 1, "n1").running("3.0", 2, 1, "n2").
			running("4.0", 2, 1, "n2").waiting("5.0", 3, 1), 0, []taken{
			{1, true, ""}, {2, true, ""}, {3, true, ""}, {4, true, ""}, {5, true, ""},
		}},
		{"a rule in the way", newScene().node("n1", 1, 1).node("n2", 2, 2).
			waiting("1.0", 1, 1).waiting("1.1", 1, 1).
			rule("ban(1.1, {n1, n2});"), 0, []taken{
			{1, false, "in the way is ban({VM 1.1}, {node n1, node n2})"},
		}},
		{"a draining node keeps its own and takes no others", newScene().node("n1", 2, 2).node("n2", 1, 1).
			running("1.0", 2, 2, "n1").waiting("2.0", 1, 1).waiting("3.0", 1, 1).state("n1", cluster.Draining), 0, []taken{
			{1, true, ""}, {2, true, ""}, {3, false, "needs 1 CPU and 1 GiB more"},
		}},
		{"nor do draining nodes take each other's", newScene().node("n1", 1, 1).node("n2", 2, 2).node("n3", 0.5, 0.5).
			running("1.0", 1, 1, "n1").running("2.0", 1, 1, "n1").running("3.0", 1, 1, "n2").
			state("n1", cluster.Draining).state("n2", cluster.Draining), 0, []taken{
			{3, true, ""}, {2, true, ""}, {1, false, shape + ", the largest has 0.5 CPU and 512 MiB"},
		}},
		{"no node takes VMs", newScene().node("n1", 2, 2).node("n2", 2, 2).
			running("1.0", 1, 1, "n1").waiting("2.0", 1, 1).
			state("n1", cluster.Draining).state("n2", cluster.Draining), 0, []taken{
			{1, true, ""}, {2, false, "needs 1 CPU and 1 GiB more"},
		}},
		{"an image that cannot be read", newScene().node("n1", 2, 2).node("n2", 2, 2).
			sleeping("1.0", 1, 1, "n1").state("n1", cluster.Down), 0, []taken{
			{1, false, "in the way is node n1, which is down and holds what there is of VM 1.0"},
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			stock := c.scene.stock()
			stock.Effort = c.effort
			room := ctxswitch.NewPacking(stock)
			for _, w := range c.want {
				ok, short := room.Take(w.vjob)
				if ok != w.ok || !ok && short.String() != w.short {
					t.Errorf("take %s: %t, %s; want %t, %s", w.vjob, ok, short, w.ok, w.short)
				}
			}
		})
	}
}

func (s *scene) claim(id cluster.NodeID, cpus, gib float64) *scene {
	s.Claims[id] = size(cpus, gib)
	return s
}

// What a packing takes in order of priority, the planner can place but for rare
// shapes. What stands still in memory may have to be saved for that.
func TestRepackerPlacesWhatPackingTakes(t *testing.T) {
	const chance = 4 // of a hundred draws that many may be rare shapes
	plans, none := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		s := &scene{drawProblem(t)}
		s.Pinned, s.Next = nil, nil
		for _, n := range s.Current.Nodes() {
			if n.State == cluster.Down { // nothing can be wished of what was there
				s.state(n.ID, cluster.Offline)
			}
		}
		for _, id := range s.Current.VMs() {
			if state, _ := s.Current.State(id); state == cluster.VMPaused {
				s.Current.SetSleeping(id, s.Current.Need(id), s.Current.Place(id))
			}
		}
		room := ctxswitch.NewPacking(s.stock())
		s.Gangs = nil
		jobs := map[cluster.VJobID]bool{}
		for _, id := range s.Current.VMs() {
			if jobs[id.VJob] {
				continue
			}
			jobs[id.VJob] = true
			if ok, _ := room.Take(id.VJob); ok {
				s.want(cluster.VMRunning, id.VJob)
			} else {
				s.want(cluster.VMTerminated, id.VJob)
			}
		}
		plans++
		if _, err := (ctxswitch.Repacker{}).Plan(s.Problem); err != nil {
			none++
		}
	})
	if (none-chance)*100 > plans {
		t.Errorf("%d of %d choices of the packing cannot be planned", none, plans)
	}
}

// big is a cluster with four running VMs on most nodes, and vjobs of four VMs that
// wait.
func big(nodes, vjobs int) (*scene, []queue.Job) {
	s := newScene()
	rng := rand.New(rand.NewPCG(1, uint64(nodes)))
	name := func(i int) cluster.NodeID { return cluster.NodeID(fmt.Sprintf("n%04d", i)) }
	for i := range nodes {
		s.node(name(i), 8, 32)
	}
	jobs := make([]queue.Job, vjobs)
	for j := range jobs {
		jobs[j].VJob = &cluster.VJob{ID: cluster.VJobID(j + 1)}
		for rank := range 4 {
			id := cluster.VMID{VJob: cluster.VJobID(j + 1), Rank: rank}
			need := size(float64(1+rng.IntN(3)), float64(1+rng.IntN(8)))
			host := name(rng.IntN(nodes))
			if j < vjobs/2 && need.Fits(s.Current.Free(host)) {
				s.running(id.String(), float64(need.CPU)/1000, float64(need.Memory)/1024, host)
				jobs[j].State = cluster.Running
			} else {
				s.waiting(id.String(), float64(need.CPU)/1000, float64(need.Memory)/1024)
			}
		}
	}
	return s, jobs
}

// A scheduling pass: which of the vjobs run on the nodes.
func BenchmarkPass(b *testing.B) {
	for _, load := range []int{1, 2, 4} { // 1 nearly fits, 4 is a long queue
		const vjobs = 1000
		nodes := vjobs / load
		b.Run(fmt.Sprintf("vjobs=%d/nodes=%d", vjobs, nodes), func(b *testing.B) {
			s, jobs := big(nodes, vjobs)
			stock := s.stock()
			for b.Loop() {
				queue.FirstFit{}.Select(&queue.Input{Jobs: jobs, Capacity: func() queue.Capacity { return ctxswitch.NewPacking(stock) }})
			}
		})
	}
}

// A plan for a cluster in which a tenth of the nodes is drained, a tenth of the
// vjobs is suspended and as many boot.
func BenchmarkRepacker(b *testing.B) {
	for _, nodes := range []int{10, 100, 1000} {
		b.Run(fmt.Sprintf("nodes=%d", nodes), func(b *testing.B) {
			s, jobs := big(nodes, nodes)
			for i, n := range s.Current.Nodes() {
				if i%10 == 0 {
					s.state(n.ID, cluster.Draining)
				}
			}
			room := ctxswitch.NewPacking(s.stock())
			for i, j := range jobs {
				running := true
				for rank := range 4 {
					_, runs := s.Current.Host(cluster.VMID{VJob: j.ID, Rank: rank})
					running = running && runs
				}
				if running && i%10 == 0 {
					s.want(cluster.VMSleeping, j.ID)
				} else if ok, _ := room.Take(j.ID); ok && (running || i > len(jobs)/2) {
					s.want(cluster.VMRunning, j.ID)
				}
			}
			for b.Loop() {
				plan, err := ctxswitch.Repacker{}.Plan(s.Problem)
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(len(plan.Actions)), "actions")
			}
		})
	}
}

// Full nodes with VMs that change places in pairs: every cycle needs a suspension.
func BenchmarkRepackerCircles(b *testing.B) {
	for _, nodes := range []int{10, 100, 1000} {
		b.Run(fmt.Sprintf("nodes=%d", nodes), func(b *testing.B) {
			s := newScene()
			name := func(i int) cluster.NodeID { return cluster.NodeID(fmt.Sprintf("n%04d", i)) }
			for i := range nodes {
				s.node(name(i), 4, 8)
				id := cluster.VMID{VJob: cluster.VJobID(i + 1)}
				s.running(id.String(), 4, 8, name(i)).fence(id.String(), name(i^1)).want(cluster.VMRunning, id.VJob)
			}
			for b.Loop() {
				if _, err := (ctxswitch.Repacker{}).Plan(s.Problem); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// What is dropped leaves its room to others, and to itself.
func TestPackingDrop(t *testing.T) {
	s := newScene().node("n1", 2, 2).node("n2", 2, 2).running("1.0", 1, 1, "n1").waiting("2.0", 2, 2).waiting("3.0", 2, 2).pin("1.0")
	room := ctxswitch.NewPacking(s.stock())
	for _, id := range []cluster.VJobID{2, 3, 2} {
		if ok, short := room.Take(id); !ok {
			t.Fatalf("vjob %s does not fit: %s", id, short)
		}
		placed := maps.Collect(room.Placed())
		if len(placed) != 2 || placed[cluster.VMID{VJob: 1}] != 0 || placed[cluster.VMID{VJob: id}] != 1 {
			t.Errorf("with vjob %s: %v", id, placed)
		}
		if ok, _ := room.Take(5 - id); ok {
			t.Errorf("vjob %s fits beside vjob %s", 5-id, id)
		}
		room.Drop(id)
	}
}
