package ctxswitch

import (
	"slices"

	"vjob/cluster"
	"vjob/ctxswitch/placement"
	"vjob/repack/admission"
)

// crowd is the applicants before the door of a [Packing]. One is let in when it asks,
// together with those behind it for whom there may be room as well, unless it is clear
// already that there is none: so a pass over a long queue costs what the cluster can
// hold, and not what waits.
type crowd struct {
	*Line
	outside []bool
	in      []int     // those inside
	plain   int       // a VM inside that no rule names, of those the one that draws least; -1: none
	free    []int64   // in sum on the nodes that take VMs; nil: to be counted
	largest [2]int64  // of that, on the node with the most processors
	needs   [][]int64 // see amounts; used again and again
}

func newCrowd(l *Line) crowd {
	if l == nil {
		l = &Line{}
	}
	c := crowd{Line: l, outside: make([]bool, len(l.queue)), plain: -1}
	for i := range c.outside {
		c.outside[i] = true
	}
	return c
}

// begin lets in who comes with the first that asks: those behind it for whom there may be
// room in an empty cluster; or if that one is no applicant, the first of the line, whatever
// becomes of them.
func (c *crowd) begin(p *Packing, first cluster.VJobID) {
	if at, applies := c.place[first]; applies {
		c.free = make([]int64, len(placement.Dims))
		for _, n := range p.stock.Current.Nodes() {
			if n.Hosts() {
				for d, x := range amounts(n.Capacity) {
					c.free[d] += x
				}
			}
		}
		c.letIn(p, at)
		c.free = nil
		return
	}
	for i, vms := 0, 0; i < len(c.queue) && vms < batch; i++ {
		c.enter(i)
		vms += len(c.queue[i].Needs)
	}
}

// enter takes note that an applicant is inside.
func (c *crowd) enter(at int) {
	c.outside[at] = false
	c.in = append(c.in, at)
}

// inside is how many VMs those inside have.
func (c *crowd) inside() (vms int) {
	for _, at := range c.in {
		vms += len(c.queue[at].Needs)
	}
	return vms
}

// enrol gives the members of one that comes in their numbers.
func (c *crowd) enrol(p *Packing, at int) {
	a := &c.queue[at]
	for rank, need := range a.Needs {
		vm := cluster.VMID{VJob: a.VJob, Rank: rank}
		if a.Rules == "" && len(p.stock.Avoid[vm]) == 0 && (c.plain < 0 || c.thrifty(p, vm)) {
			c.plain = len(p.stage.vms)
		}
		p.enrol(vm, need)
	}
}

// rules are those of the stock, and of the vjobs inside.
func (c *crowd) rules(list []placement.Rules) []placement.Rules {
	list = slices.Clip(list)
	for _, at := range c.in {
		if a := &c.queue[at]; a.Rules != "" {
			list = append(list, placement.Rules{VJob: a.VJob, Text: a.Rules})
		}
	}
	return list
}

// asked is what all need that may ask, whether they are inside or not.
func (c *crowd) asked(g *stage) []int64 {
	sum := make([]int64, len(g.in.Dims))
	for i := range g.in.VMs {
		for d, x := range g.in.VMs[i].Next {
			sum[d] += x
		}
	}
	for i := range c.queue {
		if c.outside[i] {
			for d, x := range amounts(c.queue[i].Total) {
				sum[d] += x
			}
		}
	}
	return sum
}

func amounts(r cluster.Resources) [2]int64 { return [2]int64{int64(r.CPU), int64(r.Memory)} }

// admit lets a vjob in that asks for room, or says why there is none for it.
func (c *crowd) admit(p *Packing, id cluster.VJobID) (why admission.Refusal, refused bool) {
	at, applies := c.place[id]
	if !applies || !c.outside[at] {
		return admission.Refusal{}, false
	}
	if why, refused := c.hopeless(p, at); refused {
		return why, true
	}
	c.letIn(p, at)
	p.nobody = p.build()
	return admission.Refusal{}, false
}

