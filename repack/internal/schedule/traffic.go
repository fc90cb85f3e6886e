package schedule

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sort"

	"vjob/repack"
)

// traffic is what a schedule has on the links. A unit starts when the free bandwidth lets its
// transfers end nearly as soon as on idle links: one transfer after the other, each at full
// speed, has a lower sum of completion times than many side by side, and small transfers go
// first. Until then the unit waits for the link in its way. Nil traffic has no limit.
type traffic struct {
	agenda  *agenda
	free    []int64 // of each link, now
	whole   []int64 // of each idle link
	queue   [][]waiter
	stir    []repack.Link // links on which something has ended
	stretch float64       // how many times longer than on idle links a transfer may take

	sent    load // buffers: see load and obstacle
	crossed []repack.Link
	sum     []int64
}

// waiter is a unit that waits until so much of a link is free.
type waiter struct {
	unit int
	need int64
}

// maxStretches are what a random schedule chooses from; otherwise it is the first, which
// usually wins: 1 wastes the part of an uplink that is no multiple of a NIC, and without a
// limit transfers crawl along in the bandwidth that others leave.
var maxStretches = [...]float64{2, 2, 1, 1.5, 4}

// newTraffic returns the traffic of an idle network; nil if there is no network.
func newTraffic(a *agenda, rng *rand.Rand) *traffic {
	in := a.In
	if in.Network == nil {
		return nil
	}
	t := &traffic{agenda: a, whole: make([]int64, in.Links()), queue: make([][]waiter, in.Links()), sum: make([]int64, in.Links()), stretch: maxStretches[0]}
	for l := range t.whole {
		t.whole[l] = in.Bandwidth(repack.Link(l))
	}
	t.free = slices.Clone(t.whole)
	if rng != nil {
		t.stretch = maxStretches[rng.IntN(len(maxStretches))]
	}
	return t
}

// setRates finds the rates of the transfers of a unit now, and how long its tasks take. It
// returns false if the unit has to wait, and queues it.
func (t *traffic) setRates(u int) bool {
	if t == nil {
		return true
	}
	load := t.load(t.agenda.units[u].tasks)
	if len(load) == 0 {
		return true
	}
	idle := t.within(load, t.whole)
	if idle == repack.Forever {
		return false
	}
	if l, need := t.obstacle(load, repack.Ticks(float64(idle)*t.stretch), t.free); need > 0 {
		t.enqueue(u, l, need)
		return false
	}
	t.share(load, t.within(load, t.free))
	for i := range load {
		s := &load[i]
		t.agenda.tasks[s.task].rate, t.agenda.tasks[s.task].takes = s.rate, s.Lasts(s.rate)
	}
	return true
}

// carries reports whether idle links can carry the transfers of some tasks at once.
func (t *traffic) carries(tasks []int) bool {
	if t == nil {
		return true
	}
	return t.within(t.load(tasks), t.whole) < repack.Forever
}

// enqueue queues a unit for a link, by key.
func (t *traffic) enqueue(u int, l repack.Link, need int64) {
	queue := t.queue[l]
	at := sort.Search(len(queue), func(i int) bool { return t.agenda.units[queue[i].unit].key > t.agenda.units[u].key })
	for i := at - 1; i >= 0 && t.agenda.units[queue[i].unit].key == t.agenda.units[u].key; i-- {
		if queue[i].unit == u {
			return
		}
	}
	t.queue[l] = slices.Insert(queue, at, waiter{u, need})
}

// use takes the bandwidth of a transfer from its links, or returns it.
func (t *traffic) use(x *task, sign int64) {
	if x.rate == 0 {
		return
	}
	var buffer [4]repack.Link
	for _, l := range t.agenda.In.AppendCrossed(buffer[:0], x.from, x.to) {
		t.free[l] -= sign * x.rate
		if sign < 0 {
			t.stir = append(t.stir, l)
		}
	}
}

// startQueued tries the units that waited for links on which something has ended.
func (t *traffic) startQueued(try func(unit int)) {
	for t != nil && len(t.stir) > 0 {
		l := t.stir[len(t.stir)-1]
		t.stir = t.stir[:len(t.stir)-1]
		for i := 0; i < len(t.queue[l]); {
			a := t.queue[l][i]
			if a.need > t.free[l] && t.agenda.units[a.unit].waiting {
				i++
				continue
			}
			t.queue[l] = slices.Delete(t.queue[l], i, i+1)
			try(a.unit)
		}
	}
}

