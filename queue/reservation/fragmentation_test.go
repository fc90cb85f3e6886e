package reservation_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/queue"
	"vjob/queue/reservation"
	"vjob/tests/brute"
)

// shelf is capacity on nodes of equal size that places all vjobs anew each time, exhaustively.
type shelf struct {
	nodes, size int
	parts       map[cluster.VJobID][]int // CPU of the VMs of each vjob
	taken       []int
}

// Take implements [queue.Capacity].
func (s *shelf) Take(id cluster.VJobID) (bool, queue.Shortage) {
	all := append(append([]int(nil), s.taken...), s.parts[id]...)
	if !brute.Packs(all, s.nodes, s.size) {
		return false, queue.Shortage{}
	}
	s.taken = all
	return true, queue.Shortage{}
}

// A reservation is confirmed if and only if all vjobs of each of its seconds can be placed
// together; and a reservation with the suggested start is confirmed.
func TestPlacesAgainstACount(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 5))
	given, pieces := 0, 0
	for range 1000 {
		const nodes, size = 3, 4
		parts, begins, ends := map[cluster.VJobID][]int{}, map[cluster.VJobID]int{}, map[cluster.VJobID]int{}
		fits := func(from, to int, with ...cluster.VJobID) bool {
			for at := from; at < to; at++ {
				var all []int
				for _, id := range with {
					all = append(all, parts[id]...)
				}
				for id := range begins {
					if begins[id] <= at && at < ends[id] {
						all = append(all, parts[id]...)
					}
				}
				if !brute.Packs(all, nodes, size) {
					return false
				}
			}
			return true
		}
		r := reservation.Request{
			Now: noon, Total: cluster.Resources{CPU: nodes * size},
			Capacity: func() queue.Capacity { return &shelf{nodes: nodes, size: size, parts: parts} },
		}
		for id := cluster.VJobID(1); id < 9; id++ {
			for range 1 + rng.IntN(2) {
				parts[id] = append(parts[id], 1+rng.IntN(size))
			}
			sum := cluster.MilliCPU(0)
			for _, p := range parts[id] {
				sum += cluster.MilliCPU(p)
			}
			from, length := rng.IntN(300), 1+rng.IntN(200)
			if kept := rng.IntN(3) == 0; kept && fits(0, length, id) {
				begins[id], ends[id] = 0, length
				r.NonPreemptible = append(r.NonPreemptible, queue.Job{
					VJob: &cluster.VJob{ID: id, Walltime: time.Duration(length) * time.Second, Terms: &cluster.Terms{}}, Need: cluster.Resources{CPU: sum},
				})
				continue
			}
			r.Booking = queue.Booking{
				VJob: id, From: noon.Add(time.Duration(from) * time.Second), Length: time.Duration(length) * time.Second, Need: cluster.Resources{CPU: sum},
			}
			want, err := fits(from, from+length, id), r.Confirm()
			if want != (err == nil) {
				t.Fatalf("vjob %d of %v from %d for %d beside %v from %v to %v: %v", id, parts[id], from, length, parts, begins, ends, err)
			}
			if err == nil {
				given++
				begins[id], ends[id] = from, from+length
				r.Others = append(r.Others, r.Booking)
				continue
			}
			if strings.Contains(err.Error(), "in pieces too small") {
				pieces++
			}
			if _, text, named := strings.Cut(err.Error(), "the earliest start is "); named {
				at, err := time.Parse("15:04", text)
				if err != nil {
					t.Fatal(err)
				}
				if start := (at.Hour()*60+at.Minute())*60 - 12*3600; !fits(start, start+length, id) {
					t.Fatalf("%s: there is no room", text)
				}
			}
		}
	}
	if given < 1000 || pieces < 50 {
		t.Errorf("only %d were confirmed, and %d refused for want of places", given, pieces)
	}
}

func TestRefusalsOfPlacesAndQuotas(t *testing.T) {
	r := reservation.Request{
		Now: noon, Total: cluster.Resources{CPU: 8, Memory: 8},
		Booking: queue.Booking{VJob: 9, From: noon.Add(time.Hour), Length: time.Hour, Need: cluster.Resources{CPU: 3}},
		Others:  []queue.Booking{{VJob: 7, From: noon.Add(90 * time.Minute), Length: time.Hour, Need: cluster.Resources{CPU: 5}}},
		Capacity: func() queue.Capacity {
			return &shelf{nodes: 4, size: 2, parts: map[cluster.VJobID][]int{9: {2, 1}, 7: {1, 2, 2}}}
		},
	}
	if err := r.Confirm(); err != nil {
		t.Errorf("in small parts: %v", err)
	}
	r.Capacity = func() queue.Capacity {
		return &shelf{nodes: 2, size: 4, parts: map[cluster.VJobID][]int{9: {3}, 7: {3, 2}}}
	}
	want := "reservation: at 13:30 the 0.003 CPU and 8 MiB that are free beside reservation 7 lie in pieces too small for its VMs; the earliest start is 14:30"
	if err := r.Confirm(); err == nil || err.Error() != want {
		t.Errorf("\n got %v\nwant %s", err, want)
	}
	r.Others, r.Capacity = nil, nil
	r.NextChange = func(after time.Time) (time.Time, bool) {
		return time.Date(2026, 11, 21, 19, 0, 0, 0, time.UTC), after.Hour() < 19
	}
	r.Limit = func(at time.Time) string {
		if at.Hour() < 19 {
			return "quota day of user ann: 4 of 4 CPU are used, it needs 4"
		}
		return ""
	}
	want = "reservation: at 13:00 it would be over quota day of user ann: 4 of 4 CPU are used, it needs 4; the earliest start is 19:00"
	if err := r.Confirm(); err == nil || err.Error() != want {
		t.Errorf("\n got %v\nwant %s", err, want)
	}
}
