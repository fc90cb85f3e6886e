package ctxswitch

import (
	"fmt"
	"slices"

	"vjob/cluster"
	"vjob/ctxswitch/placement"
	"vjob/queue"
	"vjob/repack"
	"vjob/repack/admission"
)

// Stock is what a [Packing] packs, and where.
type Stock struct {
	Current *cluster.Configuration // nodes, where VMs run and where images lie
	Rules   []placement.Rules
	Avoid   map[cluster.VMID][]cluster.NodeID    // see [Problem]
	Claims  map[cluster.NodeID]cluster.Resources // spoken for by actions under way
	// Pinned VMs count where they run, whether their vjob is taken or not.
	Pinned map[cluster.VMID]bool
	// Needs has every VM of Current that may be taken, with what it counts for. Other VMs are
	// not there, even if they run: their vjob would be suspended or stopped. A vjob
	// of which nothing is here needs no room, e.g. because it is claimed already.
	Needs map[cluster.VMID]cluster.Resources
	// Feeds are what places leave of power; nil: as much as anybody likes.
	Feeds *Feeds
	// Line are vjobs of which nothing is in Current. However many there are, only those
	// cost something of which it is not clear at once that there is no room for them.
	// Nil: there are none.
	Line *Line
	// Effort bounds how often VMs that were placed before are moved to make room
	// for others, see [admission.Options].
	Effort int
}

// Packing is a [queue.Capacity] that places VMs for trial, by the engine that places them
// later. It is filled once, and not safe for concurrent use.
type Packing struct {
	stock  Stock
	stage  *stage
	trial  *admission.Test
	vjobs  map[cluster.VJobID][]int
	lost   map[cluster.VJobID]string // why the vjob cannot run at all
	nobody error                     // why no vjob can be judged
	crowd  crowd
	memory []int64 // free beside all taken, by node; nil until somebody is to stand still
}

var _ queue.Capacity = (*Packing)(nil)

// NewPacking is an empty room. It is made when the first asks for a place in it: who that
// is tells who else may.
func NewPacking(s Stock) *Packing { return &Packing{stock: s, crowd: newCrowd(s.Line)} }

// open makes the room for the first that asks.
func (p *Packing) open(first cluster.VJobID) {
	if p.stage == nil {
		p.crowd.begin(p, first)
		p.nobody = p.build()
	}
}

// build makes the trial of the VMs that are here, and of the applicants that have been
// let in.
func (p *Packing) build() error {
	s := &p.stock
	g, before := newStage(s.Current, s.Claims, p.crowd.inside()), p.stage
	p.stage, p.vjobs, p.lost = g, map[cluster.VJobID][]int{}, map[cluster.VJobID]string{}
	for _, vm := range s.Current.VMs() {
		if need, taken := s.Needs[vm]; taken {
			p.enrol(vm, need)
		}
	}
	slices.Sort(p.crowd.in) // so that it makes no difference when they came in
	p.crowd.plain = -1
	for _, a := range p.crowd.in {
		p.crowd.enrol(p, a)
	}
	g.widen()
	err := g.rules(p.crowd.rules(s.Rules))
	if err == nil {
		err = g.avoid(s.Avoid)
	}
	if err == nil {
		err = g.drain()
	}
	g.feed(s.Feeds)
	switch {
	case err != nil:
	case p.trial != nil:
		p.trial, err = p.trial.Grow(&g.in, g.numbers(before.vms))
	default:
		p.trial, err = admission.New(&g.in, admission.Options{Effort: s.Effort, Asked: p.crowd.asked(g)})
	}
	return err
}

// Fault is why the room can judge nobody, such as rules that cannot be told; nil: it can.
func (p *Packing) Fault() error {
	p.open(0)
	return p.nobody
}

// enrol gives a VM its number, unless it is lost with its node.
func (p *Packing) enrol(vm cluster.VMID, need cluster.Resources) {
	g, s := p.stage, &p.stock
	place, demand := s.Current.Place(vm), []int64{int64(need.CPU), int64(need.Memory)}
	v := repack.VM{
		Name: vm.String(), Want: repack.Running, Weight: 1, Host: g.at(place), Now: demand, Next: demand,
		// What moves least is preferred: memory is what is moved.
		Takes: repack.Durations{
			Boot: 1, Migrate: 1 + repack.Ticks(need.Memory), ResumeLocal: 1, ResumeRemote: 1 + repack.Ticks(need.Memory),
		},
	}
	is, _ := s.Current.State(vm)
	if v.Host != repack.Nowhere {
		v.State = repack.Sleeping // also while it stands still: it goes on there, or is saved and comes elsewhere
		if state := g.nodes[v.Host].State; !s.Pinned[vm] && unreadable(state, onNode(is)) {
			p.lost[vm.VJob] = fmt.Sprintf("node %s, which is %s and holds what there is of VM %s", place, state, vm)
			return
		}
		if is == cluster.VMRunning || is == cluster.VMPaused && s.Pinned[vm] {
			v.State, v.Stays = repack.Running, s.Pinned[vm]
		}
	}
	if !v.Stays {
		p.vjobs[vm.VJob] = append(p.vjobs[vm.VJob], len(g.vms))
	}
	g.enrol(vm, v)
}

// unreadable reports whether what a node in this state holds of a VM cannot be
// reached: its copy, or its image.
func unreadable(s cluster.NodeState, copied bool) bool {
	return s == cluster.Down || s == cluster.Offline && !copied
}

// Take adds the vjob if there is room: first where its VMs are, then where they
// fit best, and within the effort by moving what was placed before.
func (p *Packing) Take(id cluster.VJobID) (ok bool, short queue.Shortage) {
	p.open(id)
	if p.nobody != nil {
		return false, queue.Shortage{Rule: p.nobody.Error()}
	}
	if why, lost := p.lost[id]; lost {
		return false, queue.Shortage{Rule: why}
	}
	if why, refused := p.crowd.admit(p, id); refused {
		return false, p.shortage(why)
	}
	if p.nobody != nil { // the room could not be made for those who have come in
		return false, queue.Shortage{Rule: p.nobody.Error()}
	}
	ok, why := p.trial.Take(p.vjobs[id])
	if !ok {
		return false, p.shortage(why)
	}
	p.crowd.free = nil
	return true, queue.Shortage{}
}

// Places are where the VMs of a vjob have found places that was taken, by rank; "" is
// nowhere.
func (p *Packing) Places(id cluster.VJobID) (list []cluster.NodeID) {
	for _, vm := range p.vjobs[id] {
		at := p.trial.At(vm)
		if at == repack.Nowhere {
			list = append(list, "")
		} else {
			list = append(list, p.stage.nodes[at].ID)
		}
	}
	return list
}

// shortage is a refusal in the words of the queue.
func (p *Packing) shortage(why admission.Refusal) (short queue.Shortage) {
	if why.Missing == nil && why.Rule == nil {
		short.Largest = p.crowd.largestPiece(p)
	}
	if why.Missing != nil {
		short.Missing = cluster.Resources{CPU: cluster.MilliCPU(why.Missing[0]), Memory: cluster.MiB(why.Missing[1])}
	}
	if why.Rule != nil {
		short.Rule = why.Rule.String()
	}
	return short
}
