package solve

import (
	"fmt"
	"slices"
	"strings"

	"vjob/repack"
)

// model is an instance in the form in which it is searched: flat arrays, and the
// rules sorted by what they concern. It does not change during a search.
type model struct {
	in       *repack.Instance // amended
	abort    func() bool      // see [Options]
	aim      Objective
	dims     int
	room     []int64 // capacity, node by node
	now      []int64 // demands, VM by VM
	next     []int64
	average  []int64 // capacity of an open node, by dimension
	bulks    []int64 // see bulk
	scarcity []int64 // share of the capacity that is asked for, in millionths
	order    []int   // the open nodes
	racks    [][]int // likewise, of each rack that has an uplink; nil: there is none
	wishing  [][]int // VMs whose home each node is
	atStart  [][]int // VMs that run on each node at first
	// open nodes may host something at the end.
	open []bool
	// home is where a VM would stay or be resumed locally; Nowhere for others.
	home []int
	// far is how long the action of a VM takes on any node but home.
	far []int64 // weighted
	// near is how long it takes at home, weighted.
	near []int64
	// parting is how long the action takes at least that takes a VM from its host.
	parting []repack.Ticks

	final   []*nodeSet // nodes on which a VM must not end; nil: none
	passing []*nodeSet // nodes on which it must never be
	rooted  []bool     // may not migrate
	grudge  []int64    // what it costs in soft rules that a VM migrates; part of far
	judged  bool       // there are soft rules that no guard counts

	guards   []posted // all, by number
	ofVM     [][]int  // guards by VM
	ofNode   [][]int  // guards that concern any VM on some nodes
	ofAll    []int    // guards that concern every move
	watches  []watch
	seenVM   [][]int // watches by VM
	seenNode [][]int // watches that concern any VM on some nodes
	seenAll  []int   // watches that concern everything
	gates    []gate
	gatesOf  map[int][]int
	limits   []limit
	sets     setShop
	due      map[int]dueTimes
	together []togetherSet
	paired   []bool // VMs in such a set
	gang     []int  // of each VM; -1
	asleep   []bool // nodes on which a VM sleeps at the end
	hot      []int  // VMs that run at the end or may
}

// posted is a guard with what a breach costs; 0: it is a hard one.
type posted struct {
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

// newModel is the model of an amended instance. The rules are posted on it, so
// each search has a model of its own.
func newModel(in *repack.Instance, aim Objective) *model {
	m := &model{
		in: in, aim: aim, dims: len(in.Dims),
		room: make([]int64, len(in.Nodes)*len(in.Dims)),
		now:  make([]int64, len(in.VMs)*len(in.Dims)),
		next: make([]int64, len(in.VMs)*len(in.Dims)),
		open: make([]bool, len(in.Nodes)), atStart: make([][]int, len(in.Nodes)),
		wishing: make([][]int, len(in.Nodes)),
		home:    make([]int, len(in.VMs)),
		far:     make([]int64, len(in.VMs)), near: make([]int64, len(in.VMs)),
		parting: make([]repack.Ticks, len(in.VMs)),
		final:   make([]*nodeSet, len(in.VMs)), passing: make([]*nodeSet, len(in.VMs)),
		rooted: make([]bool, len(in.VMs)), grudge: make([]int64, len(in.VMs)),
		ofVM: make([][]int, len(in.VMs)), ofNode: make([][]int, len(in.Nodes)),
		seenVM: make([][]int, len(in.VMs)), seenNode: make([][]int, len(in.Nodes)),
		sets: setShop{}, gatesOf: map[int][]int{}, due: map[int]dueTimes{},
		gang: make([]int, len(in.VMs)), paired: make([]bool, len(in.VMs)), asleep: make([]bool, len(in.Nodes)),
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
			m.gang[vm] = g
		}
	}
	for _, r := range in.Rules {
		_, amends := r.Rule.(repack.Amender)
		m.judged = m.judged || amends && r.Penalty > 0
		r.Post(&board{model: m, rule: r.Rule, penalty: r.Penalty})
	}
	return m
}

