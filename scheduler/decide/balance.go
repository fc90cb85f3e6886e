package decide

import (
	"fmt"
	"slices"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/queue"
	"vjob/scheduler/balance"
)

// BalanceRequest asks whether running VMs should leave crowded nodes, when nothing else is to be done.
type BalanceRequest struct {
	balance.Settings
	// Fill is the part of a node that may be in use, from 0 to 1: a node with more is over its capacity.
	Fill float64
	// Uses returns the CPU that a VM demanded when it was last observed, and what it demanded least and most in the
	// last hour.
	Uses func(vm cluster.VMID) (now, least, most cluster.MilliCPU)
	// Traffic makes the network count beside CPU and memory, where links are stated and VMs use them. Nil: it does not.
	Traffic Traffic
	// Entitled returns what a VM should get by the pools, if that is known. Nil: what it demands, scaled down if all
	// demand more than there is.
	Entitled func(vm cluster.VMID) (cpu cluster.MilliCPU, known bool)
	// Left returns the nodes that a VM has left, and when. May be nil.
	Left func(vm cluster.VMID) map[cluster.NodeID]time.Time
	// Keeps reports whether a VM stays for other reasons. May be nil.
	Keeps func(vm cluster.VMID) bool
	// Split searches for the moves of manual vjobs, which wait for approval, after the others: they become Waiting.
	// Otherwise all moves are found alike.
	Split bool
}

// Balancing is the result of one search, and its effects.
type Balancing struct {
	Plan  ctxswitch.Plan
	Caps  map[cluster.VJobID][]cluster.MilliCPU // as in [Decision]
	Moves []BalanceMove                         // in order
	// Waiting are the moves that help after Moves and wait for approval. Their After counts among them.
	Waiting []BalanceMove
	Before  balance.Imbalance
	After   balance.Imbalance
	Loads   []NodeLoad // of the nodes, before and after the moves
	Held    []HeldNode // nodes that stay crowded, and why
	Nodes   int        // that were balanced
	VMs     int
	Why     string // why there is no plan, or no further move
}

// BalanceMove is a move, what it brings and what it costs.
type BalanceMove struct {
	cluster.Move
	Gain          float64       // by how much the imbalance falls
	Benefit, Cost time.Duration // CPU time
	Reason        string
	After         []int // moves that make room for it, by index
	Set           int   // moves with the same number, from 1, help only together; 0 is a single move
}

// NodeLoad is the load of a node: what its VMs are entitled to over what it has, 1 for all of it.
type NodeLoad struct {
	Node        cluster.NodeID
	CPU, Memory [2]float64  // before and after the moves
	Network     *[2]float64 // the same of its link; nil if its link is not stated or no VM uses the network
}

// HeldNode is a node that stays crowded.
type HeldNode struct {
	Node cluster.NodeID
	Over bool // it is over its capacity
	Why  string
	VMs  []string // what holds each VM there, as text
}

// List returns the moves alone.
func (b *Balancing) List() []cluster.Move { return movesOf(b.Moves) }

func movesOf(moves []BalanceMove) []cluster.Move {
	list := make([]cluster.Move, len(moves))
	for i := range moves {
		list[i] = moves[i].Move
	}
	return list
}

// Balance searches for moves that even out the load of the nodes, and for a plan that carries them out. Only VMs
// that can migrate without a pause are moved.
func (d *Decision) Balance(ask *BalanceRequest) (b Balancing) {
	well := withoutPanic(func() { b = d.final.balance(d, ask) })
	if !well {
		return Balancing{Why: "no decision can be taken with some vjobs"}
	}
	return b
}

func (a *attempt) balance(d *Decision, ask *BalanceRequest) (b Balancing) {
	s, err := a.newBalancer(d, ask)
	if err != nil {
		return Balancing{Why: err.Error()}
	}
	r, err := s.round()
	if err != nil {
		return Balancing{Why: err.Error()}
	}
	b = s.describe(r)
	if len(b.Moves) > 0 {
		out, why := s.plan(b.List())
		if why != "" {
			b.Why = why
			return b
		}
		b.Plan, b.Caps = out.plan, out.caps
	}
	s.searchManual(&b, r)
	return b
}

// balancer is the outcome of an attempt as package balance sees it: nodes and VMs by index.
type balancer struct {
	relocation
	*BalanceRequest
	model   balance.Cluster
	nodes   []cluster.NodeID
	number  []int // of the nodes, from 1, by their index in the configuration; 0: it is not one of them
	vms     []cluster.VMID
	allowed *ctxswitch.AllowedNodes // nil without rules
	manual  map[int]bool            // VMs that may move, once that is approved
	at      map[int]int             // nodes of the VMs that the round has moved
	away    map[int]int             // how many VMs of each rule group are elsewhere
	// forbidden are VMs and nodes to which they may not move, since too little would be left for the loss of nodes.
	forbidden map[[2]int]bool
}

