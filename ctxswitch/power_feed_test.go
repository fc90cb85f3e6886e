package ctxswitch_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/energy"
	"vjob/energy/cpushare"
)

// fed is a small cluster under budgets of groups that overlap, some of them nested, and
// vjobs that are content with different parts of their CPU.
type fed struct {
	nodes []cluster.Node
	vms   []cluster.VMID
	need  map[cluster.VMID]cluster.Resources
	feeds ctxswitch.PowerFeeds
}

func newFed(rng *rand.Rand) *fed {
	f := &fed{need: map[cluster.VMID]cluster.Resources{}, feeds: ctxswitch.PowerFeeds{Least: map[cluster.VMID]int64{}}}
	sites := map[cluster.NodeID]ctxswitch.FeedNode{}
	for n := range 2 + rng.IntN(3) {
		id := cluster.NodeID(fmt.Sprintf("n%d", n))
		capacity := cluster.Resources{CPU: cluster.MilliCPU(1000 * (2 + rng.IntN(3))), Memory: 4096}
		power := energy.Power{Standby: 10, Idle: 100, Full: energy.Watts(200 + 50*rng.IntN(5))}
		if rng.IntN(3) == 0 { // neither a line nor convex
			power.Measured = []energy.Point{{Load: 0.5, Power: power.Idle + (power.Full-power.Idle)*energy.Watts(0.3+0.5*rng.Float64())}}
		}
		f.nodes = append(f.nodes, cluster.Node{ID: id, Capacity: capacity})
		sites[id] = ctxswitch.FeedNode{Node: cpushare.Node{Power: power, CPU: float64(capacity.CPU)}, Sleeps: rng.IntN(4) == 0}
	}
	for g := range 1 + rng.IntN(3) {
		feed := ctxswitch.PowerFeed{Name: fmt.Sprintf("g=%d", g), Nodes: map[cluster.NodeID]ctxswitch.FeedNode{}}
		for _, n := range f.nodes {
			if rng.IntN(3) > 0 {
				feed.Nodes[n.ID] = sites[n.ID]
				feed.Watts += 100 + energy.Watts(rng.IntN(120))
			}
		}
		f.feeds.List = append(f.feeds.List, feed)
	}
	for j := range 2 + rng.IntN(4) {
		cpu, floor := cluster.MilliCPU(1000*(1+rng.IntN(2))), 0.25*float64(1+rng.IntN(4))
		for rank := range 1 + rng.IntN(2) {
			vm := cluster.VMID{VJob: cluster.VJobID(j + 1), Rank: rank}
			f.vms = append(f.vms, vm)
			f.need[vm] = cluster.Resources{CPU: cpu, Memory: 512}
			f.feeds.Least[vm] = int64(1000 * floor * float64(cpu))
		}
	}
	return f
}

// over is the first feed that draws too much when VMs are where they are said to be.
func (f *fed) over(at map[cluster.VMID]cluster.NodeID) string {
	for _, feed := range f.feeds.List {
		sum := energy.Watts(0)
		for id, site := range feed.Nodes {
			load := 0.0
			for vm, n := range at {
				if n == id {
					load += float64(f.feeds.Least[vm]) / 1000
				}
			}
			if site.Sleeps && load == 0 {
				sum += site.Power.Standby
				continue
			}
			sum += site.Draws(load)
		}
		if sum > feed.Watts+0.01 {
			return fmt.Sprintf("%s draws %.2f of %s", feed.Name, float64(sum), feed.Watts)
		}
	}
	return ""
}

// places tries all places for VMs beside those that have theirs.
func (f *fed) places(vms []cluster.VMID, at map[cluster.VMID]cluster.NodeID) bool {
	if len(vms) == 0 {
		return f.over(at) == ""
	}
	for _, n := range f.nodes {
		left := n.Capacity
		for vm, where := range at {
			if where == n.ID {
				left = left.Minus(f.need[vm])
			}
		}
		if f.need[vms[0]].Fits(left) {
			at[vms[0]] = n.ID
			found := f.places(vms[1:], at)
			delete(at, vms[0])
			if found {
				return true
			}
		}
	}
	return false
}

// of are the VMs of vjobs.
func (f *fed) of(ids ...cluster.VJobID) (list []cluster.VMID) {
	for _, vm := range f.vms {
		if slices.Contains(ids, vm.VJob) {
			list = append(list, vm)
		}
	}
	return list
}

// configuration has all VMs waiting.
func (f *fed) configuration() *cluster.Configuration {
	c := cluster.NewConfiguration()
	for _, n := range f.nodes {
		c.SetNode(n)
	}
	for _, vm := range f.vms {
		c.SetWaiting(vm, f.need[vm])
	}
	return c
}

func (f *fed) last() cluster.VJobID { return f.vms[len(f.vms)-1].VJob }

