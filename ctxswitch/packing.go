package ctxswitch

import (
	"errors"
	"fmt"
	"iter"
	"slices"

	"vjob/cluster"
	"vjob/ctxswitch/placement"
	"vjob/queue"
	"vjob/repack"
	"vjob/repack/admission"
)

// PackingInput is the input of a [Packing].
type PackingInput struct {
	Current *cluster.Configuration // nodes, where VMs run and where images lie
	Nodes   *Nodes                 // see [Problem]
	Rules   []placement.Rules
	Avoid   map[cluster.VMID][]cluster.NodeID    // see [Problem]
	Claims  map[cluster.NodeID]cluster.Resources // taken by actions under way
	// Incompatible is that of [Problem].
	Incompatible map[cluster.VMID][]cluster.NodeID
	// Pinned VMs count where they run, whether their vjob is taken or not.
	Pinned map[cluster.VMID]bool
	// Needs holds the demand of every VM of Current that may be taken; nil: all VMs may be, with what they need in Current.
	// Other VMs do not count, even if they run: their vjob would be suspended or stopped. A vjob without any VM here
	// needs no room, e.g. because Claims has it already.
	Needs map[cluster.VMID]cluster.Resources
	// Feeds are the power budgets that places have to keep; nil: no limit.
	Feeds *PowerFeeds
	// Applicants holds vjobs without VMs in Current; may be nil. Only those that may fit cost time,
	// however long the queue is.
	Applicants *ApplicantQueue
	// Effort bounds how often VMs that were placed before are moved to make room
	// for others, see [admission.Options].
	Effort int
}

// Packing is a [queue.Capacity] that places VMs tentatively, with the engine of the planner. It
// is filled once, and is not safe for concurrent use.
type Packing struct {
	input     PackingInput
	builder   *instanceBuilder
	trial     *admission.Test
	vjobs     map[cluster.VJobID][]int
	lost      map[cluster.VJobID]string // why the vjob cannot run at all
	fault     error                     // why no vjob can be tested
	prefilter prefilter
	memory    []int64 // free beside all taken, by node; nil until a paused vjob is added
}

var _ queue.Capacity = (*Packing)(nil)

// NewPacking returns an empty packing. Its instance is built for the first vjob that asks: that
// vjob decides which applicants the prefilter admits.
func NewPacking(s PackingInput) *Packing {
	return &Packing{input: s, prefilter: newPrefilter(s.Applicants)}
}

// open builds the instance for the first vjob that asks.
func (p *Packing) open(first cluster.VJobID) {
	if p.builder == nil {
		p.prefilter.begin(p, first)
		p.fault = p.build()
	}
}

// build builds the trial of the VMs that are here and of the admitted applicants.
func (p *Packing) build() error {
	s := &p.input
	g, before := newInstanceBuilder(s.Current, s.Nodes.or(s.Current), s.Claims, p.prefilter.admittedVMs()), p.builder
	g.yielding = true // a preferred rule keeps no vjob waiting
	p.builder, p.vjobs, p.lost = g, map[cluster.VJobID][]int{}, map[cluster.VJobID]string{}
	for vm, is := range s.Current.All() {
		if s.Needs == nil {
			p.addVM(vm, is, is.Need)
		} else if need, taken := s.Needs[vm]; taken {
			p.addVM(vm, is, need)
		}
	}
	slices.Sort(p.prefilter.admitted) // the order of admission makes no difference
	p.prefilter.reference = -1
	for _, a := range p.prefilter.admitted {
		p.prefilter.addVMs(p, a)
	}
	g.widen()
	err := g.rules(p.prefilter.rules(s.Rules))
	if err == nil {
		err = errors.Join(g.excludeIncompatible(s.Incompatible), g.avoid(s.Avoid))
	}
	if err == nil {
		err = g.closeNodes()
	}
	g.postFeeds(s.Feeds)
	switch {
	case err != nil:
	case p.trial != nil:
		p.trial, err = p.trial.Grow(&g.in, g.indices(before.vms))
	default:
		p.trial, err = admission.New(&g.in, admission.Options{Effort: s.Effort, Asked: p.prefilter.totalDemand(g)})
	}
	return err
}

