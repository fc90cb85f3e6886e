package ctxswitch

import (
	"slices"
	"time"

	"vjob/cluster"
)

// ledger keeps the books of one resource of one node while a plan is built. The
// room is cut into chunks by who frees them. What arrives takes chunks and has to
// wait for those who free them; when it leaves, its room becomes a new chunk. A
// chunk has one holder at a time, and all chunks together are the capacity: that
// is why the node is never over capacity, however fast or slow the actions are.
//
// A node that is overloaded at the start has a debt. What leaves pays it first,
// and whoever comes later waits for all who paid: nothing is added to a node that
// is still overloaded.
type ledger struct {
	chunks []chunk // by time
	debt   int64
	payers []int         // units
	paid   time.Duration // when the last of them ends
}

// chunk is room that is free once some units have ended.
type chunk struct {
	amount int64
	from   time.Duration // estimated
	after  []int         // units
}

// newLedger is a node's resource with so much free at the start, or lacking.
func newLedger(free int64) ledger {
	if free < 0 {
		return ledger{debt: -free}
	}
	if free == 0 {
		return ledger{}
	}
	return ledger{chunks: []chunk{{amount: free}}}
}

// lacks is how much more would have to be freed for the amount to fit; 0 when it
// fits.
func (l *ledger) lacks(amount int64) int64 {
	if amount == 0 {
		return 0
	}
	for _, c := range l.chunks {
		amount -= c.amount
	}
	return max(0, amount+l.debt)
}

// ready is when the amount is free, estimated. The caller has made sure that
// nothing lacks.
func (l *ledger) ready(amount int64) (at time.Duration) {
	for i := 0; amount > 0; i++ {
		at = l.chunks[i].from
		amount -= l.chunks[i].amount
	}
	return at
}

// take uses up the amount and lists the units that free it. Of the chunks that
// are free by then it takes the latest first: the early room is left to those who
// have nothing else to wait for.
func (l *ledger) take(amount int64, by time.Duration) (after []int) {
	for i := len(l.chunks) - 1; i >= 0 && amount > 0; i-- {
		c := &l.chunks[i]
		if c.from > by {
			continue
		}
		part := min(amount, c.amount)
		amount -= part
		c.amount -= part
		after = append(after, c.after...)
	}
	l.chunks = slices.DeleteFunc(l.chunks, func(c chunk) bool { return c.amount == 0 })
	return after
}

// give adds a chunk that is free once the unit has ended.
func (l *ledger) give(amount int64, unit int, end time.Duration) {
	if amount == 0 {
		return
	}
	if l.debt > 0 {
		l.payers, l.paid = append(l.payers, unit), max(l.paid, end)
	}
	paid := min(amount, l.debt)
	l.debt -= paid
	amount -= paid
	if amount == 0 {
		return
	}
	c := chunk{amount: amount, from: max(end, l.paid), after: append(slices.Clone(l.payers), unit)}
	at, _ := slices.BinarySearchFunc(l.chunks, c, func(a, b chunk) int {
		if a.from <= b.from {
			return -1 // after those of the same instant
		}
		return 1
	})
	l.chunks = slices.Insert(l.chunks, at, c)
}

// books are the ledgers of one node.
type books [dimensions]ledger

func newBooks(free cluster.Resources) *books {
	return &books{newLedger(int64(free.CPU)), newLedger(int64(free.Memory))}
}

func (b *books) lacks(need cluster.Resources) cluster.Resources {
	return cluster.Resources{
		CPU:    cluster.MilliCPU(b[cpu].lacks(int64(need.CPU))),
		Memory: cluster.MiB(b[memory].lacks(int64(need.Memory))),
	}
}

func (b *books) take(need cluster.Resources) []int {
	c, m := int64(need.CPU), int64(need.Memory)
	by := max(b[cpu].ready(c), b[memory].ready(m))
	return append(b[cpu].take(c, by), b[memory].take(m, by)...)
}

func (b *books) give(need cluster.Resources, unit int, end time.Duration) {
	b[cpu].give(int64(need.CPU), unit, end)
	b[memory].give(int64(need.Memory), unit, end)
}

// room is what is free by the end of the plan so far.
func (b *books) room() cluster.Resources {
	sum := func(l *ledger) (free int64) {
		for _, c := range l.chunks {
			free += c.amount
		}
		return free - l.debt
	}
	return cluster.Resources{CPU: cluster.MilliCPU(sum(&b[cpu])), Memory: cluster.MiB(sum(&b[memory]))}
}
