package decide

import (
	"maps"
	"slices"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/ctxswitch/execute"
	"vjob/ctxswitch/placement"
	"vjob/queue"
)

// layout is where VMs are, where they go and what binds them: what packings and plans start from.
type layout struct {
	nodes   *ctxswitch.Nodes       // of the site
	current *cluster.Configuration // from which the planner starts
	// intended is the configuration after all actions under way. The policy chooses by it. It is current as long as
	// they are equal.
	intended   *cluster.Configuration
	borrowed   bool                  // intended is current, or belongs to another layout; see change
	applicants []ctxswitch.Applicant // vjobs on no node that could be placed, in order
	rules      []placement.Rules     // without those of applicants
	avoid      map[cluster.VMID][]cluster.NodeID
	// incompatible has the nodes that cannot run a VM as it was booted.
	incompatible map[cluster.VMID][]cluster.NodeID
	pinned       map[cluster.VMID]bool
	immovable    map[cluster.VMID]bool // VMs of quarantined vjobs and of containers
	claims       map[cluster.NodeID]cluster.Resources
	live         map[cluster.VMID]bool // may migrate while they run
	drained      drainedNodes
}

// newLayout returns a layout with the nodes of a site and without VMs. With live, VMs that a lock protects
// may migrate while they run.
func newLayout(s *Site, live bool) layout {
	l := layout{
		avoid: map[cluster.VMID][]cluster.NodeID{}, pinned: map[cluster.VMID]bool{}, immovable: map[cluster.VMID]bool{},
		claims: map[cluster.NodeID]cluster.Resources{}, live: map[cluster.VMID]bool{}, drained: drainedNodes{},
	}
	if live {
		for _, n := range s.nodes {
			for _, vm := range n.Locked {
				l.live[vm] = true
			}
		}
	}
	l.nodes, l.current = s.planning, s.empty.Clone()
	l.intended, l.borrowed = l.current, true
	return l
}

// lend lets copies be made at the same time, until the next change.
func (l *layout) lend() {
	l.current.Lend()
	l.intended.Lend()
}

// clone returns a copy that can be changed.
func (l *layout) clone() layout {
	c := l.trial()
	c.change()
	return c
}

// change returns the intended configuration to be changed. One that is borrowed is copied first.
func (l *layout) change() *cluster.Configuration {
	if l.borrowed {
		l.intended, l.borrowed = l.intended.Clone(), false
	}
	return l.intended
}

// trial returns a copy that can be changed, and that borrows what is intended, which attempts hardly ever change.
func (l *layout) trial() layout {
	c := *l
	c.current, c.borrowed = l.current.Clone(), true
	c.avoid, c.pinned, c.immovable = maps.Clone(l.avoid), maps.Clone(l.pinned), maps.Clone(l.immovable)
	c.incompatible, c.drained = maps.Clone(l.incompatible), maps.Clone(l.drained)
	c.rules, c.applicants = slices.Clip(l.rules), slices.Clip(l.applicants)
	return c
}

// both changes both configurations.
func (l *layout) both(change func(c *cluster.Configuration)) {
	change(l.current)
	if l.intended != l.current {
		change(l.change())
	}
}

// setNode adds or replaces a node.
func (l *layout) setNode(n cluster.Node) {
	l.both(func(c *cluster.Configuration) { c.SetNode(n) })
}

// setRunning records that a VM runs on a node.
func (l *layout) setRunning(vm cluster.VMID, need cluster.Resources, at cluster.NodeID) {
	l.both(func(c *cluster.Configuration) { c.SetRunning(vm, need, at) })
}

// place adds the VMs of a vjob that is no applicant. If reserved, paused VMs keep their CPU.
func (l *layout) place(r *execute.Report, books Bookings, reserved bool) {
	fixed, arrives := r.Busy(), r.Bound == cluster.VMRunning
	if !fixed {
		l.both(func(c *cluster.Configuration) { c.Expect(r.Job.ID, len(r.Job.VMs)) })
	}
	for rank, m := range r.Record.Members {
		vm := r.Job.VMs[rank].ID
		need := books.Need(vm)
		if fixed && !arrives && !reserved {
			// It is paused or about to be: it releases its CPU now and its memory when it is
			// gone. Otherwise others would be suspended for the same resources.
			need.CPU = 0
		}
		switch {
		case m.Ended:
		case fixed && !arrives: // it is leaving: it keeps what it has and gets no more
			l.claim(need, books.Holds(vm))
			if _, known := l.intended.Node(m.Node); known && r.Bound == cluster.VMPaused {
				l.change().SetPaused(vm, need, m.Node)
			}
		case fixed:
			l.pin(vm, need, books.Destination(vm), books.Holds(vm))
			if at, ok := l.current.Host(vm); ok {
				l.change().SetRunning(vm, need, at)
			}
		case r.Job.State == cluster.Running:
			l.setRunning(vm, need, m.Node)
			if r.Job.Container { // other vjobs run inside
				l.pinned[vm], l.immovable[vm] = true, true
			}
		case r.Job.State == cluster.Paused:
			l.both(func(c *cluster.Configuration) { c.SetPaused(vm, need, m.Node) })
		case m.Image != nil:
			l.both(func(c *cluster.Configuration) { c.SetSleeping(vm, need, m.Image.Node) })
		default:
			l.both(func(c *cluster.Configuration) { c.SetWaiting(vm, need) })
		}
	}
}

