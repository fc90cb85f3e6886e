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

	"vjob/internal/sparse"
	"vjob/repack"
)

// Problem is an instance in the form in which it is searched.
type Problem struct {
	vectors
	hosts
	costs
	restrictions
	posted

	In        *repack.Instance // amended
	Abort     func() bool      // see Options of package solve
	Objective repack.Objective
	Wanted    []int // VMs that must or may run at the end
	GangOf    []int // by VM; -1 for none
}

// vectors are capacities and demands.
type vectors struct {
	Dims     int
	Room     []int64 // capacity, by node and dimension
	Now      []int64 // demands, by VM and dimension
	Next     []int64
	Average  []int64 // capacity of an average open node, by dimension
	Bulk     []int64 // how much of an average node each VM takes, in millionths; at least 1
	Scarcity []int64 // demand divided by capacity, by dimension, in millionths
}

// hosts are where VMs are, and the nodes that may host them.
type hosts struct {
	Open       []bool            // nodes that may host VMs at the end
	OpenNodes  []int             // in order
	racks      [][]int           // the open nodes of each rack that has an uplink; may be nil
	Home       []int             // where a VM would stay or be resumed locally; Nowhere for others
	Residents  sparse.Lists[int] // VMs by their home
	AtStart    sparse.Lists[int] // VMs that run on each node at first
	KeepsImage []bool            // nodes on which a VM sleeps at the end
}

// costs are what actions cost, by VM.
type costs struct {
	AwayCost         []int64        // duration of the action on any node but the home, weighted
	HomeCost         []int64        // duration at home, weighted
	MigrationPenalty []int64        // soft penalty if a VM migrates; part of AwayCost
	DepartureTime    []repack.Ticks // least duration of the action that removes a VM from its host
}

// restrictions are the rules on single VMs.
type restrictions struct {
	Banned       []*NodeSet // nodes on which a VM must not end; may be nil
	BannedAlways []*NodeSet // nodes on which a VM must never be; may be nil
	Rooted       []bool     // VMs that must not migrate
	sets         nodeSetCache
}

// posted is what the rules have posted on several VMs or on nodes.
type posted struct {
	Uncounted      bool   // some soft rules are not counted by guards
	UncountedVMs   []bool // which look at what these VMs do
	UncountedNodes []bool // or at what happens on these nodes

	Guards        []PostedGuard     // all, by number
	GuardsOfVM    [][]int           // by VM
	GuardsOfNode  sparse.Lists[int] // guards that concern any VM on some nodes
	GlobalGuards  []int             // guards that concern every move
	Watches       []Watch
	WatchesOfVM   [][]int           // by VM
	WatchesOfNode sparse.Lists[int] // watches that concern any VM on some nodes
	GlobalWatches []int             // watches that concern every move
	Gates         []gate
	GatesOf       map[int][]int
	Limits        []OnlineLimit
	Deadlines     map[int]dueTimes
	SyncSets      []togetherSet
	Synced        []bool // VMs in a sync set
}

// PostedGuard is a guard with the penalty of a breach; 0 for a hard rule.
type PostedGuard struct {
	repack.Guard
	Penalty int64
	Nodes   *NodeSet // nil if moves between any nodes concern it
	Rule    repack.Rule
}

// Watch is a watch of the instance with the nodes that concern it.
type Watch struct {
	repack.Watch
	Nodes *NodeSet // nil for all
	Scope repack.Scope
	Rule  repack.Rule
}

type gate struct {
	repack.Gate
	VMs []int
}

