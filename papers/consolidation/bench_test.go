package consolidation_test

import (
	"fmt"
	"testing"
	"time"

	"vjob/papers/consolidation"
)

// configurations is how many the thesis draws of each kind.
const configurations = 100

// thesisSets are those of thesis §10.1.2 and §10.1.3.
var thesisSets = []struct {
	nodes, vms int
	memory     []int64
}{
	{200, 200, twoClasses},
	{200, 200, fourClasses},
	{200, 200, eightClasses},
	{100, 100, fourClasses},
	{200, 300, fourClasses},
	{200, 400, fourClasses},
	{200, 300, eightClasses},
	{200, 400, eightClasses},
}

// score sums up what came of a set of problems.
type score struct {
	problems, proved     int
	used, bound, ffd     int // nodes, of all
	fewer, most          int // how often and by how many nodes at most fewer than FFD
	cost, floor, ffdCost int64
	same, least, highest float64 // problems with as many nodes as FFD, and what they save
	slowest, sum         time.Duration
}

func (s *score) fewest(p *consolidation.Problem, b consolidation.SearchOptions) {
	begin := time.Now()
	a := consolidation.Fewest(p, b)
	s.clock(begin)
	s.problems++
	s.used, s.bound = s.used+a.Used, s.bound+a.Bound
	if a.Proved {
		s.proved++
	}
	if at := consolidation.FirstFit(p, len(p.Need[0])-1); at != nil {
		n := count(at)
		s.ffd += n
		if n > a.Used {
			s.fewer++
			s.most = max(s.most, n-a.Used)
		}
	}
}

func (s *score) cheapest(p *consolidation.Problem, from consolidation.Answer, b consolidation.SearchOptions) {
	begin := time.Now()
	c := consolidation.Cheapest(p, from.Used, b, from.At)
	s.clock(begin)
	s.problems++
	s.cost, s.floor = s.cost+c.Cost, s.floor+c.Bound
	if c.Proved {
		s.proved++
	}
	at := consolidation.FirstFit(p, len(p.Need[0])-1)
	if at == nil || count(at) != from.Used {
		return // the thesis compares where the numbers of nodes are equal
	}
	ffd := int64(0)
	for i, n := range at {
		ffd += p.Cost(i, n)
	}
	s.ffdCost += ffd
	saved := 100 * (1 - float64(c.Cost)/float64(ffd))
	if s.same == 0 || saved < s.least {
		s.least = saved
	}
	s.highest += saved
	s.same++
}

func (s *score) clock(begin time.Time) {
	took := time.Since(begin)
	s.sum += took
	s.slowest = max(s.slowest, took)
}

func (s *score) report(b *testing.B) {
	b.Helper()
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(100*float64(s.proved)/float64(s.problems), "%proved")
	b.ReportMetric(float64(s.sum.Microseconds())/1000/float64(s.problems), "ms/problem")
	b.ReportMetric(float64(s.slowest.Microseconds())/1000, "ms-slowest")
}

func (s *score) reportNodes(b *testing.B) {
	b.Helper()
	s.report(b)
	n := float64(s.problems)
	b.ReportMetric(float64(s.used)/n, "nodes")
	b.ReportMetric(float64(s.bound)/n, "bound")
	b.ReportMetric(float64(s.ffd)/n, "ffd-nodes")
	b.ReportMetric(100*float64(s.fewer)/n, "%fewer-than-ffd")
	b.ReportMetric(float64(s.most), "fewer-at-most")
}

func (s *score) reportCost(b *testing.B) {
	b.Helper()
	s.report(b)
	b.ReportMetric(float64(s.cost)/float64(s.problems), "cost")
	b.ReportMetric(float64(s.floor)/float64(s.problems), "bound")
	if s.same > 0 {
		b.ReportMetric(s.highest/s.same, "%saved-of-ffd")
		b.ReportMetric(s.least, "%saved-at-least")
	}
}

// The sets of the thesis: VMPP.
func BenchmarkFewest(b *testing.B) {
	for _, set := range thesisSets {
		b.Run(fmt.Sprintf("nodes=%d/vms=%d/classes=%d", set.nodes, set.vms, 2*len(set.memory)), func(b *testing.B) {
			var s score
			for b.Loop() {
				for seed := range uint64(configurations) {
					p := thesis(set.nodes, set.vms, set.memory, seed)
					s.fewest(p, consolidation.SearchOptions{Seed: seed})
				}
			}
			s.reportNodes(b)
		})
	}
}

// The sets of the thesis: VMRP, with the cost of each VM by itself.
func BenchmarkCheapest(b *testing.B) {
	for _, set := range thesisSets {
		b.Run(fmt.Sprintf("nodes=%d/vms=%d/classes=%d", set.nodes, set.vms, 2*len(set.memory)), func(b *testing.B) {
			var s score
			for b.Loop() {
				for seed := range uint64(configurations) {
					p := thesis(set.nodes, set.vms, set.memory, seed)
					a := consolidation.Fewest(p, consolidation.SearchOptions{Seed: seed})
					s.cheapest(p, a, consolidation.SearchOptions{Seed: seed})
				}
			}
			s.reportCost(b)
		})
	}
}

// mixes are harder: no two items are equal.
var mixes = []struct {
	name string
	make func(seed uint64) *consolidation.Problem
}{
	{"uniform=1-1000/items=100", func(seed uint64) *consolidation.Problem { return uniform(100, 1, 1000, seed) }},
	{"uniform=200-800/items=200", func(seed uint64) *consolidation.Problem { return uniform(200, 200, 800, seed) }},
	{"uniform=100-400/items=100", func(seed uint64) *consolidation.Problem { return uniform(100, 100, 400, seed) }},
	{"uniform=100-400/items=200", func(seed uint64) *consolidation.Problem { return uniform(200, 100, 400, seed) }},
	{"uniform=1-200/items=200", func(seed uint64) *consolidation.Problem { return uniform(200, 1, 200, seed) }},
	{"planted/nodes=20/fill=70", func(seed uint64) *consolidation.Problem { return garden(20, 0.7, seed) }},
	{"planted/nodes=50/fill=70", func(seed uint64) *consolidation.Problem { return garden(50, 0.7, seed) }},
	{"planted/nodes=50/fill=90", func(seed uint64) *consolidation.Problem { return garden(50, 0.9, seed) }},
	{"planted/nodes=200/fill=70", func(seed uint64) *consolidation.Problem { return garden(200, 0.7, seed) }},
}

// deadline is how long a search for a packing of a harder mix may take.
const deadline = 5 * time.Second

func within() consolidation.SearchOptions {
	begin := time.Now()
	return consolidation.SearchOptions{Steps: 1 << 40, Stop: func() bool { return time.Since(begin) > deadline }}
}

// Harder mixes, 5 s each.
func BenchmarkMixes(b *testing.B) {
	for _, mix := range mixes {
		b.Run(mix.name+"/fewest", func(b *testing.B) {
			var s score
			for b.Loop() {
				for seed := range uint64(5) {
					s.fewest(mix.make(seed), within())
				}
			}
			s.reportNodes(b)
		})
		if mix.make(0).Cost == nil {
			continue
		}
		b.Run(mix.name+"/cheapest", func(b *testing.B) {
			var s score
			for b.Loop() {
				for seed := range uint64(5) {
					p := mix.make(seed)
					s.cheapest(p, consolidation.Fewest(p, within()), within())
				}
			}
			s.reportCost(b)
		})
	}
}