// Err returns why no vjob can be tested, such as rules that do not compile; nil if they can.
func (p *Packing) Err() error {
	p.open(0)
	return p.fault
}

// addVM adds a VM to the instance, unless it is lost with its node.
func (p *Packing) addVM(vm cluster.VMID, is cluster.Situation, need cluster.Resources) {
	g, s := p.builder, &p.input
	demand := g.demand(need)
	v := repack.VM{
		Name: vm.String(), Want: repack.Running, Weight: 1, Host: g.indexOf(is.Node), Now: demand, Next: demand,
		// What moves least is preferred: memory is what is moved.
		Takes: repack.Durations{
			Boot: 1, Migrate: 1 + repack.Ticks(need.Memory), ResumeLocal: 1, ResumeRemote: 1 + repack.Ticks(need.Memory),
		},
	}
	if v.Host != repack.Nowhere {
		v.State = repack.Sleeping // also while it stands still: it goes on there, or is saved and comes elsewhere
		if state := g.nodes[v.Host].State; !s.Pinned[vm] && unreadable(state, onNode(is.State)) {
			p.lost[vm.VJob] = fmt.Sprintf("node %s, which is %s and holds what there is of VM %s", is.Node, state, vm)
			return
		}
		if is.State == cluster.VMRunning || is.State == cluster.VMPaused && s.Pinned[vm] {
			v.State, v.Stays = repack.Running, s.Pinned[vm]
		}
	}
	if !v.Stays {
		p.vjobs[vm.VJob] = append(p.vjobs[vm.VJob], len(g.vms))
	}
	g.addVM(vm, v)
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
	if p.fault != nil {
		return false, queue.Shortage{Rule: p.fault.Error()}
	}
	if why, lost := p.lost[id]; lost {
		return false, queue.Shortage{Rule: why}
	}
	if why, refused := p.prefilter.admit(p, id); refused {
		return false, p.shortage(why)
	}
	if p.fault != nil { // building the instance failed for the admitted applicants
		return false, queue.Shortage{Rule: p.fault.Error()}
	}
	ok, why := p.trial.Take(p.vjobs[id])
	if !ok {
		return false, p.shortage(why)
	}
	p.prefilter.free = nil
	return true, queue.Shortage{}
}

// Places returns the nodes of the VMs of a vjob that was taken, by rank; "" is nowhere.
func (p *Packing) Places(id cluster.VJobID) (list []cluster.NodeID) {
	for _, vm := range p.vjobs[id] {
		at := p.trial.At(vm)
		if at == repack.Nowhere {
			list = append(list, "")
		} else {
			list = append(list, p.builder.nodes[at].ID)
		}
	}
	return list
}

// Drop takes a vjob out that was taken. Others that were moved for it stay where they are.
func (p *Packing) Drop(id cluster.VJobID) {
	p.trial.Drop(p.vjobs[id])
	p.prefilter.free = nil
}

// Placed yields the VMs that have a place, those that are pinned included, with the number of their node among those of
// the configuration.
func (p *Packing) Placed() iter.Seq2[cluster.VMID, int] {
	return func(yield func(cluster.VMID, int) bool) {
		if p.builder == nil || p.trial == nil {
			return
		}
		for vm, id := range p.builder.vms {
			if at := p.trial.At(vm); at != repack.Nowhere && !yield(id, at) {
				return
			}
		}
	}
}

// shortage translates a refusal for the queue.
func (p *Packing) shortage(why admission.Refusal) (short queue.Shortage) {
	if why.Missing == nil && why.Rule == nil {
		short.Largest = p.prefilter.largestPiece(p)
	}
	if why.Missing != nil {
		short.Missing = cluster.Resources{CPU: cluster.MilliCPU(why.Missing[0]), Memory: cluster.MiB(why.Missing[1])}
	}
	if why.Rule != nil {
		short.Rule = why.Rule.String()
	}
	return short
}