// pin adds a VM that must not be touched at its destination, and claims its needs on every other
// node that it may use until then.
func (l *layout) pin(vm cluster.VMID, need cluster.Resources, at cluster.NodeID, holds []cluster.NodeID) {
	l.pinned[vm] = true
	if _, known := l.current.Node(at); !known && len(holds) > 0 {
		at = holds[len(holds)-1]
	}
	if _, known := l.current.Node(at); known {
		l.current.SetRunning(vm, need, at)
	}
	l.claim(need, slices.DeleteFunc(holds, func(n cluster.NodeID) bool { return n == at }))
}

// claim counts resources of nodes as taken.
func (l *layout) claim(need cluster.Resources, nodes []cluster.NodeID) {
	for _, n := range nodes {
		l.claims[n] = l.claims[n].Plus(need)
	}
}

// fixInPlace pins a VM that runs or is paused, and removes any other VM.
func (l *layout) fixInPlace(vm cluster.VMID) {
	l.both(func(c *cluster.Configuration) {
		if state, known := c.State(vm); known && (state == cluster.VMRunning || state == cluster.VMPaused) {
			l.pinned[vm], l.immovable[vm] = true, true
		} else {
			c.Remove(vm)
		}
	})
}

// drop takes the rules of vjobs out, and the vjobs themselves if they are applicants.
func (l *layout) drop(dropped func(id cluster.VJobID) bool) {
	l.rules = slices.DeleteFunc(slices.Clone(l.rules), func(r placement.Rules) bool { return dropped(r.VJob) })
	l.applicants = slices.DeleteFunc(slices.Clone(l.applicants), func(a ctxswitch.Applicant) bool { return dropped(a.VJob) })
}

// start adds an applicant to the configuration of the planner.
func (l *layout) start(a *ctxswitch.Applicant) {
	vm := cluster.VMID{VJob: a.VJob}
	if _, known := l.current.State(vm); known {
		return // an earlier attempt has added it
	}
	for rank, need := range a.Needs {
		vm.Rank = rank
		l.current.SetWaiting(vm, need)
	}
	if a.Rules != "" {
		l.rules = append(l.rules, placement.Rules{VJob: a.VJob, Text: a.Rules})
	}
}

// startVJob adds a vjob to the configuration of the planner if it is an applicant.
func (l *layout) startVJob(id cluster.VJobID) {
	for i := range l.applicants {
		if l.applicants[i].VJob == id {
			l.start(&l.applicants[i])
		}
	}
}

// keepOff forbids a VM all nodes but one.
func (l *layout) keepOff(vm cluster.VMID, all []cluster.Node, but cluster.NodeID) {
	for i := range all {
		if all[i].ID != but {
			l.avoid[vm] = append(slices.Clip(l.avoid[vm]), all[i].ID)
		}
	}
}

// total returns what all nodes that take VMs have.
func (l *layout) total() (sum cluster.Resources) {
	nodes := l.intended.Nodes()
	for i := range nodes {
		if n := &nodes[i]; n.Hosts() {
			sum = sum.Plus(n.Capacity)
		}
	}
	return sum
}

// packings returns what packings of the intended configuration start from.
func (l *layout) packings() packings {
	return packings{ctxswitch.PackingInput{
		Current: l.intended, Nodes: l.nodes, Applicants: ctxswitch.NewApplicantQueue(l.applicants), Rules: l.rules, Avoid: l.avoid, Incompatible: l.incompatible,
		Pinned: l.immovable,
	}}
}

// packings makes packings of one layout, which tell what fits together.
type packings struct {
	ctxswitch.PackingInput
}

// empty returns an empty packing; nil feeds: without power limits on places.
func (k *packings) empty(feeds *ctxswitch.PowerFeeds) *ctxswitch.Packing {
	input := k.PackingInput
	input.Feeds = feeds
	return ctxswitch.NewPacking(input)
}

// capacity returns an empty packing as policies use it.
func (k *packings) capacity() queue.Capacity { return k.empty(nil) }
