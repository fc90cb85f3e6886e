// Package problem prepares an instance for search: flat arrays of demands, capacities and
// costs, and the rules sorted by the VMs and nodes that they concern.
//
// A [Problem] does not change during a search. The guards, watches and gates of its rules
// do, so every search needs a problem of its own.
package problem

import (
	"fmt"
	"slices"
	"strings"

	"vjob/repack"
)

// Problem is an instance in the form in which it is searched: flat arrays, and the
// rules sorted by what they concern. It does not change during a search.
type Problem struct {
	In        *repack.Instance // amended
	Abort     func() bool      // see [Options]
	Objective repack.Objective
	Dims      int
	Room      []int64 // capacity, node by node
	Now       []int64 // demands, VM by VM
	Next      []int64
	Average   []int64 // capacity of an open node, by dimension
	Bulk      []int64 // how much of an average node each VM takes, in millionths; at least 1
	Scarcity  []int64 // share of the capacity that is asked for, in millionths
	OpenNodes []int   // the open nodes
	racks     [][]int // likewise, of each rack that has an uplink; nil: there is none
	Residents [][]int // VMs whose home each node is
	AtStart   [][]int // VMs that run on each node at first
	// Open nodes may host something at the end.
	Open []bool
	// Home is where a VM would stay or be resumed locally; Nowhere for others.
	Home []int
	// AwayCost is how long the action of a VM takes on any node but home.
	AwayCost []int64 // weighted
	// HomeCost is how long it takes at home, weighted.
	HomeCost []int64
	// DepartureTime is how long the action takes at least that takes a VM from its host.
	DepartureTime []repack.Ticks

	Banned           []*NodeSet // nodes on which a VM must not end; nil: none
	BannedAlways     []*NodeSet // nodes on which it must never be
	Rooted           []bool     // may not migrate
	MigrationPenalty []int64    // what it costs in soft rules that a VM migrates; part of far
	Uncounted        bool       // there are soft rules that no guard counts

	Guards        []PostedGuard // all, by number
	GuardsOfVM    [][]int       // guards by VM
	GuardsOfNode  [][]int       // guards that concern any VM on some nodes
	GlobalGuards  []int         // guards that concern every move
	Watches       []Watch
	WatchesOfVM   [][]int // watches by VM
	WatchesOfNode [][]int // watches that concern any VM on some nodes
	GlobalWatches []int   // watches that concern everything
	Gates         []gate
	GatesOf       map[int][]int
	Limits        []Limit
	sets          nodeSetCache
	Deadlines     map[int]dueTimes
	SyncSets      []togetherSet
	Synced        []bool // VMs in such a set
	GangOf        []int  // of each VM; -1
	KeepsImage    []bool // nodes on which a VM sleeps at the end
	Wanted        []int  // VMs that run at the end or may
}

// PostedGuard is a guard with what a breach costs; 0: it is a hard one.
type PostedGuard struct {
	repack.Guard
	Penalty int64
	Nodes   *NodeSet // nil: moves between any nodes concern it
	Rule    repack.Rule
}

type Watch struct {
	repack.Watch
	Nodes *NodeSet // nil: all
	Scope repack.Scope
	Rule  repack.Rule
}

type gate struct {
	repack.Gate
	VMs []int
}

// Limit is how many of some nodes may be on.
type Limit struct {
	Nodes  []int
	Most   int
	Always bool
	Rule   repack.Rule
}

type dueTimes struct{ Start, End repack.Ticks }

type togetherSet struct {
	VMs   []int
	AtEnd bool
}

