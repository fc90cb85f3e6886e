package repacking

import (
	"fmt"
	"math/rand/v2"

	"vjob/repack"
)

// SampleOptions are the size of a problem. The same options give the same problem.
type SampleOptions struct {
	Nodes int
	Ratio int // VMs per node
	Seed  uint64
}

// The nodes and VMs of section 5, in tenths of a uCPU and of a GB. The paper prints 150 uCPU per
// node, with which no node could be overloaded. With 22, five VMs per node use about 70 % of
// the CPU, which is the load in the paper.
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

// Sample draws a problem of section 5: racks of 50 nodes, and applications of three tiers, half of
// which ask for all the CPU that they may have. 4 % of the VMs are to be booted or resumed, 2 %
// of the running VMs to be stopped or suspended, and 1 % of the nodes switched off. A problem may
// have no plan.
func Sample(o SampleOptions) (*repack.Instance, error) {
	s := &sampler{
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

// Tiers returns the VMs of each tier of a problem of [Sample].
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

type sampler struct {
	rng  *rand.Rand
	in   *repack.Instance
	free [][2]int64
}

// application adds the VMs of an application, no two of a tier on one node.
func (s *sampler) application() error {
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

func (s *sampler) vm(f flavor, grows bool, taken map[int]bool) error {
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
	case chance < 496: // 1 % of the running VMs
		v.Want = repack.Ready
	case chance < 592:
		v.Want = repack.Sleeping
	}
	if err := s.place(&v, taken); err != nil {
		return err
	}
	s.in.VMs = append(s.in.VMs, v)
	return nil
}

// place chooses the host of a running VM, or the node of the image of a suspended VM, which stays
// on.
func (s *sampler) place(v *repack.VM, taken map[int]bool) error {
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
	return fmt.Errorf("nodes: %d have no room for %d VMs", len(s.in.Nodes), len(s.in.VMs)+1)
}
