package solve

import (
	"fmt"
	"slices"
	"strings"

	"vjob/repack"
)

// Problem is an instance in the form in which it is searched: flat arrays, and the
// rules sorted by what they concern. It does not change during a search.
type Problem struct {
	in        *repack.Instance // amended
	abort     func() bool      // see [Options]
	objective repack.Objective
	dims      int
	room      []int64 // capacity, node by node
	now       []int64 // demands, VM by VM
	next      []int64
	average   []int64 // capacity of an open node, by dimension
	bulks     []int64 // see bulk
	scarcity  []int64 // share of the capacity that is asked for, in millionths
	openNodes []int   // the open nodes
	racks     [][]int // likewise, of each rack that has an uplink; nil: there is none
	residents [][]int // VMs whose home each node is
	atStart   [][]int // VMs that run on each node at first
	// open nodes may host something at the end.
	open []bool
	// home is where a VM would stay or be resumed locally; Nowhere for others.
	home []int
	// awayCost is how long the action of a VM takes on any node but home.
	awayCost []int64 // weighted
	// homeCost is how long it takes at home, weighted.
	homeCost []int64
	// departureTime is how long the action takes at least that takes a VM from its host.
	departureTime []repack.Ticks

	banned           []*nodeSet // nodes on which a VM must not end; nil: none
	bannedAlways     []*nodeSet // nodes on which it must never be
	rooted           []bool     // may not migrate
	migrationPenalty []int64    // what it costs in soft rules that a VM migrates; part of far
	uncounted        bool       // there are soft rules that no guard counts

	guards        []postedGuard // all, by number
	guardsOfVM    [][]int       // guards by VM
	guardsOfNode  [][]int       // guards that concern any VM on some nodes
	globalGuards  []int         // guards that concern every move
	watches       []watch
	watchesOfVM   [][]int // watches by VM
	watchesOfNode [][]int // watches that concern any VM on some nodes
	globalWatches []int   // watches that concern everything
	gates         []gate
	gatesOf       map[int][]int
	limits        []limit
	sets          nodeSetCache
	deadlines     map[int]dueTimes
	syncSets      []togetherSet
	synced        []bool // VMs in such a set
	gangOf        []int  // of each VM; -1
	keepsImage    []bool // nodes on which a VM sleeps at the end
	wanted        []int  // VMs that run at the end or may
}

// postedGuard is a guard with what a breach costs; 0: it is a hard one.
type postedGuard struct {
	repack.Guard
	penalty int64
	nodes   *nodeSet // nil: moves between any nodes concern it
	rule    repack.Rule
}

type watch struct {
	repack.Watch
	nodes *nodeSet // nil: all
	scope repack.Scope
	rule  repack.Rule
}

type gate struct {
	repack.Gate
	vms []int
}

// limit is how many of some nodes may be on.
type limit struct {
	nodes  []int
	most   int
	always bool
	rule   repack.Rule
}

type dueTimes struct{ start, end repack.Ticks }

type togetherSet struct {
	vms   []int
	atEnd bool
}