// A room under feeds takes what finds places within them, against all places there are:
// with all vjobs in the packing, and with applicants.
func TestFeedsAgainstAllPlaces(t *testing.T) {
	taken, refused, missed := 0, 0, 0
	for seed := range uint64(1500) {
		f := newFed(rand.New(rand.NewPCG(seed, 41)))
		var line []ctxswitch.Applicant
		at, needs := f.configuration(), f.need
		if seed%2 == 1 {
			for id := cluster.VJobID(1); id <= f.last(); id++ {
				a := ctxswitch.Applicant{VJob: id}
				for _, vm := range f.of(id) {
					a.Needs, a.Total = append(a.Needs, f.need[vm]), a.Total.Plus(f.need[vm])
					at.Remove(vm)
				}
				line = append(line, a)
			}
			needs = nil
		}
		room := ctxswitch.NewPacking(ctxswitch.PackingInput{Current: at, Needs: needs, Applicants: ctxswitch.NewApplicantQueue(line), Feeds: &f.feeds})
		var inside []cluster.VJobID
		for id := cluster.VJobID(1); id <= f.last(); id++ {
			ok, _ := room.Take(id)
			possible := f.places(f.of(append(inside, id)...), map[cluster.VMID]cluster.NodeID{})
			switch {
			case ok && !possible:
				t.Fatalf("seed %d: vjob %d is taken beside %v, and there are no places", seed, id, inside)
			case ok:
				inside = append(inside, id)
				taken++
			case possible:
				missed++
			default:
				refused++
			}
		}
	}
	t.Logf("%d are taken, %d are refused, %d find no places that there are", taken, refused, missed)
	if taken < 2000 || refused < 1000 || missed*50 > taken {
		t.Error("too few of a kind, or too many are missed")
	}
}

// The planner finds places within feeds where there are some, hardly any excepted, leaves those that run
// alone, and says which feed is in the way.
func TestPlansKeepFeeds(t *testing.T) {
	planned, refused, missed := 0, 0, 0
	for seed := range uint64(600) {
		f := newFed(rand.New(rand.NewPCG(seed, 42)))
		p := ctxswitch.Problem{Current: f.configuration(), Costs: ctxswitch.ThesisCosts, Feeds: &f.feeds}
		for id := cluster.VJobID(1); id <= f.last(); id++ {
			p.Gangs = append(p.Gangs, ctxswitch.Goal{VJob: id, Want: cluster.VMRunning})
		}
		plan, err := ctxswitch.Repacker{}.Plan(p)
		switch possible := f.places(f.vms, map[cluster.VMID]cluster.NodeID{}); {
		case err == nil && !possible:
			t.Fatalf("seed %d: there is a plan, and there are no places", seed)
		case err != nil && possible:
			missed++
			continue
		case err != nil:
			refused++
			continue
		}
		planned++
		at := map[cluster.VMID]cluster.NodeID{}
		for _, vm := range f.vms {
			at[vm], _ = plan.Target.Host(vm)
		}
		if why := f.over(at); why != "" {
			t.Fatalf("seed %d: %s", seed, why)
		}
		for i := range f.feeds.List { // the budgets fall below what is drawn
			f.feeds.List[i].Watts = 1
		}
		p.Current = plan.Target
		if again, err := (ctxswitch.Repacker{}).Plan(p); err != nil || !again.Empty() {
			t.Fatalf("seed %d: those that run are to move: %+v, %v", seed, again.Actions, err)
		}
	}
	t.Logf("%d are planned, %d refused, %d missed", planned, refused, missed)
	if planned < 100 || refused < 100 || missed*50 > planned {
		t.Error("too few of a kind, or too many are missed")
	}
}

// The feed that is in the way is named.
func TestFeedInTheWay(t *testing.T) {
	f := &fed{
		nodes: []cluster.Node{{ID: "a", Capacity: cluster.Resources{CPU: 4000, Memory: 4096}}},
		vms:   []cluster.VMID{{VJob: 1}}, need: map[cluster.VMID]cluster.Resources{{VJob: 1}: {CPU: 1000, Memory: 512}},
	}
	site := ctxswitch.FeedNode{Node: cpushare.Node{Power: energy.Power{Idle: 100, Full: 300}, CPU: 4000}}
	f.feeds = ctxswitch.PowerFeeds{
		List:  []ctxswitch.PowerFeed{{Name: "rack=r1", Watts: 140, Nodes: map[cluster.NodeID]ctxswitch.FeedNode{"a": site}}},
		Least: map[cluster.VMID]int64{{VJob: 1}: 1000_000},
	}
	_, short := ctxswitch.NewPacking(ctxswitch.PackingInput{Current: f.configuration(), Needs: f.need, Feeds: &f.feeds}).Take(1)
	if want := "in the way is the power budget of rack=r1, 140 W"; short.String() != want {
		t.Errorf("the room says %q, want %q", short, want)
	}
	_, err := ctxswitch.Repacker{}.Plan(ctxswitch.Problem{
		Current: f.configuration(), Costs: ctxswitch.ThesisCosts, Feeds: &f.feeds,
		Gangs: []ctxswitch.Goal{{VJob: 1, Want: cluster.VMRunning}},
	})
	if err == nil || !strings.Contains(err.Error(), "the power budget of rack=r1, 140 W") {
		t.Errorf("the planner says %v", err)
	}
}