func (a *attempt) newBalancer(d *Decision, ask *BalanceRequest) (*balancer, error) {
	s := &balancer{
		relocation: a.newRelocation(d), BalanceRequest: ask, manual: map[int]bool{}, at: map[int]int{},
		away: map[int]int{}, forbidden: map[[2]int]bool{},
	}
	if len(a.trial.rules) > 0 || len(a.trial.avoid) > 0 || len(a.trial.incompatible) > 0 {
		var err error
		if s.allowed, err = ctxswitch.NewAllowedNodes(s.problem); err != nil {
			return nil, err
		}
		s.model.Compatible, s.model.Moved = s.compatible, s.noteMove
	}
	nodes := a.trial.current.Nodes()
	s.number, s.nodes, s.model.Nodes = make([]int, len(nodes)), make([]cluster.NodeID, 0, len(nodes)), make([]balance.Node, 0, len(nodes))
	for i := range nodes {
		if n := &nodes[i]; n.Hosts() && n.Capacity.CPU > 0 && !a.supply.Off[n.ID] {
			s.nodes, s.model.Nodes = append(s.nodes, n.ID), append(s.model.Nodes, s.node(n))
			s.number[i] = len(s.nodes)
		}
	}
	running := s.trial.current.Size()
	s.vms, s.model.VMs = make([]cluster.VMID, 0, running), make([]balance.VM, 0, running)
	for i := range a.VJobs {
		s.addVJob(i)
	}
	s.weighNetwork()
	s.entitle()
	return s, nil
}

// node returns a node without what claims and paused VMs use.
func (s *balancer) node(n *cluster.Node) balance.Node {
	other := s.trial.claims[n.ID]
	for _, vm := range s.trial.current.On(n.ID) {
		if _, runs := s.trial.current.Host(vm); !runs {
			other = other.Plus(s.trial.current.Need(vm).Paused())
		}
	}
	free := n.Capacity.Minus(other)
	return balance.Node{Name: string(n.ID), Capacity: balance.Amounts{
		balance.CPU: max(1, int64(s.Fill*float64(free.CPU))), balance.Memory: max(1, int64(free.Memory)),
	}}
}

// indexOf returns the index of a node.
func (s *balancer) indexOf(id cluster.NodeID) (n int, known bool) {
	i, known := s.trial.current.Index(id)
	if !known || s.number[i] == 0 {
		return 0, false
	}
	return s.number[i] - 1, true
}

// addVJob adds the running VMs of a vjob.
func (s *balancer) addVJob(report int) {
	r := &s.VJobs[report]
	fixed := ""
	switch {
	case r.Job.Container:
		fixed = "it is a container"
	case r.Busy():
		fixed = "its vjob is changing"
	case s.quarantined[r.Job.ID] != "":
		fixed = "its vjob is set aside"
	case s.verdicts[report].Target != queue.Run:
		fixed = "its vjob is to stop"
	case r.Job.Moves == cluster.MovesNever:
		fixed = heldByOwner
	case s.left(report, s.Horizon) < s.Horizon/2:
		fixed = "its vjob is expected to end before a move pays"
	}
	for k := range r.Job.VMs {
		vm := r.Job.VMs[k].ID
		at, runs := s.trial.current.Host(vm)
		n, known := s.indexOf(at)
		if !runs || !known {
			continue
		}
		v := s.vm(vm, n, fixed)
		if s.Split && r.Job.Moves == cluster.MovesManual && v.Fixed == "" {
			s.manual[len(s.vms)] = true
			v.Fixed = waitsForApproval
		}
		s.vms = append(s.vms, vm)
		s.model.VMs = append(s.model.VMs, v)
	}
}

// vm returns a running VM. Its memory is what it reserves: it is always counted in full.
func (s *balancer) vm(vm cluster.VMID, node int, fixed string) balance.VM {
	need := s.trial.current.Need(vm)
	now, least, most := s.Uses(vm)
	memory := int64(need.Memory)
	v := balance.VM{
		Name: vm.String(), Node: node, Fixed: fixed,
		Demand: balance.Amounts{balance.CPU: int64(now), balance.Memory: memory},
		Least:  balance.Amounts{balance.CPU: int64(least), balance.Memory: memory}, Most: balance.Amounts{balance.CPU: int64(most), balance.Memory: memory},
		Reserved:  balance.Amounts{balance.CPU: int64(need.CPU), balance.Memory: memory},
		Migration: s.costs.Duration(cluster.Migrate, need.Memory, s.nodes[node], ""), Size: memory,
	}
	switch {
	case fixed != "":
	case s.problem.Pinned[vm]:
		v.Fixed = "it cannot be moved now"
	case !s.trial.live[vm]:
		v.Fixed = "it holds no lock, and would have to be paused"
	case s.Keeps != nil && s.Keeps(vm):
		v.Fixed = "it was moved lately"
	case s.allowed != nil && s.allowed.Stays(vm):
		v.Fixed = "rules keep it there"
	}
	if s.Left != nil {
		for id, at := range s.Left(vm) {
			if n, known := s.indexOf(id); known {
				v.Left = append(v.Left, balance.Visit{Node: n, Ago: s.facts.Now.Sub(at)})
			}
		}
		slices.SortFunc(v.Left, func(x, y balance.Visit) int { return x.Node - y.Node })
	}
	return v
}

