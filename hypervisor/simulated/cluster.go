package simulated

import (
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

	// The parts, from the bottom up: each calls only earlier ones. The only call upwards is
	// machines.start: the end of a job lets executor start the operations that waited for it.

	touched  *touched // what [Cluster.Changes] returns next
	clock    *clock
	random   *random
	faults   *faultPlan
	outbox   *outbox
	nodes    *nodes
	guests   *guests
	store    *imageStore
	ops      *operations
	machines *machines
	executor *executor
	injector *injector
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
	c := &Cluster{touched: &touched{}}
	c.clock = &clock{touched: c.touched, start: cfg.Start}
	c.random = newRandom(cfg.Seed, cfg.Profile.Jitter)
	c.faults = &faultPlan{clock: c.clock, random: c.random, rates: cfg.Faults}
	c.outbox = &outbox{clock: c.clock, random: c.random, faults: c.faults}
	c.nodes = newNodes(&cfg, c.touched)
	c.guests = &guests{
		touched: c.touched, clock: c.clock, random: c.random, nodes: c.nodes, outbox: c.outbox,
		consoles:     &consoles{touched: c.touched, clock: c.clock, byVM: map[cluster.VMID]*console{}},
		shutdownTime: cfg.Profile.Shutdown,
		apps:         map[appKey]*app{},
		epochs:       map[Disk]int{},
	}
	changes := &observer{onChange: &c.OnChange, clock: c.clock, epochs: c.guests.epochs}
	c.store = &imageStore{
		touched: c.touched, clock: c.clock, random: c.random, nodes: c.nodes, faults: c.faults, observer: changes,
		pools:   cfg.Pools,
		seed:    cfg.Seed,
		images:  map[hypervisor.ImageID]*image{},
		revoked: map[hypervisor.ImageID]int{},
	}
	c.ops = &operations{touched: c.touched, clock: c.clock, outbox: c.outbox, byID: map[int64]*operation{}}
	c.machines = &machines{
		touched: c.touched, clock: c.clock, nodes: c.nodes, outbox: c.outbox, observer: changes, guests: c.guests, store: c.store, ops: c.ops,
	}
	c.executor = &executor{
		clock: c.clock, random: c.random, faults: c.faults, nodes: c.nodes, observer: changes,
		guests: c.guests, store: c.store, ops: c.ops, machines: c.machines, profile: cfg.Profile,
	}
	c.machines.start = c.executor.start
	c.injector = &injector{
		touched: c.touched, clock: c.clock, random: c.random, faults: c.faults, outbox: c.outbox, nodes: c.nodes, observer: changes,
		store: c.store, ops: c.ops, machines: c.machines, executor: c.executor, bootTime: cfg.Boot,
	}
	c.faults.plan()
	return c
}

// addLeftovers creates the copies that were on the nodes before the start.
func (c *Cluster) addLeftovers() {
	for _, n := range c.nodes.sorted {
		for _, l := range n.Leftovers {
			m := &machine{VM: l.VM, Node: n.ID, Unpausable: l.Unpausable, Memory: memory{
				Stamp: hypervisor.Stamp{Incarnation: 1}, Spec: &hypervisor.Machine{Name: "left", Reserved: l.Size}, Stage: working,
			}}
			c.guests.add(m)
			c.guests.run(m)
		}
	}
	c.propagate()
}

// Nodes lists the nodes in order of their names; all are Online.
func (c *Cluster) Nodes() []cluster.Node {
	list := make([]cluster.Node, len(c.nodes.sorted))
	for i, n := range c.nodes.sorted {
		list[i] = cluster.Node{ID: n.ID, Labels: n.Labels, Capacity: n.Capacity}
	}
	return list
}

// Leftovers lists the copies that were on a node before the start.
func (c *Cluster) Leftovers(node cluster.NodeID) []Leftover { return c.nodes.byID[node].Leftovers }

// Now is the current virtual time.
func (c *Cluster) Now() time.Time { return c.clock.time() }

// Next is the time of the next internal event; ok is false without one.
func (c *Cluster) Next() (when time.Time, ok bool) {
	if len(c.outbox.notices) > 0 {
		return c.clock.time(), true
	}
	for e := c.clock.next(); e != nil; e = c.clock.next() {
		if !c.void(e) {
			return c.clock.at(e.At), true
		}
		c.clock.pop()
	}
	return time.Time{}, false
}

// Begin sends a call to its node. Its answer, if any, is a [Reply] that [Cluster.Advance]
// returns. Every call is accepted, also a repeated one.
func (c *Cluster) Begin(now time.Time, call hypervisor.Call) {
	c.advance(now)
	c.executor.begin(call)
	c.propagate()
}

// Advance advances time and returns, in order, what happened since the last Advance, up to and
// including that time.
func (c *Cluster) Advance(to time.Time) []Notice {
	c.advance(to)
	return c.outbox.take()
}

// advance handles every event up to a time.
func (c *Cluster) advance(to time.Time) {
	until := to.Sub(c.clock.start)
	for next := c.clock.next(); next != nil && next.At <= until; next = c.clock.next() {
		e := c.clock.pop()
		if c.void(&e) {
			continue
		}
		c.clock.advance(e.At)
		c.handle(&e)
		c.propagate()
	}
	c.clock.advance(until)
}

// handle carries out one event.
func (c *Cluster) handle(e *event) {
	n, op := c.nodes.byID[e.Node], c.ops.byID[e.Op]
	switch e.Kind {
	case evFinish:
		c.executor.finish(op)
	case evReply:
		c.ops.end(op, hypervisor.Receipt{}, op.Answer)
	case evLockWait:
		c.machines.waitedTooLong(op)
	case evGiveUp:
		c.executor.giveUp(op)
	case evGuest:
		c.guests.mark(n.copies[e.VM])
	case evFault:
		c.injector.injectRandom(e.Fault)
	case evFaultEnds:
		c.injector.endFault(n, e.Fault)
	case evHint:
		c.outbox.hint(n)
	case evResume:
		c.executor.resumeHung(op)
	case evLoaded:
		c.machines.loaded(n.copies[e.VM])
	}
}

// propagate updates guests, CPU shares and applications after a change.
func (c *Cluster) propagate() {
	for m := c.guests.update(); m != nil; m = c.guests.update() {
		c.machines.endGuest(m, hypervisor.CauseShutdown)
	}
	c.outbox.flushHints()
}

// void reports whether an event is outdated.
func (c *Cluster) void(e *event) bool {
	n, op := c.nodes.byID[e.Node], c.ops.byID[e.Op]
	switch e.Kind {
	case evGuest:
		m := n.copies[e.VM]
		return m == nil || m.Version != e.Version
	case evReply:
		return op == nil
	case evLoaded:
		m := n.copies[e.VM]
		return m == nil || m.Loading == nil || m.Loading.Op != e.Op
	case evFinish, evLockWait, evGiveUp, evResume:
		return op == nil || op.Over
	case evFaultEnds:
		return n.faults[e.Fault].Version != e.Version
	default:
		return false
	}
}
