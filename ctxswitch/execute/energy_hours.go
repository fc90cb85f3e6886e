package execute

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
	"vjob/energy"
)

// hours is the energy of each hour that is not yet written, in whole millijoules: so the sum over
// the nodes equals that over the vjobs plus the unused rest, to the last one.
type hours struct {
	nodes map[nodeHour]*journal.NodeHour
	vjobs map[vjobHour]*journal.VJobHour
}

type nodeHour struct {
	hour time.Time
	node cluster.NodeID
}

type vjobHour struct {
	hour time.Time
	vjob cluster.VJobID
}

func newHours() hours {
	return hours{map[nodeHour]*journal.NodeHour{}, map[vjobHour]*journal.VJobHour{}}
}

// hourOf is when the hour of UTC began in which an instant lies.
func hourOf(t time.Time) time.Time { return t.UTC().Truncate(time.Hour) }

func millijoules(w energy.Watts, d time.Duration) int64 {
	return int64(math.Round(1000 * float64(w.Over(d))))
}

// chargeHour adds what a node has drawn for a time within one hour. Whatever is not the
// share of a vjob is counted as unused.
func (em *energyMeter) chargeHour(n *node, hour time.Time, dt time.Duration) {
	left := n.power.watts
	sum := int64(0)
	for _, s := range n.power.shares {
		p, ok := em.gangs.live[s.vm.VJob]
		if !ok {
			continue
		}
		own := millijoules(s.watts, dt)
		em.hours.vjob(hour, p).Millijoules += own
		sum, left = sum+own, left-s.watts
	}
	unused := millijoules(max(left, 0), dt)
	h := em.hours.node(hour, n.ID)
	h.Millijoules, h.Unused = h.Millijoules+sum+unused, h.Unused+unused
}

// node is the account of a node in an hour.
func (h *hours) node(hour time.Time, id cluster.NodeID) *journal.NodeHour {
	key := nodeHour{hour, id}
	if h.nodes[key] == nil {
		h.nodes[key] = &journal.NodeHour{Hour: hour, Node: id}
	}
	return h.nodes[key]
}

// vjob is the account of a vjob in an hour. It outlives the vjob until it is written.
func (h *hours) vjob(hour time.Time, p *gangState) *journal.VJobHour {
	key := vjobHour{hour, p.job.ID}
	if h.vjobs[key] == nil {
		h.vjobs[key] = &journal.VJobHour{
			Hour: hour, VJob: p.job.ID, Owner: p.job.Owner, Project: p.job.Project, Queue: p.job.Queue, Shifted: p.job.Flexible > 0,
		}
	}
	return h.vjobs[key]
}

// write moves everything into a step, in order.
func (h *hours) write(step *journal.Step) {
	byNode := func(a, b nodeHour) int { return cmp.Or(a.hour.Compare(b.hour), cmp.Compare(a.node, b.node)) }
	for _, key := range slices.SortedFunc(maps.Keys(h.nodes), byNode) {
		step.NodeHours = append(step.NodeHours, *h.nodes[key])
	}
	byVJob := func(a, b vjobHour) int { return cmp.Or(a.hour.Compare(b.hour), cmp.Compare(a.vjob, b.vjob)) }
	for _, key := range slices.SortedFunc(maps.Keys(h.vjobs), byVJob) {
		step.VJobHours = append(step.VJobHours, *h.vjobs[key])
	}
	clear(h.nodes)
	clear(h.vjobs)
}
