package ctxswitch_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/ctxswitch/placement"
)

// throng is a cluster with vjobs that run and many that wait, and the same with those
// that wait outside.
func throng(rng *rand.Rand) (all, apart ctxswitch.PackingInput, asking []cluster.VJobID) {
	s := newScene()
	nodes := 2 + rng.IntN(6)
	name := func() cluster.NodeID { return cluster.NodeID(fmt.Sprintf("n%d", rng.IntN(nodes))) }
	for n := range nodes {
		s.node(cluster.NodeID(fmt.Sprintf("n%d", n)), float64(2+rng.IntN(8)), float64(2+rng.IntN(8)))
	}
	if rng.IntN(3) == 0 {
		s.claim(name(), 1, 1)
	}
	last := cluster.VJobID(0)
	for range rng.IntN(8) {
		last++
		for rank := range 1 + rng.IntN(3) {
			host := name()
			if need := size(float64(1+rng.IntN(3)), float64(1+rng.IntN(3))); need.Fits(s.Current.Free(host)) {
				vm := cluster.VMID{VJob: last, Rank: rank}
				s.Current.SetRunning(vm, need, host)
				if rng.IntN(4) == 0 {
					s.pin(vm.String())
				}
			}
		}
		asking = append(asking, last)
	}
	if rng.IntN(3) == 0 {
		s.state(name(), cluster.Draining)
	}
	all, apart = s.stock(), s.stock()
	all.Current = s.Current.Clone()
	all.Avoid = map[cluster.VMID][]cluster.NodeID{}
	apart.Avoid = all.Avoid
	unit := []float64{1, 0.5, 0.1}[rng.IntN(3)]
	var queue []ctxswitch.Applicant
	for range 5 + rng.IntN(300) {
		last++
		a := ctxswitch.Applicant{VJob: last}
		for rank := range 1 + rng.IntN(4) {
			vm := cluster.VMID{VJob: last, Rank: rank}
			need := size(unit*float64(1+rng.IntN(4)), unit*float64(1+rng.IntN(4)))
			a.Needs, a.Total = append(a.Needs, need), a.Total.Plus(need)
			all.Current.SetWaiting(vm, need)
			all.Needs[vm] = need
			if rng.IntN(20) == 0 {
				all.Avoid[vm] = []cluster.NodeID{name()}
			}
		}
		if rng.IntN(4) == 0 {
			a.Rules = []string{"spread($VMS);", "gather($VMS);", "ban($VMS, n0);", "fence($VMS, {n0, n1});"}[rng.IntN(4)]
			all.Rules = append(all.Rules, placement.Rules{VJob: last, Text: a.Rules})
		}
		queue, asking = append(queue, a), append(asking, last)
	}
	apart.Applicants = ctxswitch.NewApplicantQueue(queue)
	if rng.IntN(4) == 0 { // some of those that are named are there, some wait
		r := placement.Rules{Text: fmt.Sprintf("%s({1.0, %d.0, %d.0});", []string{"spread", "gather"}[rng.IntN(2)], last, last-cluster.VJobID(1+rng.IntN(len(queue)-1)))}
		all.Rules, apart.Rules = append(all.Rules, r), append(apart.Rules, r)
	}
	if rng.IntN(2) == 0 { // some policies ask in an order of their own
		rng.Shuffle(len(asking), func(i, j int) { asking[i], asking[j] = asking[j], asking[i] })
	}
	return all, apart, asking
}

// A packing that lets applicants in one by one answers as one that knows them all from
// the beginning does.
func TestPrefilterMakesNoDifference(t *testing.T) {
	taken, refused, differ := 0, 0, 0
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 0))
		all, apart, asking := throng(rng)
		one, other := ctxswitch.NewPacking(all), ctxswitch.NewPacking(apart)
		named := slices.ContainsFunc(apart.Rules, func(r placement.Rules) bool { return r.VJob == 0 }) // those outside are not named
		for _, id := range asking {
			ok, why := one.Take(id)
			same, because := other.Take(id)
			if ok {
				taken++
			} else {
				refused++
			}
			if ok != same || why.String() != because.String() && !named {
				differ++
				if differ < 10 {
					t.Errorf("seed %d: vjob %s: %t, %q; let in when it asks: %t, %q", seed, id, ok, why, same, because)
				}
				break
			}
		}
	}
	t.Logf("%d taken, %d refused, %d differ", taken, refused, differ)
}
