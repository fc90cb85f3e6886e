package day

import (
	"slices"
	"time"

	"vjob/cluster"
	"vjob/energy/dpm"
	"vjob/scheduler/balance"
)

// transfer is a migration, which waits or is under way.
type transfer struct {
	vm, to     int
	set        int   // the search that it is of
	number     int   // in that search
	after      []int // moves of the same search that have to end before
	begin, end time.Duration
	asked      time.Duration
}

// patience is for how long a migration waits for memory or a free slot before it is given up.
const patience = 30 * time.Minute

// settle completes migrations that have ended, and nodes that have come on or are empty.
func (r *run) settle() {
	r.flights = slices.DeleteFunc(r.flights, func(t transfer) bool {
		if r.now < t.end {
			return false
		}
		from := r.where[t.vm]
		a, b := &r.hosts[from], &r.hosts[t.to]
		a.vms = slices.DeleteFunc(a.vms, func(vm int) bool { return vm == t.vm })
		b.vms = append(b.vms, t.vm)
		a.moving, b.moving, b.coming = a.moving-1, b.moving-1, b.coming-r.VMs[t.vm].Memory
		a.stale, b.stale = true, true
		r.where[t.vm] = t.to
		r.visits[t.vm] = append(r.visits[t.vm], left{from, r.now})
		return true
	})
	for i := range r.hosts {
		h := &r.hosts[i]
		if h.leaving && r.now-h.asked > patience {
			h.leaving = false
		}
		if h.state == dpm.Coming && r.now >= h.ready {
			h.state, h.since, h.stale = dpm.On, r.now, true
		}
		if h.leaving && len(h.vms) == 0 && h.moving == 0 && !slices.ContainsFunc(r.queue, func(t transfer) bool { return t.to == i }) {
			h.leaving, h.state, h.ready, h.stale = false, dpm.Off, r.now+r.nodes[i].Power.Off.Time, true
			r.Offs++
		}
	}
}

// depart begins the migrations that can: those before have ended, both ends have a free slot, and the destination is
// on and has the memory.
func (r *run) depart() {
	kept := r.queue[:0]
	for i, t := range r.queue {
		switch {
		case r.now-t.asked > patience || r.hosts[t.to].state != dpm.On || r.hosts[t.to].leaving:
			continue // given up
		case r.blocked(&t, kept, r.queue[i+1:]):
			kept = append(kept, t)
			continue
		}
		a, b := &r.hosts[r.where[t.vm]], &r.hosts[t.to]
		t.begin, t.end = r.now, r.now+r.takes(t.vm)
		a.moving, b.moving, b.coming = a.moving+1, b.moving+1, b.coming+r.VMs[t.vm].Memory
		a.stale, b.stale = true, true
		r.flights = append(r.flights, t)
		r.count(&t)
	}
	r.queue = kept
}

// blocked reports whether a migration has to wait. Others of its search wait in two lists.
func (r *run) blocked(t *transfer, lists ...[]transfer) bool {
	a, b := &r.hosts[r.where[t.vm]], &r.hosts[t.to]
	if a.moving >= transfers || b.moving >= transfers || r.free(t.to) < r.VMs[t.vm].Memory {
		return true
	}
	for _, list := range append(lists, r.flights) {
		for i := range list {
			if o := &list[i]; o.set == t.set && slices.Contains(t.after, o.number) {
				return true
			}
		}
	}
	return false
}

// free returns the memory of a node that no VM has, there or on its way there.
func (r *run) free(n int) cluster.MiB {
	h := &r.hosts[n]
	free := r.nodes[n].Capacity.Memory - h.coming
	for _, vm := range h.vms {
		free -= r.VMs[vm].Memory
	}
	return free
}

// takes is the duration of a migration: the whole memory is copied once.
func (r *run) takes(vm int) time.Duration {
	return time.Duration(float64(r.VMs[vm].Memory) / rate * float64(time.Second))
}

// count counts a migration that begins.
func (r *run) count(t *transfer) {
	r.Moves++
	if slices.ContainsFunc(r.late(t.vm), func(v left) bool { return v.node == t.to }) {
		r.Returns++
	}
	has := r.nodes[t.to].Capacity.Memory
	r.MostMemory = max(r.MostMemory, 1-float64(r.free(t.to))/float64(has))
}

// overhead is the CPU that migrations take on a node in this stride, in thousandths of a processor.
func (r *run) overhead(n int) (sum float64) {
	if r.hosts[n].moving == 0 {
		return 0
	}
	for i := range r.flights {
		if t := &r.flights[i]; r.where[t.vm] == n || t.to == n {
			part := float64(min(t.end, r.now+stride)-r.now) / float64(stride)
			sum += part * float64(balance.Default.MigrateCPU)
		}
	}
	return sum
}

// late returns the nodes that a VM has left within the hour.
func (r *run) late(vm int) []left {
	r.visits[vm] = slices.DeleteFunc(r.visits[vm], func(v left) bool { return r.now-v.at >= memoryOf })
	return r.visits[vm]
}
