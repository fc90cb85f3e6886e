package schedule

import (
	"math/rand/v2"
	"slices"
	"sort"

	"vjob/repack"
)

// traffic is what a schedule has on the links. A unit starts when the free bandwidth lets its
// transfers end nearly as soon as on idle links: one transfer after the other, each at full
// speed, has a lower sum of completion times than many side by side, and small transfers go
// first. Until then the unit waits for the link in its way.
type traffic struct {
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
func newTraffic(in *repack.Instance, rng *rand.Rand) *traffic {
	if in.Network == nil {
		return nil
	}
	t := &traffic{whole: make([]int64, in.Links()), queue: make([][]waiter, in.Links()), sum: make([]int64, in.Links()), stretch: maxStretches[0]}
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
func (c *simulation) setRates(u int) bool {
	t := c.traffic
	if t == nil {
		return true
	}
	load := c.load(c.units[u].tasks)
	if len(load) == 0 {
		return true
	}
	idle := t.within(load, t.whole)
	if idle == repack.Forever {
		return false
	}
	if l, need := t.obstacle(load, repack.Ticks(float64(idle)*t.stretch), t.free); need > 0 {
		c.queueForLink(u, l, need)
		return false
	}
	t.share(load, t.within(load, t.free))
	for i := range load {
		s := &load[i]
		c.tasks[s.task].rate, c.tasks[s.task].takes = s.rate, s.Lasts(s.rate)
	}
	return true
}

// linksCarry reports whether idle links can carry the transfers of some tasks at once.
func (c *simulation) linksCarry(tasks []int) bool {
	if c.traffic == nil {
		return true
	}
	return c.traffic.within(c.load(tasks), c.traffic.whole) < repack.Forever
}

// queueForLink queues a unit for a link, by key.
func (c *simulation) queueForLink(u int, l repack.Link, need int64) {
	queue := c.traffic.queue[l]
	at := sort.Search(len(queue), func(i int) bool { return c.units[queue[i].unit].key > c.units[u].key })
	for i := at - 1; i >= 0 && c.units[queue[i].unit].key == c.units[u].key; i-- {
		if queue[i].unit == u {
			return
		}
	}
	c.traffic.queue[l] = slices.Insert(queue, at, waiter{u, need})
}

// useLinks takes the bandwidth of a transfer from its links, or returns it.
func (c *simulation) useLinks(t *task, sign int64) {
	if t.rate == 0 {
		return
	}
	var buffer [4]repack.Link
	for _, l := range c.In.AppendCrossed(buffer[:0], t.from, t.to) {
		c.traffic.free[l] -= sign * t.rate
		if sign < 0 {
			c.traffic.stir = append(c.traffic.stir, l)
		}
	}
}

// startQueuedOnLinks starts units that waited for links on which something has ended.
func (c *simulation) startQueuedOnLinks() {
	t := c.traffic
	for len(t.stir) > 0 {
		l := t.stir[len(t.stir)-1]
		t.stir = t.stir[:len(t.stir)-1]
		for i := 0; i < len(t.queue[l]); {
			a := t.queue[l][i]
			if a.need > t.free[l] && c.units[a.unit].waiting {
				i++
				continue
			}
			t.queue[l] = slices.Delete(t.queue[l], i, i+1)
			if c.units[a.unit].waiting && c.admits(a.unit) {
				c.start(a.unit)
			}
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
func (c *simulation) load(tasks []int) load {
	t := c.traffic
	t.sent, t.crossed = t.sent[:0], t.crossed[:0]
	for _, i := range tasks {
		x := &c.tasks[i]
		moved := c.In.Transfer(x.vm, x.kind, x.from, x.to)
		x.rate = 0
		if moved.Amount > 0 {
			first := len(t.crossed)
			t.crossed = c.In.AppendCrossed(t.crossed, x.from, x.to)
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
