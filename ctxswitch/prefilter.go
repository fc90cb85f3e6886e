package ctxswitch

import (
	"slices"

	"vjob/cluster"
	"vjob/ctxswitch/placement"
	"vjob/repack/admission"
)

// prefilter keeps the applicants of a [Packing] out of its instance. An applicant is admitted
// when it asks, together with later ones that may fit, unless it certainly does not fit: so a
// pass over a long queue costs what the cluster can hold, and not the length of the queue.
type prefilter struct {
	*ApplicantQueue
	outside   []bool
	admitted  []int     // by number in the queue
	reference int       // an admitted VM that no rule names, with the least draw; -1 without one
	free      []int64   // in sum on the nodes that take VMs; nil: not counted yet
	largest   [2]int64  // of that, on the node with the most processors
	needs     [][]int64 // see amounts; used again and again
}

func newPrefilter(l *ApplicantQueue) prefilter {
	if l == nil {
		l = &ApplicantQueue{}
	}
	c := prefilter{ApplicantQueue: l, outside: make([]bool, len(l.queue)), reference: -1}
	for i := range c.outside {
		c.outside[i] = true
	}
	return c
}

// begin admits the first vjob that asks and the later applicants that may fit in an empty
// cluster. If the first is no applicant, begin admits the first batch of the queue
// unconditionally.
func (c *prefilter) begin(p *Packing, first cluster.VJobID) {
	if at, applies := c.place[first]; applies {
		c.free = make([]int64, len(placement.Dims))
		for _, n := range p.input.Current.Nodes() {
			if n.Hosts() {
				for d, x := range amounts(n.Capacity) {
					c.free[d] += x
				}
			}
		}
		c.admitBatch(p, at)
		c.free = nil
		return
	}
	for i, vms := 0, 0; i < len(c.queue) && vms < batch; i++ {
		c.markAdmitted(i)
		vms += len(c.queue[i].Needs)
	}
}

// markAdmitted records that an applicant is admitted.
func (c *prefilter) markAdmitted(at int) {
	c.outside[at] = false
	c.admitted = append(c.admitted, at)
}

// admittedVMs is the number of VMs of the admitted applicants.
func (c *prefilter) admittedVMs() (vms int) {
	for _, at := range c.admitted {
		vms += len(c.queue[at].Needs)
	}
	return vms
}

// addVMs adds the members of an applicant to the instance.
func (c *prefilter) addVMs(p *Packing, at int) {
	a := &c.queue[at]
	for rank, need := range a.Needs {
		vm := cluster.VMID{VJob: a.VJob, Rank: rank}
		if a.Rules == "" && len(p.input.Avoid[vm]) == 0 && (c.reference < 0 || c.needsLessPower(p, vm)) {
			c.reference = len(p.builder.vms)
		}
		p.addVM(vm, cluster.Situation{State: cluster.VMWaiting}, need)
	}
}

// rules returns these rules and those of the admitted vjobs.
func (c *prefilter) rules(list []placement.Rules) []placement.Rules {
	list = slices.Clip(list)
	for _, at := range c.admitted {
		if a := &c.queue[at]; a.Rules != "" {
			list = append(list, placement.Rules{VJob: a.VJob, Text: a.Rules})
		}
	}
	return list
}

// totalDemand is the demand of all vjobs that may ask, admitted or not.
func (c *prefilter) totalDemand(g *instanceBuilder) []int64 {
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

// admit admits a vjob that asks for room, or returns why it does not fit.
func (c *prefilter) admit(p *Packing, id cluster.VJobID) (why admission.Refusal, refused bool) {
	at, applies := c.place[id]
	if !applies || !c.outside[at] {
		return admission.Refusal{}, false
	}
	if why, refused := c.noFit(p, at); refused {
		return why, true
	}
	c.admitBatch(p, at)
	p.fault = p.build()
	return admission.Refusal{}, false
}

// noFit reports whether a vjob certainly does not fit: the free room is too small in sum, or in
// one piece.
func (c *prefilter) noFit(p *Packing, at int) (why admission.Refusal, so bool) {
	if c.free == nil {
		c.countFree(p)
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
	if c.reference < 0 || a.Rules != "" || p.builder.namesVMs || c.avoidsNodes(p, a) || c.anyNeedsLessPower(p, a) {
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
	return p.trial.NoFit(c.needs[:len(a.Needs)], c.reference)
}

// avoidsNodes reports whether a member is to avoid some nodes.
func (c *prefilter) avoidsNodes(p *Packing, a *Applicant) bool {
	if len(p.input.Avoid) == 0 {
		return false
	}
	for rank := range a.Needs {
		if len(p.input.Avoid[cluster.VMID{VJob: a.VJob, Rank: rank}]) > 0 {
			return true
		}
	}
	return false
}

// needsLessPower reports whether a VM needs less power than the reference VM.
func (c *prefilter) needsLessPower(p *Packing, vm cluster.VMID) bool {
	return p.input.Feeds.least(vm) < p.input.Feeds.least(p.builder.vms[c.reference])
}

// anyNeedsLessPower reports whether a member does: it may fit where the reference VM does not.
func (c *prefilter) anyNeedsLessPower(p *Packing, a *Applicant) bool {
	if p.input.Feeds == nil {
		return false
	}
	for rank := range a.Needs {
		if c.needsLessPower(p, cluster.VMID{VJob: a.VJob, Rank: rank}) {
			return true
		}
	}
	return false
}

// countFree counts the free room on the nodes that take VMs.
func (c *prefilter) countFree(p *Packing) {
	c.free, c.largest = make([]int64, len(p.builder.in.Dims)), [2]int64{}
	for n := range p.builder.nodes {
		if !p.builder.nodes[n].Hosts() {
			continue
		}
		load := p.trial.Load(n)
		var piece [2]int64
		for d, room := range p.builder.in.Nodes[n].Capacity {
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

// largestPiece is the free room on the node with the most free processors.
func (c *prefilter) largestPiece(p *Packing) cluster.Resources {
	if c.free == nil {
		c.countFree(p)
	}
	return cluster.Resources{CPU: cluster.MilliCPU(c.largest[0]), Memory: cluster.MiB(c.largest[1])}
}

// An admission adds at least batch VMs, and a part of those that are in the instance already:
// each admission rebuilds the trial.
const (
	batch      = 64
	batchShare = 2
)

// admitBatch admits an applicant, and later ones that may fit as well.
func (c *prefilter) admitBatch(p *Packing, at int) {
	var sum [2]int64
	vms, least := 0, batch+(p.input.Current.Size()+c.admittedVMs())/batchShare
	for i := at; i < len(c.queue); i++ {
		if !c.outside[i] {
			continue
		}
		need := amounts(c.queue[i].Total)
		if i > at {
			if vms >= least && (sum[0]+need[0] > c.free[0] || sum[1]+need[1] > c.free[1]) {
				return
			}
			if _, hopeless := c.noFit(p, i); hopeless {
				continue
			}
		}
		sum[0], sum[1] = sum[0]+need[0], sum[1]+need[1]
		vms += len(c.queue[i].Needs)
		c.markAdmitted(i)
	}
}