// load is the transfers of tasks that start together.
type load []transfer

type transfer struct {
	repack.Transfer
	task  int
	links []repack.Link
	rate  int64
}

// load returns the transfers of some tasks; it is valid until the next call.
func (t *traffic) load(tasks []int) load {
	t.sent, t.crossed = t.sent[:0], t.crossed[:0]
	for _, i := range tasks {
		x := &t.agenda.tasks[i]
		moved := t.agenda.In.Transfer(x.vm, x.kind, x.from, x.to)
		x.rate = 0
		if moved.Amount > 0 {
			first := len(t.crossed)
			t.crossed = t.agenda.In.AppendCrossed(t.crossed, x.from, x.to)
			t.sent = append(t.sent, transfer{moved, i, t.crossed[first:], 0})
		}
	}
	return t.sent
}

// longest returns how long a load takes at the lowest rates.
func (l load) longest() (most repack.Ticks) {
	for i := range l {
		most = max(most, l[i].Lasts(l[i].Dirty+1))
	}
	return most
}

// within returns the least time to send a load with the free bandwidth; Forever if that is not
// possible.
func (t *traffic) within(l load, free []int64) repack.Ticks {
	if len(l) == 1 {
		return l[0].Lasts(least(l[0].links, free))
	}
	most := l.longest()
	if _, need := t.obstacle(l, most, free); need > 0 {
		return repack.Forever
	}
	return repack.Ticks(sort.Search(int(most), func(within int) bool {
		_, need := t.obstacle(l, repack.Ticks(within), free)
		return need == 0
	}))
}

// least returns the free bandwidth of the narrowest link.
func least(links []repack.Link, free []int64) int64 {
	rate := free[links[0]]
	for _, l := range links[1:] {
		rate = min(rate, free[l])
	}
	return rate
}

// obstacle returns a link that lacks bandwidth to send a load within some time, and how much
// the load needs; 0 if no link does.
func (t *traffic) obstacle(l load, within repack.Ticks, free []int64) (at repack.Link, need int64) {
	for i := range l {
		for _, link := range l[i].links {
			t.sum[link] += l[i].Rate(max(within, l[i].Base))
		}
	}
	for i := range l {
		for _, link := range l[i].links {
			if t.sum[link] > free[link] && need == 0 {
				at, need = link, t.sum[link]
			}
			t.sum[link] = 0
		}
	}
	return at, need
}

// share gives each transfer of a load the rate to be done within some time, and then the
// remaining bandwidth to the transfers that can be faster with it, in order.
func (t *traffic) share(l load, within repack.Ticks) {
	for i := range l {
		l[i].rate = l[i].Rate(max(within, l[i].Base))
		for _, link := range l[i].links {
			t.free[link] -= l[i].rate
		}
	}
	for i := range l {
		s := &l[i]
		rate := s.Rate(s.Lasts(s.rate + least(s.links, t.free)))
		for _, link := range s.links {
			t.free[link] -= rate - s.rate
		}
		s.rate = rate
	}
	for i := range l {
		for _, link := range l[i].links {
			t.free[link] += l[i].rate
		}
	}
}

// lackText says that tasks that must start together need more of a link than it has,
// even at the lowest rates.
func (t *traffic) lackText() string {
	if t == nil {
		return ""
	}
	for u := range t.agenda.units {
		tasks := t.agenda.units[u].tasks
		if !t.agenda.units[u].waiting || len(tasks) < 2 || t.carries(tasks) {
			continue
		}
		load := t.load(tasks)
		l, need := t.obstacle(load, load.longest(), t.whole)
		text := fmt.Sprintf("%d VMs must %s together", len(tasks), t.agenda.tasks[tasks[0]].kind)
		if g := t.agenda.GangOf[t.agenda.tasks[tasks[0]].vm]; g >= 0 {
			text = fmt.Sprintf("the %d VMs of gang %d must %s together", len(tasks), g, t.agenda.tasks[tasks[0]].kind)
		}
		return fmt.Sprintf("%s: that takes %d of %s at least, which has %d", text, need, t.agenda.In.LinkName(l), t.agenda.In.Bandwidth(l))
	}
	return ""
}