// New is the model of an amended instance. The rules are posted on it, so
// each search has a model of its own.
func New(in *repack.Instance, aim repack.Objective) *Problem {
	m := &Problem{
		In: in, Objective: aim, Dims: len(in.Dims),
		Room: make([]int64, len(in.Nodes)*len(in.Dims)),
		Now:  make([]int64, len(in.VMs)*len(in.Dims)),
		Next: make([]int64, len(in.VMs)*len(in.Dims)),
		Open: make([]bool, len(in.Nodes)), AtStart: make([][]int, len(in.Nodes)),
		Residents: make([][]int, len(in.Nodes)),
		Home:      make([]int, len(in.VMs)),
		AwayCost:  make([]int64, len(in.VMs)), HomeCost: make([]int64, len(in.VMs)),
		DepartureTime: make([]repack.Ticks, len(in.VMs)),
		Banned:        make([]*NodeSet, len(in.VMs)), BannedAlways: make([]*NodeSet, len(in.VMs)),
		Rooted: make([]bool, len(in.VMs)), MigrationPenalty: make([]int64, len(in.VMs)),
		GuardsOfVM: make([][]int, len(in.VMs)), GuardsOfNode: make([][]int, len(in.Nodes)),
		WatchesOfVM: make([][]int, len(in.VMs)), WatchesOfNode: make([][]int, len(in.Nodes)),
		sets: nodeSetCache{}, GatesOf: map[int][]int{}, Deadlines: map[int]dueTimes{},
		GangOf: make([]int, len(in.VMs)), Synced: make([]bool, len(in.VMs)), KeepsImage: make([]bool, len(in.Nodes)),
	}
	for n := range in.Nodes {
		copy(m.Room[n*m.Dims:], in.Nodes[n].Capacity)
		m.Open[n] = opens(&in.Nodes[n])
	}
	for vm := range in.VMs {
		m.addVM(vm)
	}
	m.measure()
	for g, vms := range in.Gangs {
		for _, vm := range vms {
			m.GangOf[vm] = g
		}
	}
	for _, r := range in.Rules {
		_, amends := r.Rule.(repack.Amender)
		m.Uncounted = m.Uncounted || amends && r.Penalty > 0
		r.Post(&poster{Problem: m, rule: r.Rule, penalty: r.Penalty})
	}
	return m
}

// measure sets demand against capacity.
func (m *Problem) measure() {
	m.Average = make([]int64, m.Dims)
	for n := range m.Open {
		if !m.Open[n] {
			continue
		}
		m.OpenNodes = append(m.OpenNodes, n)
		if net := m.In.Network; net != nil && m.In.Nodes[n].Rack < len(net.Uplink) {
			if m.racks == nil {
				m.racks = make([][]int, len(net.Uplink))
			}
			m.racks[m.In.Nodes[n].Rack] = append(m.racks[m.In.Nodes[n].Rack], n)
		}
		for d := range m.Dims {
			m.Average[d] += m.Room[n*m.Dims+d]
		}
	}
	for d := range m.Dims {
		m.Average[d] /= int64(max(1, len(m.OpenNodes)))
	}
	asked := make([]int64, m.Dims)
	for _, vm := range m.Wanted {
		for d := range asked {
			asked[d] += m.Next[vm*m.Dims+d]
		}
	}
	m.SetScarcity(asked)
	m.Bulk = make([]int64, len(m.In.VMs))
	for vm := range m.Bulk {
		m.Bulk[vm] = 1
		for d := range m.Dims {
			if m.Average[d] > 0 {
				m.Bulk[vm] += int64(1_000_000 * float64(m.Next[vm*m.Dims+d]) / float64(m.Average[d]))
			}
		}
	}
}

// SetScarcity says what is scarce if so much is asked for.
func (m *Problem) SetScarcity(asked []int64) {
	m.Scarcity = make([]int64, m.Dims)
	for d := range m.Scarcity {
		var sum int64
		for _, n := range m.OpenNodes {
			sum += m.Room[n*m.Dims+d]
		}
		if sum > 0 {
			m.Scarcity[d] = int64(1_000_000 * float64(asked[d]) / float64(sum))
		}
	}
}

// opens reports whether something may run on the node at the end: it stays or
// comes on, or may be switched on for the purpose.
func opens(n *repack.Node) bool { return n.Want != repack.Offline }

func (m *Problem) addVM(vm int) {
	v := &m.In.VMs[vm]
	copy(m.Now[vm*m.Dims:], v.Now)
	copy(m.Next[vm*m.Dims:], v.Next)
	m.DepartureTime[vm] = m.shortestDeparture(vm)
	m.Home[vm], m.GangOf[vm] = repack.Nowhere, -1
	if v.State == repack.Running {
		m.AtStart[v.Host] = append(m.AtStart[v.Host], vm)
	}
	if v.Want == repack.Sleeping && v.Host != repack.Nowhere {
		m.KeepsImage[v.Host] = true
	}
	if v.Want != repack.Running {
		return
	}
	m.Wanted = append(m.Wanted, vm)
	if v.State == repack.Running || v.State == repack.Sleeping {
		m.Home[vm] = v.Host
		m.Residents[v.Host] = append(m.Residents[v.Host], vm)
		m.HomeCost[vm] = m.actionCost(vm, v.Host)
	}
	m.AwayCost[vm] = m.actionCost(vm, repack.Nowhere)
	m.Rooted[vm] = v.Stays || m.NeverConverges(vm)
}

