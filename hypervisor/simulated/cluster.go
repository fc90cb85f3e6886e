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

// Cluster is the discrete-event engine. It is not safe for concurrent use: one
// goroutine owns it. Times passed to it never go back; a time before the last
// one counts as the last one.
type Cluster struct {
	// OnChange, when set, is told every low-level change at the instant that it
	// happens. It must not call the cluster, except for [Cluster.Truth].
	OnChange func(Change)

	cfg    Config
	source *rand.PCG
	chance *rand.Rand
	now    moment
	seq    int64
	serial int64
	agenda agenda

	hosts  map[cluster.NodeID]*host
	order  []*host // by name
	where  map[cluster.VMID][]*machine
	ops    map[int64]*operation
	images map[hypervisor.ImageID]*image
	// revoked is the highest attempt to restore each image that may not succeed.
	revoked  map[hypervisor.ImageID]int
	epochs   map[Disk]int // +1 whenever a guest starts to run
	apps     map[appKey]*app
	consoles map[cluster.VMID]*console
	armed    []Fault // faults that wait for the call that they spoil
	healed   bool    // no more random faults

	out   []Happening
	dirty struct { // what has to be computed anew before time goes on
		guests []*machine
		hosts  []*host
		apps   []*app
		hints  []*host
	}
}

// Happening is something that the outside learns at an instant: the end of a
// call, or a hint that something changed on a node.
type Happening struct {
	At    time.Time
	Reply *Reply         // nil when it is a hint
	Hint  cluster.NodeID // "" when it is a reply
}

// Reply is how a call ended. It is no proof of anything.
type Reply struct {
	Op      hypervisor.OpID
	Receipt hypervisor.Receipt
	Err     error
	Began   time.Time
	Ended   time.Time
}

// New builds a cluster without VMs. A configuration that [Config.Validate]
// refuses is a broken invariant.
func New(cfg Config) *Cluster {
	c := build(cfg)
	c.leave()
	return c
}

// build makes a cluster with nothing on its nodes.
func build(cfg Config) *Cluster {
	if err := cfg.Validate(); err != nil {
		panic("simulated: " + err.Error())
	}
	cfg = cfg.withDefaults()
	c := &Cluster{
		cfg:      cfg,
		source:   rand.NewPCG(cfg.Seed, 0x766a6f62),
		hosts:    map[cluster.NodeID]*host{},
		where:    map[cluster.VMID][]*machine{},
		ops:      map[int64]*operation{},
		images:   map[hypervisor.ImageID]*image{},
		revoked:  map[hypervisor.ImageID]int{},
		epochs:   map[Disk]int{},
		apps:     map[appKey]*app{},
		consoles: map[cluster.VMID]*console{},
	}
	c.chance = rand.New(c.source)
	for _, n := range cfg.Nodes {
		h := newHost(n)
		h.overcommits = cfg.Overcommits
		c.hosts[n.ID] = h
		c.order = append(c.order, h)
	}
	slices.SortFunc(c.order, func(a, b *host) int { return cmp.Compare(a.ID, b.ID) })
	c.planFaults()
	return c
}

// Nodes lists the nodes in order of their names; all are Online.
func (c *Cluster) Nodes() []cluster.Node {
	list := make([]cluster.Node, len(c.order))
	for i, h := range c.order {
		list[i] = cluster.Node{ID: h.ID, Labels: h.Labels, Capacity: h.Capacity}
	}
	return list
}

// Now is the virtual time up to which everything has happened.
func (c *Cluster) Now() time.Time { return c.at(c.now) }

func (c *Cluster) at(m moment) time.Time { return c.cfg.Start.Add(m) }

// Next is when the next internal thing happens; ok is false when nothing will
// happen unless it is asked for.
func (c *Cluster) Next() (when time.Time, ok bool) {
	if len(c.out) > 0 {
		return c.Now(), true
	}
	for len(c.agenda) > 0 && c.void(&c.agenda[0]) {
		heap.Pop(&c.agenda)
	}
	if len(c.agenda) == 0 {
		return time.Time{}, false
	}
	return c.at(c.agenda[0].At), true
}

// Advance lets time go on and returns, in order, what happened since the last
// Advance, up to and including that time.
func (c *Cluster) Advance(to time.Time) []Happening {
	c.run(to)
	out := c.out
	c.out = nil
	return out
}

// run carries out every event up to a time.
func (c *Cluster) run(to time.Time) {
	until := to.Sub(c.cfg.Start)
	for len(c.agenda) > 0 && c.agenda[0].At <= until {
		e := heap.Pop(&c.agenda).(event)
		if c.void(&e) {
			continue
		}
		c.now = max(c.now, e.At)
		c.happen(&e)
		c.settle()
	}
	c.now = max(c.now, until)
}

// happen carries out one event.
func (c *Cluster) happen(e *event) {
	switch e.Kind {
	case evFinish:
		c.finish(c.ops[e.Op])
	case evReply:
		op := c.ops[e.Op]
		c.end(op, hypervisor.Receipt{}, op.Prepared)
	case evLockWait:
		c.lockWaitOver(c.ops[e.Op])
	case evGiveUp:
		c.giveUp(c.ops[e.Op])
	case evGuest:
		c.touch(c.hosts[e.Node].copies[e.VM])
	case evFault:
		c.strike(e.Fault)
	case evMend:
		c.mend(c.hosts[e.Node], e.Fault)
	case evHint:
		c.hint(c.hosts[e.Node])
	case evWake:
		c.wake(c.ops[e.Op])
	case evLoaded:
		c.loaded(c.hosts[e.Node].copies[e.VM])
	}
}

// settle brings guests, shares of CPU and applications up to date after a change.
func (c *Cluster) settle() {
	for {
		switch {
		case len(c.dirty.guests) > 0:
			m := c.dirty.guests[0]
			c.dirty.guests = c.dirty.guests[1:]
			m.touched = false
			c.progress(m)
		case len(c.dirty.hosts) > 0:
			h := c.dirty.hosts[0]
			c.dirty.hosts = c.dirty.hosts[1:]
			h.touched = false
			c.share(h)
		case len(c.dirty.apps) > 0:
			a := c.dirty.apps[0]
			c.dirty.apps = c.dirty.apps[1:]
			a.touched = false
			c.align(a)
		default:
			c.flushHints()
			return
		}
	}
}

// spread is a duration with the profile's jitter.
func (c *Cluster) spread(d time.Duration) time.Duration {
	j := c.cfg.Profile.Jitter
	if j <= 0 || d <= 0 {
		return d
	}
	return time.Duration(float64(d) * (1 - j + 2*j*c.chance.Float64()))
}