// OnlineLimit is the number of nodes in a set that may be on.
type OnlineLimit struct {
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

// New prepares an amended instance and posts its rules. The guards change with a search, so
// each search needs a problem of its own.
func New(in *repack.Instance, aim repack.Objective) *Problem {
	nodes, vms, dims := len(in.Nodes), len(in.VMs), len(in.Dims)
	m := &Problem{
		In: in, Objective: aim, Wanted: make([]int, 0, vms), GangOf: make([]int, vms),
		vectors: vectors{
			Dims: dims, Room: make([]int64, nodes*dims), Now: make([]int64, vms*dims), Next: make([]int64, vms*dims),
		},
		hosts: hosts{
			Open: make([]bool, nodes), Home: make([]int, vms), Residents: sparse.New[int](nodes), AtStart: sparse.New[int](nodes),
			KeepsImage: make([]bool, nodes),
		},
		costs: costs{
			AwayCost: make([]int64, vms), HomeCost: make([]int64, vms), MigrationPenalty: make([]int64, vms),
			DepartureTime: make([]repack.Ticks, vms),
		},
		restrictions: restrictions{
			Banned: make([]*NodeSet, vms), BannedAlways: make([]*NodeSet, vms), Rooted: make([]bool, vms), sets: nodeSetCache{},
		},
		posted: posted{
			GuardsOfVM: make([][]int, vms), GuardsOfNode: sparse.New[int](nodes),
			WatchesOfVM: make([][]int, vms), WatchesOfNode: sparse.New[int](nodes),
			UncountedVMs: make([]bool, vms), UncountedNodes: make([]bool, nodes),
			GatesOf: map[int][]int{}, Deadlines: map[int]dueTimes{}, Synced: make([]bool, vms),
		},
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
		p := &poster{Problem: m, rule: r.Rule, penalty: r.Penalty}
		if _, amends := r.Rule.(repack.Amender); amends && r.Penalty > 0 {
			p.amendsNothing()
		}
		r.Post(p)
	}
	return m
}

// measure compares demand with capacity.
func (m *Problem) measure() {
	m.Average, m.OpenNodes = make([]int64, m.Dims), make([]int, 0, len(m.Open))
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

// SetScarcity sets the scarcity of resources from the demand.
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

// opens reports whether a VM may run on the node at the end: the node stays or comes on, or
// may be switched on.
func opens(n *repack.Node) bool { return n.Want != repack.Offline }

func (m *Problem) addVM(vm int) {
	v := &m.In.VMs[vm]
	copy(m.Now[vm*m.Dims:], v.Now)
	copy(m.Next[vm*m.Dims:], v.Next)
	m.DepartureTime[vm] = m.shortestDeparture(vm)
	m.Home[vm], m.GangOf[vm] = repack.Nowhere, -1
	if v.State == repack.Running {
		m.AtStart.Add(v.Host, vm)
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
		m.Residents.Add(v.Host, vm)
		m.HomeCost[vm] = m.actionCost(vm, v.Host)
	}
	m.AwayCost[vm] = m.actionCost(vm, repack.Nowhere)
	m.Rooted[vm] = v.Stays || m.NeverConverges(vm)
}

// actionCost returns the cost, in the objective, of the action that brings a VM to a node.
func (m *Problem) actionCost(vm, node int) int64 {
	v, takes := &m.In.VMs[vm], m.Duration(vm, node)
	switch {
	case m.Objective == repack.Migrations && v.State != repack.Running, takes == 0:
		return 0
	case m.Objective == repack.Migrations:
		return 1
	case m.Objective == repack.Moved:
		return v.CostTo(node)
	default:
		return v.Weight * int64(takes)
	}
}

// WaitCost returns the cost, in the objective, of one tick of waiting.
func (m *Problem) WaitCost(vm int) int64 {
	if m.Objective == repack.Migrations || m.Objective == repack.Moved {
		return 0
	}
	return m.In.VMs[vm].Weight
}

// Ready returns when a node can take VMs at the earliest.
func (m *Problem) Ready(node int) repack.Ticks {
	if m.In.Nodes[node].State == repack.Offline {
		return m.In.NodeOn
	}
	return 0
}

// PlaceCost returns the least cost of having the VM on a node.
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

// Allows reports whether no hard rule on the VM alone keeps it from ending on the node.
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

var _ repack.ConstraintStore = (*poster)(nil)

// Aborted reports whether the search must end even without a first plan.
func (m *Problem) Aborted() bool { return m.Abort != nil && m.Abort() }

// Suspendable reports whether the VM may be suspended on its way.
func (m *Problem) Suspendable(v *repack.VM) bool { return v.Keeps() && v.Sleepable && !v.Stays }

// Dedicated is a rule that reserves nodes for some VMs. The choice of nodes matters most, and
// the guard sees only one VM at a time.
type Dedicated interface{ Dedicated() []int }

// Apart is a rule that keeps some VMs on different nodes.
type Apart interface{ Apart() []int }

// Inevitable is a rule of which every plan has the same breaches.
type Inevitable interface {
	Inevitable(in *repack.Instance) (breaches int)
}

// Mendable is a rule of which further VMs that get a place may mend breaches. All other rules are broken no
// less if more VMs have one.
type Mendable interface{ Mendable() }

// Lenient is a rule that knows whether its watch admits all that the rule allows.
type Lenient interface {
	Lenient(in *repack.Instance) bool
}

// Never is a prohibitive cost.
const Never = 1 << 50

// DemandText returns the demand of a VM in words.
func (m *Problem) DemandText(vm int) string {
	words := make([]string, m.Dims)
	for d := range words {
		words[d] = fmt.Sprintf("%d %s", m.Next[vm*m.Dims+d], m.In.Dims[d])
	}
	return strings.Join(words, ", ")
}

// shortestDeparture returns the least duration of the action that removes a VM from its host.
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

// SmithRatio orders VMs that wait for the same room: a short duration for its weight goes
// first.
func (m *Problem) SmithRatio(vm int, takes repack.Ticks) int64 {
	return int64(takes) * 16 / max(1, m.In.VMs[vm].Weight)
}

// RestrictTo closes all nodes but those to keep.
func (m *Problem) RestrictTo(keep []bool) {
	for n := range m.Open {
		m.Open[n] = m.Open[n] && keep[n]
	}
	m.OpenNodes = slices.DeleteFunc(m.OpenNodes, func(n int) bool { return !m.Open[n] })
}

// MaxReasons bounds the reasons of one kind in an explanation.
const MaxReasons = 5
