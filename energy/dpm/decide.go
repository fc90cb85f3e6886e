package dpm

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"

	"vjob/cluster"
)

// Advice is the hosts to switch, in order, and the scores behind it.
type Advice struct {
	On, Off []Change
	Scores  Scores // before anything is switched
	Why     string // why no host is switched; "" if one is
}

// Change is one host to be switched, and why.
type Change struct {
	Host cluster.NodeID
	Why  string
}

// decision is the state of [Settings.Decide].
type decision struct {
	*Settings
	*Cluster
	place     Rebalance
	on        []cluster.NodeID // hosts on or coming, after the changes so far, sorted
	where     Placement
	now       Scores
	evaluated int
}

// Decide returns the hosts to switch. Random numbers order hosts that are alike.
func (s *Settings) Decide(c *Cluster, place Rebalance, chance *rand.Rand) Advice {
	d := decision{Settings: s, Cluster: c, place: place}
	for _, h := range c.Hosts {
		if h.State != Off {
			d.on = append(d.on, h.ID)
		}
	}
	slices.Sort(d.on)
	where, ok := place(d.on, c.Where)
	if !ok {
		where = c.Where // the current placement: no better one is known
	}
	d.where, d.now = where, s.Scores(c, d.on, where)
	a := Advice{Scores: d.now}
	switch {
	case d.now.High.positive() || d.lacksSpare(d.on):
		a.On = d.switchOn(chance)
		if len(a.On) == 0 {
			a.Why = "hosts are too busy, and none that is off would help"
		}
	case !ok:
		a.Why = "the VMs cannot be placed as things are"
	case c.JobsWait:
		a.Why = "a job waits for capacity"
	case !c.History.covers(s.OffWindow):
		a.Why = fmt.Sprintf("demand is not known for %s yet", s.OffWindow)
	case d.now.Low.CPU == 0 || d.now.Low.Memory == 0:
		a.Why = "no host is idle enough in both processors and memory"
	default:
		a.Off = d.switchOff()
		if len(a.Off) == 0 {
			a.Why = "no host can be spared"
		}
	}
	return a
}

// switchOn adds hosts, the largest first, as long as some are too busy (§4.3).
func (d *decision) switchOn(chance *rand.Rand) (list []Change) {
	order := d.candidates(Off)
	chance.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	slices.SortStableFunc(order, func(a, b *Host) int { return -compareSize(a, b) })
	for i := 0; i < len(order) && (d.now.High.positive() || d.lacksSpare(d.on)) && d.mayEvaluate(); i++ {
		if d.lacksSpare(d.on) {
			d.adopt(with(d.on, order[i].ID))
			list = append(list, Change{order[i].ID, "too little is kept free"})
			continue
		}
		best, at := d.evaluateOn(order[i]), i
		if best == nil {
			continue
		}
		if !best.now.High.positive() { // one host suffices: choose the one that leaves the least idle
			for k := i + 1; k < len(order) && best.now.Low.exceeds(d.now.Low) && d.mayEvaluate(); k++ {
				if other := d.evaluateOn(order[k]); other != nil && !other.now.High.positive() && idleness(other.now) < idleness(best.now) {
					best, at = other, k
				}
			}
		}
		order[i], order[at] = order[at], order[i]
		list = append(list, Change{order[i].ID, fmt.Sprintf("hosts are too busy: high score %s", d.now.High)})
		d.on, d.where, d.now = best.on, best.where, best.now
	}
	return list
}

// evaluateOn returns the cluster with one more host, or nil if that does not help: it must
// lower the high scores, and because of this host. So the host is removed again, and the gain
// must disappear (§4.3).
func (d *decision) evaluateOn(h *Host) *decision {
	next := *d
	if !next.adopt(with(d.on, h.ID)) || next.now.High.exceeds(d.now.High) || !d.now.High.exceeds(next.now.High) {
		return nil
	}
	if back, ok := d.place(d.on, next.where); ok {
		if again := d.Scores(d.Cluster, d.on, back); d.now.High.exceeds(again.High) && !again.High.exceeds(next.now.High) {
			return nil
		}
	}
	return &next
}