// entitle sets what VMs should get: with more demand than capacity each gets a part in proportion to its demand, unless
// pools say otherwise.
func (s *balancer) entitle() {
	demand, capacity := int64(0), int64(0)
	for i := range s.model.VMs {
		demand += s.model.VMs[i].Demand[balance.CPU]
	}
	for i := range s.model.Nodes {
		capacity += s.model.Nodes[i].Capacity[balance.CPU]
	}
	for i := range s.model.VMs {
		v := &s.model.VMs[i]
		v.Entitlement = v.Demand
		if demand > capacity {
			v.Entitlement[balance.CPU] = int64(float64(v.Demand[balance.CPU]) * float64(capacity) / float64(demand))
		}
		if s.Entitled == nil {
			continue
		}
		if cpu, known := s.Entitled(s.vms[i]); known {
			v.Entitlement[balance.CPU] = int64(cpu)
		}
	}
}

// compatible returns why rules forbid VMs on a node. Of the VMs that one rule concerns one may move, to where the
// rule holds while the others stay.
func (s *balancer) compatible(vms []int, node int) string {
	for _, i := range vms {
		if s.forbidden[[2]int{i, node}] {
			return "the loss of a node could not be made up for (policy.failover)"
		}
		if s.leavesLinks(i, node) {
			return "its link is not stated (network.nic), and the VM uses the network"
		}
		if s.allowed == nil {
			continue
		}
		vm, to := s.vms[i], s.nodes[node]
		if !s.allowed.Allows(vm, to) || !s.allowed.Fits(vm, to) {
			return "rules forbid it there"
		}
		if group, tied := s.allowed.Group(vm, true); tied && s.away[group] > 0 {
			return "another VM of the same rule moves"
		}
	}
	return ""
}

// noteMove counts the VMs of each rule group that are elsewhere.
func (s *balancer) noteMove(vm, _, to int) {
	if s.allowed == nil {
		return
	}
	group, tied := s.allowed.Group(s.vms[vm], true)
	if !tied {
		return
	}
	home := s.model.VMs[vm].Node
	if at, moved := s.at[vm]; moved && at != home {
		s.away[group]--
	}
	if s.at[vm] = to; to != home {
		s.away[group]++
	}
}

// describe lists the moves and the nodes that stay crowded.
func (s *balancer) describe(r *balance.Round) Balancing {
	b := Balancing{Before: r.Before, After: r.After, Nodes: len(s.nodes), VMs: len(s.vms), Why: r.Why, Loads: make([]NodeLoad, 0, len(s.nodes))}
	for n := range r.Loads {
		l := &r.Loads[n]
		b.Loads = append(b.Loads, NodeLoad{
			Node: s.nodes[n], CPU: [2]float64{l.Before[balance.CPU], l.After[balance.CPU]}, Memory: [2]float64{l.Before[balance.Memory], l.After[balance.Memory]},
			Network: s.networkLoad(n, l),
		})
	}
	b.Moves = s.moves(r)
	for _, h := range r.Held {
		held := HeldNode{Node: s.nodes[h.Node], Over: h.Over, Why: h.Why}
		for _, f := range h.Refused {
			held.VMs = append(held.VMs, fmt.Sprintf("%s: %s", s.vms[f.VM], f.Reason))
		}
		b.Held = append(b.Held, held)
	}
	return b
}

// moves returns the moves of a round. There are no groups: each moves one VM.
func (s *balancer) moves(r *balance.Round) (list []BalanceMove) {
	seconds := func(e balance.Effort) time.Duration {
		return time.Duration(e[balance.CPU] / float64(cluster.CPU) * float64(time.Second))
	}
	for i := range r.Moves {
		m := &r.Moves[i]
		list = append(list, BalanceMove{
			Move: cluster.Move{VM: s.vms[m.VMs[0]], From: s.nodes[m.From], To: s.nodes[m.To]},
			Gain: m.Gain, Benefit: seconds(m.Benefit), Cost: seconds(m.Cost), Reason: m.Reason, After: m.After, Set: m.Set,
		})
	}
	return list
}