// NewProblem is the model of an amended instance. The rules are posted on it, so
// each search has a model of its own.
func NewProblem(in *repack.Instance, aim repack.Objective) *Problem {
	m := &Problem{
		in: in, objective: aim, dims: len(in.Dims),
		room: make([]int64, len(in.Nodes)*len(in.Dims)),
		now:  make([]int64, len(in.VMs)*len(in.Dims)),
		next: make([]int64, len(in.VMs)*len(in.Dims)),
		open: make([]bool, len(in.Nodes)), atStart: make([][]int, len(in.Nodes)),
		residents: make([][]int, len(in.Nodes)),
		home:      make([]int, len(in.VMs)),
		awayCost:  make([]int64, len(in.VMs)), homeCost: make([]int64, len(in.VMs)),
		departureTime: make([]repack.Ticks, len(in.VMs)),
		banned:        make([]*nodeSet, len(in.VMs)), bannedAlways: make([]*nodeSet, len(in.VMs)),
		rooted: make([]bool, len(in.VMs)), migrationPenalty: make([]int64, len(in.VMs)),
		guardsOfVM: make([][]int, len(in.VMs)), guardsOfNode: make([][]int, len(in.Nodes)),
		watchesOfVM: make([][]int, len(in.VMs)), watchesOfNode: make([][]int, len(in.Nodes)),
		sets: nodeSetCache{}, gatesOf: map[int][]int{}, deadlines: map[int]dueTimes{},
		gangOf: make([]int, len(in.VMs)), synced: make([]bool, len(in.VMs)), keepsImage: make([]bool, len(in.Nodes)),
	}
	for n := range in.Nodes {
		copy(m.room[n*m.dims:], in.Nodes[n].Capacity)
		m.open[n] = opens(&in.Nodes[n])
	}
	for vm := range in.VMs {
		m.addVM(vm)
	}
	m.measure()
	for g, vms := range in.Gangs {
		for _, vm := range vms {
			m.gangOf[vm] = g
		}
	}
	for _, r := range in.Rules {
		_, amends := r.Rule.(repack.Amender)
		m.uncounted = m.uncounted || amends && r.Penalty > 0
		r.Post(&poster{Problem: m, rule: r.Rule, penalty: r.Penalty})
	}
	return m
}

// measure sets demand against capacity.
func (m *Problem) measure() {
	m.average = make([]int64, m.dims)
	for n := range m.open {
		if !m.open[n] {
			continue
		}
		m.openNodes = append(m.openNodes, n)
		if net := m.in.Network; net != nil && m.in.Nodes[n].Rack < len(net.Uplink) {
			if m.racks == nil {
				m.racks = make([][]int, len(net.Uplink))
			}
			m.racks[m.in.Nodes[n].Rack] = append(m.racks[m.in.Nodes[n].Rack], n)
		}
		for d := range m.dims {
			m.average[d] += m.room[n*m.dims+d]
		}
	}
	for d := range m.dims {
		m.average[d] /= int64(max(1, len(m.openNodes)))
	}
	asked := make([]int64, m.dims)
	for _, vm := range m.wanted {
		for d := range asked {
			asked[d] += m.next[vm*m.dims+d]
		}
	}
	m.setScarcity(asked)
	m.bulks = make([]int64, len(m.in.VMs))
	for vm := range m.bulks {
		m.bulks[vm] = 1
		for d := range m.dims {
			if m.average[d] > 0 {
				m.bulks[vm] += int64(1_000_000 * float64(m.next[vm*m.dims+d]) / float64(m.average[d]))
			}
		}
	}
}

// setScarcity says what is scarce if so much is asked for.
func (m *Problem) setScarcity(asked []int64) {
	m.scarcity = make([]int64, m.dims)
	for d := range m.scarcity {
		var sum int64
		for _, n := range m.openNodes {
			sum += m.room[n*m.dims+d]
		}
		if sum > 0 {
			m.scarcity[d] = int64(1_000_000 * float64(asked[d]) / float64(sum))
		}
	}
}

// opens reports whether something may run on the node at the end: it stays or
// comes on, or may be switched on for the purpose.
func opens(n *repack.Node) bool { return n.Want != repack.Offline }

func (m *Problem) addVM(vm int) {
	v := &m.in.VMs[vm]
	copy(m.now[vm*m.dims:], v.Now)
	copy(m.next[vm*m.dims:], v.Next)
	m.departureTime[vm] = m.shortestDeparture(vm)
	m.home[vm], m.gangOf[vm] = repack.Nowhere, -1
	if v.State == repack.Running {
		m.atStart[v.Host] = append(m.atStart[v.Host], vm)
	}
	if v.Want == repack.Sleeping && v.Host != repack.Nowhere {
		m.keepsImage[v.Host] = true
	}
	if v.Want != repack.Running {
		return
	}
	m.wanted = append(m.wanted, vm)
	if v.State == repack.Running || v.State == repack.Sleeping {
		m.home[vm] = v.Host
		m.residents[v.Host] = append(m.residents[v.Host], vm)
		m.homeCost[vm] = m.actionCost(vm, v.Host)
	}
	m.awayCost[vm] = m.actionCost(vm, repack.Nowhere)
	m.rooted[vm] = v.Stays || m.neverConverges(vm)
}