// actionCost is what the action costs in the objective that brings a VM to a node.
func (m *Problem) actionCost(vm, node int) int64 {
	v, takes := &m.In.VMs[vm], m.Duration(vm, node)
	switch {
	case m.Objective == repack.Migrations && v.State != repack.Running, takes == 0:
		return 0
	case m.Objective == repack.Migrations:
		return 1
	case m.Objective == repack.Moved:
		return v.Moved(node)
	default:
		return v.Weight * int64(takes)
	}
}

// WaitCost is what waiting for a tick costs a VM in the objective.
func (m *Problem) WaitCost(vm int) int64 {
	if m.Objective == repack.Migrations || m.Objective == repack.Moved {
		return 0
	}
	return m.In.VMs[vm].Weight
}

// Ready is when a node can take VMs at the earliest.
func (m *Problem) Ready(node int) repack.Ticks {
	if m.In.Nodes[node].State == repack.Offline {
		return m.In.NodeOn
	}
	return 0
}

// PlaceCost is what it takes at least to have the VM on a node.
func (m *Problem) PlaceCost(vm, node int) int64 {
	switch {
	case node == m.Home[vm]:
		return m.HomeCost[vm]
	case m.In.Network != nil:
		return m.actionCost(vm, node) + m.MigrationPenalty[vm]
	default:
		return m.AwayCost[vm]
	}
}

// Allows reports whether no single rule keeps the VM from ending on the node.
func (m *Problem) Allows(vm, node int) bool {
	if !m.Open[node] || m.Banned[vm].Has(node) {
		return false
	}
	return node == m.Home[vm] || m.In.VMs[vm].State != repack.Running || !m.Rooted[vm] && m.Converges(vm, node)
}

// MayPass reports whether the VM may be on the node for a while.
func (m *Problem) MayPass(vm, node int) bool {
	return m.In.Nodes[node].State == repack.Online && !m.BannedAlways[vm].Has(node)
}

var _ repack.Board = (*poster)(nil)

// Aborted reports whether not even a first plan is waited for any more.
func (m *Problem) Aborted() bool { return m.Abort != nil && m.Abort() }

// Suspendable reports whether the VM may sleep for a while on its way.
func (m *Problem) Suspendable(v *repack.VM) bool { return v.Keeps() && v.Sleepable && !v.Stays }

// Dedicated is a rule that wants nodes for some VMs and no others. Which nodes is
// the choice that matters most; the guard sees only one VM at a time.
type Dedicated interface{ Dedicated() []int }

// Apart is a rule that lets no two of some VMs end on one node.
type Apart interface{ Apart() []int }

// Never is a cost that is not to be paid.
const Never = 1 << 50

// DemandText is what a VM asks for, in words.
func (m *Problem) DemandText(vm int) string {
	words := make([]string, m.Dims)
	for d := range words {
		words[d] = fmt.Sprintf("%d %s", m.Next[vm*m.Dims+d], m.In.Dims[d])
	}
	return strings.Join(words, ", ")
}

// shortestDeparture is how long the action takes at least that takes a VM from its host.
func (m *Problem) shortestDeparture(vm int) repack.Ticks {
	v := &m.In.VMs[vm]
	switch v.Want {
	case repack.Running:
		return m.MinDuration(vm, repack.Migrate)
	case repack.Sleeping:
		return v.Takes.Suspend
	default:
		return v.Takes.Shutdown
	}
}

// SmithRatio says when a VM goes among those who wait for the same room: what takes
// little time for its weight goes first.
func (m *Problem) SmithRatio(vm int, takes repack.Ticks) int64 {
	return int64(takes) * 16 / max(1, m.In.VMs[vm].Weight)
}

// RestrictTo leaves only some nodes to end on.
func (m *Problem) RestrictTo(keep []bool) {
	for n := range m.Open {
		m.Open[n] = m.Open[n] && keep[n]
	}
	m.OpenNodes = slices.DeleteFunc(m.OpenNodes, func(n int) bool { return !m.Open[n] })
}

// MaxReasons is how many reasons of one sort are worth reading.
const MaxReasons = 5