// measure sets demand against capacity.
func (m *model) measure() {
	m.average = make([]int64, m.dims)
	for n := range m.open {
		if !m.open[n] {
			continue
		}
		m.order = append(m.order, n)
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
		m.average[d] /= int64(max(1, len(m.order)))
	}
	asked := make([]int64, m.dims)
	for _, vm := range m.hot {
		for d := range asked {
			asked[d] += m.next[vm*m.dims+d]
		}
	}
	m.weigh(asked)
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

// weigh says what is scarce if so much is asked for.
func (m *model) weigh(asked []int64) {
	m.scarcity = make([]int64, m.dims)
	for d := range m.scarcity {
		var sum int64
		for _, n := range m.order {
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

func (m *model) addVM(vm int) {
	v := &m.in.VMs[vm]
	copy(m.now[vm*m.dims:], v.Now)
	copy(m.next[vm*m.dims:], v.Next)
	m.parting[vm] = m.departure(vm)
	m.home[vm], m.gang[vm] = repack.Nowhere, -1
	if v.State == repack.Running {
		m.atStart[v.Host] = append(m.atStart[v.Host], vm)
	}
	if v.Want == repack.Sleeping && v.Host != repack.Nowhere {
		m.asleep[v.Host] = true
	}
	if v.Want != repack.Running {
		return
	}
	m.hot = append(m.hot, vm)
	if v.State == repack.Running || v.State == repack.Sleeping {
		m.home[vm] = v.Host
		m.wishing[v.Host] = append(m.wishing[v.Host], vm)
		m.near[vm] = m.price(vm, v.Host)
	}
	m.far[vm] = m.price(vm, repack.Nowhere)
	m.rooted[vm] = v.Stays || m.moored(vm)
}

// price is what the action costs in the objective that brings a VM to a node.
func (m *model) price(vm, node int) int64 {
	v, takes := &m.in.VMs[vm], m.on(vm, node)
	switch {
	case m.aim == Migrations && v.State != repack.Running, takes == 0:
		return 0
	case m.aim == Migrations:
		return 1
	case m.aim == Moved:
		return v.Moved(node)
	default:
		return v.Weight * int64(takes)
	}
}

// patience is what waiting for a tick costs a VM in the objective.
func (m *model) patience(vm int) int64 {
	if m.aim == Migrations || m.aim == Moved {
		return 0
	}
	return m.in.VMs[vm].Weight
}

// ready is when a node can take VMs at the earliest.
func (m *model) ready(node int) repack.Ticks {
	if m.in.Nodes[node].State == repack.Offline {
		return m.in.NodeOn
	}
	return 0
}

// cost is what it takes at least to have the VM on a node.
func (m *model) cost(vm, node int) int64 {
	switch {
	case node == m.home[vm]:
		return m.near[vm]
	case m.in.Network != nil:
		return m.price(vm, node) + m.grudge[vm]
	default:
		return m.far[vm]
	}
}

// allows reports whether no single rule keeps the VM from ending on the node.
func (m *model) allows(vm, node int) bool {
	if !m.open[node] || m.final[vm].has(node) {
		return false
	}
	return node == m.home[vm] || m.in.VMs[vm].State != repack.Running || !m.rooted[vm] && m.converges(vm, node)
}

// mayPass reports whether the VM may be on the node for a while.
func (m *model) mayPass(vm, node int) bool {
	return m.in.Nodes[node].State == repack.Online && !m.passing[vm].has(node)
}

var _ repack.Board = (*board)(nil)

// aborted reports whether not even a first plan is waited for any more.
func (m *model) aborted() bool { return m.abort != nil && m.abort() }

// naps reports whether the VM may sleep for a while on its way.
func (m *model) naps(v *repack.VM) bool { return v.Keeps() && v.Sleepable && !v.Stays }

// dedicated is a rule that wants nodes for some VMs and no others. Which nodes is
// the choice that matters most; the guard sees only one VM at a time.
type dedicated interface{ Dedicated() []int }

// apart is a rule that lets no two of some VMs end on one node.
type apart interface{ Apart() []int }

// never is a cost that is not to be paid.
const never = 1 << 50

// demand is what a VM asks for, in words.
func (m *model) demand(vm int) string {
	words := make([]string, m.dims)
	for d := range words {
		words[d] = fmt.Sprintf("%d %s", m.next[vm*m.dims+d], m.in.Dims[d])
	}
	return strings.Join(words, ", ")
}

// departure is how long the action takes at least that takes a VM from its host.
func (m *model) departure(vm int) repack.Ticks {
	v := &m.in.VMs[vm]
	switch v.Want {
	case repack.Running:
		return m.soonest(vm, repack.Migrate)
	case repack.Sleeping:
		return v.Takes.Suspend
	default:
		return v.Takes.Shutdown
	}
}

// bulk is how much of an average node a VM takes, in millionths; at least 1.
func (m *model) bulk(vm int) int64 { return m.bulks[vm] }

// urgency says when a VM goes among those who wait for the same room: what takes
// little time for its weight goes first.
func (m *model) urgency(vm int, takes repack.Ticks) int64 {
	return int64(takes) * 16 / max(1, m.in.VMs[vm].Weight)
}

// close leaves only some nodes to end on.
func (m *model) close(keep []bool) {
	for n := range m.open {
		m.open[n] = m.open[n] && keep[n]
	}
	m.order = slices.DeleteFunc(m.order, func(n int) bool { return !m.open[n] })
}
