package reservation_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/queue"
	"vjob/queue/reservation"
)

// nodeSet is nodes of equal size, and vjobs with the nodes that each may use.
type nodeSet struct {
	nodes, size int
	parts       map[cluster.VJobID][]int
	fences      map[cluster.VJobID]uint
}

// packed is the capacity of the nodes: it places all vjobs anew each time.
type packed struct {
	*nodeSet
	taken []cluster.VJobID
}

func (r *nodeSet) room() queue.Capacity { return &packed{nodeSet: r} }

// Take implements [queue.Capacity].
func (p *packed) Take(id cluster.VJobID) (bool, queue.Shortage) {
	if all := append(append([]cluster.VJobID(nil), p.taken...), id); p.fits(all...) {
		p.taken = all
		return true, queue.Shortage{}
	}
	return false, queue.Shortage{}
}

// fits tries every placement.
func (r *nodeSet) fits(ids ...cluster.VJobID) bool {
	type vm struct {
		size  int
		fence uint
	}
	var vms []vm
	for _, id := range ids {
		for _, size := range r.parts[id] {
			vms = append(vms, vm{size, r.fences[id]})
		}
	}
	free := make([]int, r.nodes)
	for n := range free {
		free[n] = r.size
	}
	var place func(i int) bool
	place = func(i int) bool {
		if i == len(vms) {
			return true
		}
		for n := range free {
			if vms[i].fence&(1<<n) == 0 || free[n] < vms[i].size {
				continue
			}
			free[n] -= vms[i].size
			if place(i + 1) {
				return true
			}
			free[n] += vms[i].size
		}
		return false
	}
	return place(0)
}

// draw returns a random vjob that fits on the empty nodes.
func (r *nodeSet) draw(rng *rand.Rand, id cluster.VJobID) queue.Job {
	for {
		r.parts[id], r.fences[id] = nil, 1<<r.nodes-1
		sum := cluster.MilliCPU(0)
		for range 1 + rng.IntN(3) {
			size := 1 + rng.IntN(r.size)
			r.parts[id] = append(r.parts[id], size)
			sum += cluster.MilliCPU(size)
		}
		if rng.IntN(2) == 0 {
			r.fences[id] = uint(1 + rng.IntN(1<<r.nodes-1))
		}
		if r.fits(id) {
			length := time.Duration(1+rng.IntN(60)) * time.Second
			return queue.Job{VJob: &cluster.VJob{ID: id, Walltime: length, Terms: &cluster.Terms{}}, Need: cluster.Resources{CPU: sum}}
		}
	}
}

// Under policies without preemption, a reservation that was confirmed by places and rules begins
// in its second whichever vjobs start after that.
func TestReservationsHaveTheirPlaces(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	given, held := 0, 0
	for _, policy := range []queue.Policy{queue.FCFS{}, queue.EASY{}, queue.Conservative{}} {
		for run := range 12 {
			rng := rand.New(rand.NewPCG(seed, uint64(run)))
			w := &nodeSimulation{nodeSet: &nodeSet{3, 4, map[cluster.VJobID][]int{}, map[cluster.VJobID]uint{}}, policy: policy, now: noon, rng: rng}
			for range 200 {
				if why := w.second(); why != "" {
					t.Fatalf("%s, run %d: %s", policy.Name(), run, why)
				}
			}
			given, held = given+w.given, held+w.held
		}
	}
	if given < 200 || held < 10 {
		t.Errorf("only %d reservations were confirmed, and %d vjobs waited for their places", given, held)
	}
}

// nodeSimulation is a cluster that advances by seconds.
type nodeSimulation struct {
	*nodeSet
	policy      queue.Policy
	now         time.Time
	rng         *rand.Rand
	jobs        []queue.Job
	next        cluster.VJobID
	given, held int
}

func (w *nodeSimulation) second() (wrong string) {
	w.now = w.now.Add(time.Second)
	left := w.jobs[:0]
	for _, j := range w.jobs {
		if j.State == cluster.Running {
			j.Ran += time.Second
		}
		if j.Ran < j.Walltime {
			left = append(left, j)
		}
	}
	w.jobs = left
	w.next++
	if j := w.draw(w.rng, w.next); w.rng.IntN(3) == 0 && w.confirmed(&j) {
		w.given++
		w.jobs = append(w.jobs, j)
	} else if j.Reservation.IsZero() && w.rng.IntN(4) == 0 {
		w.jobs = append(w.jobs, j)
	}
	m := &queue.Input{Now: w.now, Jobs: append([]queue.Job(nil), w.jobs...), Capacity: w.room, Total: cluster.Resources{CPU: cluster.MilliCPU(w.nodes * w.size)}}
	for i, v := range reservation.Select(queue.Preemptible{Policy: w.policy}, m, reservation.Leads{}) {
		j := &w.jobs[i]
		if v.Target == queue.Run && j.State.Ready() {
			j.State, j.Since = cluster.Running, w.now
		}
		if !j.Reservation.IsZero() && !w.now.Before(j.Reservation) && j.State != cluster.Running {
			return fmt.Sprintf("the reservation of vjob %s begins, and it does not run: %s", j.ID, v.Reason)
		}
		if shortOfPlaces(v.Reason) {
			w.held++
		}
	}
	var running []cluster.VJobID
	for i := range w.jobs {
		if w.jobs[i].State == cluster.Running {
			running = append(running, w.jobs[i].ID)
		}
	}
	if !w.fits(running...) {
		return fmt.Sprintf("%v do not fit together", running)
	}
	return ""
}

// confirmed requests a reservation for a vjob.
func (w *nodeSimulation) confirmed(j *queue.Job) bool {
	from := w.now.Add(time.Duration(1+w.rng.IntN(60)) * time.Second)
	r := reservation.Request{
		Now: w.now, Total: cluster.Resources{CPU: cluster.MilliCPU(w.nodes * w.size)}, Capacity: w.room,
		Booking: queue.Booking{VJob: j.ID, From: from, Length: j.Walltime, Need: j.Need},
	}
	for _, o := range w.jobs {
		left, _ := o.Left()
		b := queue.Booking{VJob: o.ID, From: o.Reservation, Length: left, Need: o.Need}
		switch runs := o.State == cluster.Running; {
		case !o.Reservation.IsZero():
			if runs {
				b.From = w.now
			}
			r.Others = append(r.Others, b)
		case runs:
			r.NonPreemptible = append(r.NonPreemptible, o)
		}
	}
	if r.Confirm() != nil {
		return false
	}
	j.Reservation = from
	return true
}

func shortOfPlaces(reason string) bool {
	return strings.Contains(reason, "which would find no places beside it")
}
