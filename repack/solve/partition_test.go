package solve_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"vjob/papers/repacking"
	"vjob/repack"
	"vjob/repack/solve"
	"vjob/tests/planted"
)

// partition cuts an instance without rules into parts of neighbouring nodes. Running VMs stay
// in their part; waiting VMs go where the largest share is free.
func partition(in *repack.Instance, parts int) []*repack.Instance {
	per := (len(in.Nodes) + parts - 1) / parts
	list := make([]*repack.Instance, parts)
	free := make([][2]float64, parts) // shares of the whole
	var total [2]float64
	for _, n := range in.Nodes {
		total[0], total[1] = total[0]+float64(n.Capacity[0]), total[1]+float64(n.Capacity[1])
	}
	take := func(p int, amount []int64, sign float64) {
		for d := range free[p] {
			free[p][d] += sign * float64(amount[d]) / total[d]
		}
	}
	for p := range list {
		part := *in
		part.Nodes, part.VMs = in.Nodes[p*per:min(len(in.Nodes), (p+1)*per)], nil
		for _, n := range part.Nodes {
			if n.Want != repack.Offline {
				take(p, n.Capacity, 1)
			}
		}
		list[p] = &part
	}
	for _, placed := range []bool{true, false} {
		for _, v := range in.VMs {
			if (v.Host != repack.Nowhere) != placed {
				continue
			}
			p := roomiest(free)
			if placed {
				p = v.Host / per
				v.Host -= p * per
			}
			if v.Want == repack.Running {
				take(p, v.Next, -1)
			}
			list[p].VMs = append(list[p].VMs, v)
		}
	}
	return list
}

func roomiest(free [][2]float64) (best int) {
	for p := range free {
		if min(free[p][0], free[p][1]) > min(free[best][0], free[best][1]) {
			best = p
		}
	}
	return best
}

// BenchmarkPartition asks what would be gained if parts of large instances were solved
// for themselves (thesis §10.3), on two processors in the same time as the whole: see
// docs/adr/0013. Run it with -benchtime 1x.
func BenchmarkPartition(b *testing.B) {
	const limit = 8 * time.Second
	paper, err := repacking.Sample(repacking.SampleOptions{Nodes: 20_000, Ratio: 5, Seed: 1})
	if err != nil {
		b.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		in    *repack.Instance
		parts []int
	}{
		{"paper/nodes=20000", paper, []int{1, 20}},
		{"planted=90%/nodes=20000", planted.New(planted.Options{Nodes: 20_000, Fill: 0.90, Seed: 1}), []int{1, 20}},
		{"planted=95%/nodes=5000", planted.New(planted.Options{Nodes: 5000, Fill: 0.95, Seed: 1}), []int{1, 5, 20}},
		{"planted=98%/nodes=2000", planted.New(planted.Options{Nodes: 2000, Fill: 0.98, Seed: 1}), []int{1, 2, 8}},
	} {
		for _, parts := range c.parts {
			b.Run(fmt.Sprintf("%s/parts=%d", c.name, parts), func(b *testing.B) {
				for b.Loop() {
					solveParts(b, partition(c.in, parts), limit)
				}
			})
		}
	}
}

// solveParts solves them two at a time, each with its share of the time; a single one
// has both processors.
func solveParts(b *testing.B, parts []*repack.Instance, limit time.Duration) {
	b.Helper()
	workers, share := 1, 2*limit/time.Duration(len(parts))
	if len(parts) == 1 {
		workers, share = 2, limit
	}
	var objective int64
	var first time.Duration // all first plans together, in the time of one processor
	unsolved := 0
	var group sync.WaitGroup
	var guard sync.Mutex
	seats := make(chan bool, 2)
	for _, in := range parts {
		seats <- true
		group.Go(func() {
			defer func() { <-seats }()
			begun, found := time.Now(), time.Duration(0)
			r, err := solve.Solve(in, solve.Options{
				Seed: 1, Workers: workers, Stop: func() bool { return time.Since(begun) > share },
				Found: func(repack.Figures, int64) {
					if found == 0 {
						found = time.Since(begun)
					}
				},
			})
			guard.Lock()
			defer guard.Unlock()
			first += found
			if err != nil || r.Verdict != solve.Solved {
				unsolved++
				return
			}
			objective += r.Figures.Objective
		})
	}
	group.Wait()
	b.ReportMetric(float64(objective), "objective")
	b.ReportMetric(float64(unsolved), "unsolved")
	b.ReportMetric(first.Seconds(), "first-plans-s")
}