// switchOff removes hosts while some are idle, the smallest first and then those with the
// least memory to move (§4.2).
func (d *decision) switchOff() (list []Change) {
	order := d.candidates(On)
	moved := d.memoryOn(d.Where)
	slices.SortStableFunc(order, func(a, b *Host) int {
		return cmp.Or(compareSize(a, b), cmp.Compare(moved[a.ID], moved[b.ID]))
	})
	for _, h := range order {
		if d.now.Low.CPU == 0 || d.now.Low.Memory == 0 || len(d.on) == 1 || !d.mayEvaluate() {
			break
		}
		next := *d
		if d.Now.Sub(h.Since) < d.MinOn || d.lacksSpare(without(d.on, h.ID)) || !next.adopt(without(d.on, h.ID)) {
			continue
		}
		// Interpretation of the paper: its low score is the sum of both resources, and must
		// fall; its high score must rise for neither.
		if next.now.High.exceeds(d.now.High) || idleness(next.now) > idleness(d.now)-tiny || !d.pays(h, &next) {
			continue
		}
		list = append(list, Change{h.ID, fmt.Sprintf("hosts are idle: low score %s", d.now.Low)})
		d.on, d.where, d.now, d.evaluated = next.on, next.where, next.now, next.evaluated
	}
	return list
}

// adopt changes the hosts that are on, if the VMs can be placed there.
func (d *decision) adopt(on []cluster.NodeID) bool {
	where, ok := d.place(on, d.where)
	if ok {
		d.on, d.where, d.now = on, where, d.Scores(d.Cluster, on, where)
	}
	return ok
}

// mayEvaluate counts an evaluation, and reports whether the limit allows it.
func (d *decision) mayEvaluate() bool {
	d.evaluated++
	return d.Trials == 0 || d.evaluated <= d.Trials
}

// candidates returns the hosts of a state that may be switched, sorted by ID.
func (d *decision) candidates(state PowerState) (list []*Host) {
	for i := range d.Hosts {
		if h := &d.Hosts[i]; h.State == state && h.FixedReason == "" {
			list = append(list, h)
		}
	}
	return list
}

// lacksSpare reports whether the hosts leave less free than the settings require, beside the
// demand that counts for off.
func (d *decision) lacksSpare(on []cluster.NodeID) bool {
	if d.SpareNodes == 0 && d.SpareShare == 0 {
		return false
	}
	var keep, memory cluster.Resources
	sizes := slices.Clone(d.Hosts)
	slices.SortStableFunc(sizes, func(a, b Host) int { return -compareSize(&a, &b) })
	for i, h := range sizes {
		if i < d.SpareNodes {
			keep = keep.Plus(h.Capacity)
		}
		memory = memory.Plus(h.Capacity)
	}
	keep.CPU = max(keep.CPU, cluster.MilliCPU(d.SpareShare*float64(memory.CPU)))
	keep.Memory = max(keep.Memory, cluster.MiB(d.SpareShare*float64(memory.Memory)))
	has := d.capacity(on)
	used := estimate(d.total(d.OffWindow), d.Deviations)
	mem := cluster.MiB(0)
	for vm := range d.Where {
		mem += d.Memory[vm]
	}
	return float64(has.CPU)-used < float64(keep.CPU) || has.Memory-mem < keep.Memory
}

// compareSize orders hosts by CPU, then by memory, the smaller first.
func compareSize(a, b *Host) int {
	return cmp.Or(cmp.Compare(a.Capacity.CPU, b.Capacity.CPU), cmp.Compare(a.Capacity.Memory, b.Capacity.Memory))
}

func idleness(s Scores) float64 { return s.Low.CPU + s.Low.Memory }

// String formats both parts.
func (s Score) String() string {
	return fmt.Sprintf("%.2f of processors, %.2f of memory", s.CPU, s.Memory)
}

func with(on []cluster.NodeID, id cluster.NodeID) []cluster.NodeID {
	at, _ := slices.BinarySearch(on, id)
	return slices.Insert(slices.Clone(on), at, id)
}

func without(on []cluster.NodeID, id cluster.NodeID) []cluster.NodeID {
	return slices.DeleteFunc(slices.Clone(on), func(o cluster.NodeID) bool { return o == id })
}