// actionCost is what the action costs in the objective that brings a VM to a node.
func (m *Problem) actionCost(vm, node int) int64 {
	v, takes := &m.in.VMs[vm], m.duration(vm, node)
	switch {
	case m.objective == repack.Migrations && v.State != repack.Running, takes == 0:
		return 0
	case m.objective == repack.Migrations:
		return 1
	case m.objective == repack.Moved:
		return v.Moved(node)
	default:
		return v.Weight * int64(takes)
	}
}

// waitCost is what waiting for a tick costs a VM in the objective.
func (m *Problem) waitCost(vm int) int64 {
	if m.objective == repack.Migrations || m.objective == repack.Moved {
		return 0
	}
	return m.in.VMs[vm].Weight
}

// ready is when a node can take VMs at the earliest.
func (m *Problem) ready(node int) repack.Ticks {
	if m.in.Nodes[node].State == repack.Offline {
		return m.in.NodeOn
	}
	return 0
}

// placeCost is what it takes at least to have the VM on a node.
func (m *Problem) placeCost(vm, node int) int64 {
	switch {
	case node == m.home[vm]:
		return m.homeCost[vm]
	case m.in.Network != nil:
		return m.actionCost(vm, node) + m.migrationPenalty[vm]
	default:
		return m.awayCost[vm]
	}
}

// allows reports whether no single rule keeps the VM from ending on the node.
func (m *Problem) allows(vm, node int) bool {
	if !m.open[node] || m.banned[vm].has(node) {
		return false
	}
	return node == m.home[vm] || m.in.VMs[vm].State != repack.Running || !m.rooted[vm] && m.converges(vm, node)
}

// mayPass reports whether the VM may be on the node for a while.
func (m *Problem) mayPass(vm, node int) bool {
	return m.in.Nodes[node].State == repack.Online && !m.bannedAlways[vm].has(node)
}

var _ repack.Board = (*poster)(nil)

// aborted reports whether not even a first plan is waited for any more.
func (m *Problem) aborted() bool { return m.abort != nil && m.abort() }

// suspendable reports whether the VM may sleep for a while on its way.
func (m *Problem) suspendable(v *repack.VM) bool { return v.Keeps() && v.Sleepable && !v.Stays }

// Dedicated is a rule that wants nodes for some VMs and no others. Which nodes is
// the choice that matters most; the guard sees only one VM at a time.
type Dedicated interface{ Dedicated() []int }

// Apart is a rule that lets no two of some VMs end on one node.
type Apart interface{ Apart() []int }

// Never is a cost that is not to be paid.
const Never = 1 << 50

// demandText is what a VM asks for, in words.
func (m *Problem) demandText(vm int) string {
	words := make([]string, m.dims)
	for d := range words {
		words[d] = fmt.Sprintf("%d %s", m.next[vm*m.dims+d], m.in.Dims[d])
	}
	return strings.Join(words, ", ")
}

// shortestDeparture is how long the action takes at least that takes a VM from its host.
func (m *Problem) shortestDeparture(vm int) repack.Ticks {
	v := &m.in.VMs[vm]
	switch v.Want {
	case repack.Running:
		return m.minDuration(vm, repack.Migrate)
	case repack.Sleeping:
		return v.Takes.Suspend
	default:
		return v.Takes.Shutdown
	}
}

// bulk is how much of an average node a VM takes, in millionths; at least 1.
func (m *Problem) bulk(vm int) int64 { return m.bulks[vm] }

// smithRatio says when a VM goes among those who wait for the same room: what takes
// little time for its weight goes first.
func (m *Problem) smithRatio(vm int, takes repack.Ticks) int64 {
	return int64(takes) * 16 / max(1, m.in.VMs[vm].Weight)
}

// restrictTo leaves only some nodes to end on.
func (m *Problem) restrictTo(keep []bool) {
	for n := range m.open {
		m.open[n] = m.open[n] && keep[n]
	}
	m.openNodes = slices.DeleteFunc(m.openNodes, func(n int) bool { return !m.open[n] })
}
