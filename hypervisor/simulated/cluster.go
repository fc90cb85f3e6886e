package simulated

import (
	"cmp"
	"container/heap"
	"math/rand/v2"
	"slices"
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

	startTime   time.Time
	profile     Profile
	rates       Rates
	locks       bool
	pools       map[string]cluster.MiB
	seed        uint64
	bootTime    time.Duration
	jitterShare float64
	hinted      []*node
	source      *rand.PCG
	rng         *rand.Rand
	now         simTime
	seq         int64
	serial      int64
	events      eventQueue

	nodes  map[cluster.NodeID]*node
	sorted []*node // by name
	copies map[cluster.VMID][]*machine
	ops    map[int64]*operation
	images map[hypervisor.ImageID]*image
	// revoked is the highest attempt to restore each image that may not succeed.
	revoked  map[hypervisor.ImageID]int
	epochs   map[Disk]int // +1 whenever a guest starts to run
	apps     map[appKey]*app
	consoles map[cluster.VMID]*console
	armed    []Fault // faults that wait for a call that they match
	healed   bool    // no more random faults

	notices []Notice
	dirty   struct { // what must be recomputed before time advances
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
		startTime:   cfg.Start,
		profile:     cfg.Profile,
		rates:       cfg.Faults,
		locks:       cfg.Locks,
		pools:       cfg.Pools,
		seed:        cfg.Seed,
		bootTime:    cfg.Boot,
		jitterShare: cfg.Profile.Jitter,
		source:      rand.NewPCG(cfg.Seed, 0x766a6f62),
		nodes:       map[cluster.NodeID]*node{},
		copies:      map[cluster.VMID][]*machine{},
		ops:         map[int64]*operation{},
		images:      map[hypervisor.ImageID]*image{},
		revoked:     map[hypervisor.ImageID]int{},
		epochs:      map[Disk]int{},
		apps:        map[appKey]*app{},
		consoles:    map[cluster.VMID]*console{},
	}
	c.rng = rand.New(c.source)
	for _, declared := range cfg.Nodes {
		n := newNode(declared)
		n.overcommits = cfg.Overcommits
		c.nodes[declared.ID] = n
		c.sorted = append(c.sorted, n)
	}
	slices.SortFunc(c.sorted, func(a, b *node) int { return cmp.Compare(a.ID, b.ID) })
	c.planFaults()
	return c
}

// Nodes lists the nodes in order of their names; all are Online.
func (c *Cluster) Nodes() []cluster.Node {
	list := make([]cluster.Node, len(c.sorted))
	for i, n := range c.sorted {
		list[i] = cluster.Node{ID: n.ID, Labels: n.Labels, Capacity: n.Capacity}
	}
	return list
}

// Now is the current virtual time.
func (c *Cluster) Now() time.Time { return c.at(c.now) }

func (c *Cluster) at(m simTime) time.Time { return c.startTime.Add(m) }

// Next is the time of the next internal event; ok is false without one.
func (c *Cluster) Next() (when time.Time, ok bool) {
	if len(c.notices) > 0 {
		return c.Now(), true
	}
	for len(c.events) > 0 && c.void(&c.events[0]) {
		heap.Pop(&c.events)
	}
	if len(c.events) == 0 {
		return time.Time{}, false
	}
	return c.at(c.events[0].At), true
}

// Advance advances time and returns, in order, what happened since the last Advance, up to and
// including that time.
func (c *Cluster) Advance(to time.Time) []Notice {
	c.advance(to)
	out := c.notices
	c.notices = nil
	return out
}

// advance handles every event up to a time.
func (c *Cluster) advance(to time.Time) {
	until := to.Sub(c.startTime)
	for len(c.events) > 0 && c.events[0].At <= until {
		e := heap.Pop(&c.events).(event)
		if c.void(&e) {
			continue
		}
		c.now = max(c.now, e.At)
		c.handle(&e)
		c.propagate()
	}
	c.now = max(c.now, until)
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
		c.markGuest(c.nodes[e.Node].copies[e.VM])
	case evFault:
		c.injectRandom(e.Fault)
	case evFaultEnds:
		c.endFault(c.nodes[e.Node], e.Fault)
	case evHint:
		c.hint(c.nodes[e.Node])
	case evResume:
		c.resumeHung(c.ops[e.Op])
	case evLoaded:
		c.loaded(c.nodes[e.Node].copies[e.VM])
	}
}

// propagate updates guests, CPU shares and applications after a change.
func (c *Cluster) propagate() {
	for m := c.update(); m != nil; m = c.update() {
		c.endGuest(m, hypervisor.CauseShutdown)
	}
	c.flushHints()
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

// jitter is a duration with the profile's jitter.
func (c *Cluster) jitter(d time.Duration) time.Duration {
	j := c.jitterShare
	if j <= 0 || d <= 0 {
		return d
	}
	return time.Duration(float64(d) * (1 - j + 2*j*c.rng.Float64()))
}