// hopeless reports whether there is certainly no room: less than is needed in sum, or
// none in one piece.
func (c *crowd) hopeless(p *Packing, at int) (why admission.Refusal, so bool) {
	if c.free == nil {
		c.count(p)
	}
	missing, short := make([]int64, len(c.free)), false
	for d, need := range amounts(c.queue[at].Total) {
		missing[d] = max(0, need-c.free[d])
		short = short || missing[d] > 0
	}
	if short {
		return admission.Refusal{Missing: missing}, true
	}
	a := &c.queue[at]
	if c.plain < 0 || a.Rules != "" || p.stage.naming || c.avoids(p, a) || c.saves(p, a) {
		return admission.Refusal{}, false
	}
	for len(c.needs) < len(a.Needs) {
		c.needs = append(c.needs, make([]int64, len(c.free)))
	}
	for i, need := range a.Needs {
		for d, x := range amounts(need) {
			c.needs[i][d] = x
		}
	}
	return p.trial.NoFit(c.needs[:len(a.Needs)], c.plain)
}

// avoids reports whether a member is to keep off some nodes.
func (c *crowd) avoids(p *Packing, a *Applicant) bool {
	if len(p.stock.Avoid) == 0 {
		return false
	}
	for rank := range a.Needs {
		if len(p.stock.Avoid[cluster.VMID{VJob: a.VJob, Rank: rank}]) > 0 {
			return true
		}
	}
	return false
}

// thrifty reports whether a VM is content with less than the plain one.
func (c *crowd) thrifty(p *Packing, vm cluster.VMID) bool {
	return p.stock.Feeds.least(vm) < p.stock.Feeds.least(p.stage.vms[c.plain])
}

// saves reports whether a member is: then it may find a place where the plain one does not.
func (c *crowd) saves(p *Packing, a *Applicant) bool {
	if p.stock.Feeds == nil {
		return false
	}
	for rank := range a.Needs {
		if c.thrifty(p, cluster.VMID{VJob: a.VJob, Rank: rank}) {
			return true
		}
	}
	return false
}

// count counts what is free on the nodes that take VMs.
func (c *crowd) count(p *Packing) {
	c.free, c.largest = make([]int64, len(p.stage.in.Dims)), [2]int64{}
	for n := range p.stage.nodes {
		if !p.stage.nodes[n].Hosts() {
			continue
		}
		load := p.trial.Load(n)
		var piece [2]int64
		for d, room := range p.stage.in.Nodes[n].Capacity {
			left := max(0, room-load[d])
			c.free[d] += left
			if d < len(piece) {
				piece[d] = left
			}
		}
		if slices.Compare(piece[:], c.largest[:]) > 0 {
			c.largest = piece
		}
	}
}

// largestPiece is what is free on the node with the most processors that are.
func (c *crowd) largestPiece(p *Packing) cluster.Resources {
	if c.free == nil {
		c.count(p)
	}
	return cluster.Resources{CPU: cluster.MilliCPU(c.largest[0]), Memory: cluster.MiB(c.largest[1])}
}

// batch is how many VMs come in at least when somebody does, and a part of those that
// are inside: the trial is made anew each time.
const (
	batch      = 64
	batchShare = 2
)

// letIn lets an applicant in, and those behind it for whom there may be room as well.
func (c *crowd) letIn(p *Packing, at int) {
	var sum [2]int64
	vms, least := 0, batch+(p.stock.Current.Size()+c.inside())/batchShare
	for i := at; i < len(c.queue); i++ {
		if !c.outside[i] {
			continue
		}
		need := amounts(c.queue[i].Total)
		if i > at {
			if vms >= least && (sum[0]+need[0] > c.free[0] || sum[1]+need[1] > c.free[1]) {
				return
			}
			if _, hopeless := c.hopeless(p, i); hopeless {
				continue
			}
		}
		sum[0], sum[1] = sum[0]+need[0], sum[1]+need[1]
		vms += len(c.queue[i].Needs)
		c.enter(i)
	}
}
