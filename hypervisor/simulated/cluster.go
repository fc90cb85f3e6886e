package simulated

import (
	"container/heap"
	"time"

	"vjob/cluster"
	"vjob/hypervisor"
)

// Cluster is the discrete-event engine. It is not safe for concurrent use. Virtual time never
// goes back: an earlier time than that of the last call counts as that time.
type Cluster struct {
	// OnChange, if set, is called for every low-level change at its instant. It must not call
	// the cluster, except for [Cluster.Truth].
	OnChange func(Change)

	clock  *clock
	random *random
	faults *faultPlan
	outbox *outbox
	nodes  *nodes

	profile  Profile
	pools    map[string]cluster.MiB
	seed     uint64
	bootTime time.Duration

	serial int64
	ops    map[int64]*operation
	images map[hypervisor.ImageID]*image
	// revoked is the highest attempt to restore each image that may not succeed.
	revoked  map[hypervisor.ImageID]int
	epochs   map[Disk]int // +1 whenever a guest starts to run
	apps     map[appKey]*app
	consoles map[cluster.VMID]*console

	dirty struct { // what must be recomputed before time advances
		guests []*machine
		nodes  []*node
		apps   []*app
	}
}

// Notice is what the cluster reports at an instant: the end of a call, or a hint that
// something changed on a node.
type Notice struct {
	At    time.Time
	Reply *Reply         // nil when it is a hint
	Hint  cluster.NodeID // "" when it is a reply
}

// Reply is how a call ended. It does not prove what happened.
type Reply struct {
	Op      hypervisor.OpID
	Receipt hypervisor.Receipt
	Err     error
	Began   time.Time
	Ended   time.Time
}

// New builds a cluster without VMs. It panics if [Config.Validate] rejects the configuration.
func New(cfg Config) *Cluster {
	c := build(cfg)
	c.addLeftovers()
	return c
}

// build returns a cluster with empty nodes.
func build(cfg Config) *Cluster {
	if err := cfg.Validate(); err != nil {
		panic("simulated: " + err.Error())
	}
	cfg = cfg.withDefaults()
	c := &Cluster{
		clock:    &clock{start: cfg.Start},
		random:   newRandom(cfg.Seed, cfg.Profile.Jitter),
		nodes:    newNodes(&cfg),
		profile:  cfg.Profile,
		pools:    cfg.Pools,
		seed:     cfg.Seed,
		bootTime: cfg.Boot,
		ops:      map[int64]*operation{},
		images:   map[hypervisor.ImageID]*image{},
		revoked:  map[hypervisor.ImageID]int{},
		epochs:   map[Disk]int{},
		apps:     map[appKey]*app{},
		consoles: map[cluster.VMID]*console{},
	}
	c.faults = &faultPlan{clock: c.clock, random: c.random, rates: cfg.Faults}
	c.outbox = &outbox{clock: c.clock, random: c.random, faults: c.faults}
	c.faults.plan()
	return c
}

// Nodes lists the nodes in order of their names; all are Online.
func (c *Cluster) Nodes() []cluster.Node {
	list := make([]cluster.Node, len(c.nodes.sorted))
	for i, n := range c.nodes.sorted {
		list[i] = cluster.Node{ID: n.ID, Labels: n.Labels, Capacity: n.Capacity}
	}
	return list
}

// Now is the current virtual time.
func (c *Cluster) Now() time.Time { return c.clock.time() }

// Next is the time of the next internal event; ok is false without one.
func (c *Cluster) Next() (when time.Time, ok bool) {
	if len(c.outbox.notices) > 0 {
		return c.clock.time(), true
	}
	for len(c.clock.events) > 0 && c.void(&c.clock.events[0]) {
		heap.Pop(&c.clock.events)
	}
	if len(c.clock.events) == 0 {
		return time.Time{}, false
	}
	return c.clock.at(c.clock.events[0].At), true
}

// Advance advances time and returns, in order, what happened since the last Advance, up to and
// including that time.
func (c *Cluster) Advance(to time.Time) []Notice {
	c.advance(to)
	out := c.outbox.notices
	c.outbox.notices = nil
	return out
}

// advance handles every event up to a time.
func (c *Cluster) advance(to time.Time) {
	until := to.Sub(c.clock.start)
	for len(c.clock.events) > 0 && c.clock.events[0].At <= until {
		e := heap.Pop(&c.clock.events).(event)
		if c.void(&e) {
			continue
		}
		c.clock.now = max(c.clock.now, e.At)
		c.handle(&e)
		c.propagate()
	}
	c.clock.now = max(c.clock.now, until)
}

// handle carries out one event.
func (c *Cluster) handle(e *event) {
	switch e.Kind {
	case evFinish:
		c.finish(c.ops[e.Op])
	case evReply:
		op := c.ops[e.Op]
		c.end(op, hypervisor.Receipt{}, op.Answer)
	case evLockWait:
		c.lockWaitOver(c.ops[e.Op])
	case evGiveUp:
		c.giveUp(c.ops[e.Op])
	case evGuest:
		c.markGuest(c.nodes.byID[e.Node].copies[e.VM])
	case evFault:
		c.injectRandom(e.Fault)
	case evFaultEnds:
		c.endFault(c.nodes.byID[e.Node], e.Fault)
	case evHint:
		c.outbox.hint(c.nodes.byID[e.Node])
	case evResume:
		c.resumeHung(c.ops[e.Op])
	case evLoaded:
		c.loaded(c.nodes.byID[e.Node].copies[e.VM])
	}
}

// propagate updates guests, CPU shares and applications after a change.
func (c *Cluster) propagate() {
	for m := c.update(); m != nil; m = c.update() {
		c.endGuest(m, hypervisor.CauseShutdown)
	}
	c.outbox.flushHints()
}

// update brings guests, CPU shares and applications up to date. It returns a guest that has shut
// down, or nil when nothing is left to update.
func (c *Cluster) update() (ended *machine) {
	for {
		switch {
		case len(c.dirty.guests) > 0:
			m := c.dirty.guests[0]
			c.dirty.guests = c.dirty.guests[1:]
			m.dirty = false
			if c.progress(m) {
				return m
			}
		case len(c.dirty.nodes) > 0:
			n := c.dirty.nodes[0]
			c.dirty.nodes = c.dirty.nodes[1:]
			n.dirty = false
			c.updateShares(n)
		case len(c.dirty.apps) > 0:
			a := c.dirty.apps[0]
			c.dirty.apps = c.dirty.apps[1:]
			a.dirty = false
			c.updateLockstep(a)
		default:
			return nil
		}
	}
}
