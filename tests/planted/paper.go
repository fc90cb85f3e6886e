package planted

import (
	"fmt"
	"math/rand/v2"

	"vjob/repack"
)

// PaperOptions say how large a problem in the manner of the paper is.
type PaperOptions struct {
	Nodes int
	Ratio int // VMs per node
	Seed  uint64
}

// What section 5 of the paper says of nodes and VMs, in tenths of a uCPU and of a
// GB. With the 150 uCPU per node that are printed there, nothing would ever be
// overloaded; with 22 about 70 % is in use at five VMs per node, which is what it
// says of its load.
const (
	rack    = 50
	nodeCPU = 220
	nodeMem = 800
	members = 20 // VMs of an application: tiers of 5, 10 and 5
)

type flavor struct {
	cpu, mem int64
	migrate  repack.Ticks // a second per GB
}

var (
	large  = flavor{40, 75, 8}
	xlarge = flavor{65, 171, 18}
)

// Paper makes a problem as the paper does: racks of 50 nodes, applications of three
// tiers, half of which ask for all the CPU that they may have; 4 % of the VMs are to
// be booted or resumed, 2 % of those that run stopped or suspended, and 1 % of the
// nodes taken off. Tiers are numbered through by [Tiers]. There is no promise that
// a plan exists.
func Paper(o PaperOptions) (*repack.Instance, error) {
	s := &site{
		rng: rand.New(rand.NewPCG(o.Seed, uint64(o.Nodes*o.Ratio))),
		in:  &repack.Instance{Name: fmt.Sprintf("paper-%d-%d", o.Nodes, o.Ratio), Dims: []string{"cpu", "mem"}, NodeOff: 1, NodeOn: 1},
	}
	for n := range o.Nodes {
		s.in.Nodes = append(s.in.Nodes, repack.Node{Capacity: []int64{nodeCPU, nodeMem}, Rack: n / rack})
		s.free = append(s.free, [2]int64{nodeCPU, nodeMem})
	}
	for _, n := range s.rng.Perm(o.Nodes)[:max(1, o.Nodes/100)] {
		s.in.Nodes[n].Want = repack.Offline
	}
	for range o.Nodes * o.Ratio / members {
		if err := s.application(); err != nil {
			return nil, err
		}
	}
	return s.in, nil
}

// Tiers are the VMs of each tier of a problem that [Paper] has made.
func Tiers(in *repack.Instance) (tiers [][]int) {
	for vm := 0; vm < len(in.VMs); vm += members {
		for _, part := range [...][2]int{{0, 5}, {5, 15}, {15, members}} {
			var tier []int
			for i := part[0]; i < part[1]; i++ {
				tier = append(tier, vm+i)
			}
			tiers = append(tiers, tier)
		}
	}
	return tiers
}

type site struct {
	rng  *rand.Rand
	in   *repack.Instance
	free [][2]int64
}

// application adds the VMs of one, no two of a tier on one node.
func (s *site) application() error {
	grows := s.rng.IntN(2) == 0
	taken := map[int]bool{}
	for i := range members {
		if i == 5 || i == 15 {
			clear(taken)
		}
		f := large
		if i >= 15 {
			f = xlarge
		}
		if err := s.vm(f, grows, taken); err != nil {
			return err
		}
	}
	return nil
}

func (s *site) vm(f flavor, grows bool, taken map[int]bool) error {
	now := f.cpu/4 + s.rng.Int64N(f.cpu/4+1)
	v := repack.VM{
		State: repack.Running, Want: repack.Running, Host: repack.Nowhere,
		Now: []int64{now, f.mem}, Next: []int64{now, f.mem}, Weight: 1,
		Takes: repack.Durations{Boot: 1, Shutdown: 2, Suspend: 4, ResumeLocal: 5, ResumeRemote: 6, Migrate: f.migrate},
	}
	if grows {
		v.Next[0] = f.cpu
	}
	switch chance := s.rng.IntN(10_000); {
	case chance < 200:
		v.State = repack.Ready
	case chance < 400:
		v.State = repack.Sleeping
	case chance < 496: // 1 % of those that run
		v.Want = repack.Ready
	case chance < 592:
		v.Want = repack.Sleeping
	}
	if err := s.settle(&v, taken); err != nil {
		return err
	}
	s.in.VMs = append(s.in.VMs, v)
	return nil
}

// settle finds a node for what runs, and one that stays on for what sleeps.
func (s *site) settle(v *repack.VM, taken map[int]bool) error {
	if v.State == repack.Ready {
		return nil
	}
	asleep := v.State == repack.Sleeping || v.Want == repack.Sleeping
	for range 10_000 {
		n := s.rng.IntN(len(s.in.Nodes))
		room := &s.free[n]
		if taken[n] || asleep && s.in.Nodes[n].Want == repack.Offline {
			continue
		}
		if v.State == repack.Running {
			if room[0] < v.Now[0] || room[1] < v.Now[1] {
				continue
			}
			room[0], room[1] = room[0]-v.Now[0], room[1]-v.Now[1]
		}
		v.Host, taken[n] = n, true
		return nil
	}
	return fmt.Errorf("%d nodes have no room for %d VMs", len(s.in.Nodes), len(s.in.VMs)+1)
}
