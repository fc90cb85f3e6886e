package solve_test

import (
	"slices"
	"strings"

	"vjob/repack"
)

// late executes a plan by its dependencies: each action starts once all that it waits for have
// ended, and takes as long as it takes. What a gang does together starts together. It returns
// nil if actions wait for each other.
func late(d dice, in *repack.Instance, p *repack.Plan) *repack.Plan {
	out := &repack.Plan{Actions: slices.Clone(p.Actions)}
	together := company(in, p)
	takes := make([]repack.Ticks, len(p.Actions))
	for i := range p.Actions {
		if a := &p.Actions[i]; a.Kind != repack.Allocate {
			takes[i] = a.End - a.Start + repack.Ticks(d.n(2)*d.n(9))
		}
	}
	done := make([]bool, len(p.Actions))
	for range p.Actions {
		for i := range p.Actions {
			ready, start := !done[i], repack.Ticks(0)
			for _, j := range together[i] {
				for _, k := range p.Actions[j].After {
					ready, start = ready && done[k], max(start, out.Actions[k].End)
				}
			}
			if !ready {
				continue
			}
			for _, j := range together[i] {
				out.Actions[j].Start, out.Actions[j].End, done[j] = start, start+takes[j], true
			}
		}
	}
	if slices.Contains(done, false) {
		return nil
	}
	return out
}

// company is what each action starts with: itself, and what its gang does with it. A
// gang may be moved in parts, one after the other.
func company(in *repack.Instance, p *repack.Plan) [][]int {
	gang := map[int]int{}
	for g, vms := range in.Gangs {
		for _, vm := range vms {
			gang[vm] = g + 1
		}
	}
	groups := map[[3]int][]int{}
	key := func(i int) [3]int {
		a := &p.Actions[i]
		joined := a.Kind == repack.Suspend || a.Kind == repack.Resume || a.Kind == repack.Migrate && in.VMs[a.VM].Paused
		if a.VM == repack.Nowhere || gang[a.VM] == 0 || !joined {
			return [3]int{-1, i}
		}
		if a.Kind == repack.Migrate {
			return [3]int{gang[a.VM], int(a.Kind), int(a.Start)}
		}
		return [3]int{gang[a.VM], int(a.Kind)}
	}
	for i := range p.Actions {
		groups[key(i)] = append(groups[key(i)], i)
	}
	list := make([][]int, len(p.Actions))
	for i := range p.Actions {
		list[i] = groups[key(i)]
	}
	return list
}

// punctual are the rules that hold only if everything takes just its time.
var punctual = []string{"deadline(", "noDelay(", "sync(", "syncEnd("}

// lateFaults are the faults of a plan that is carried out late, but for those of
// rules that cannot hold then, and of limits of transfers, which whatever carries the plan out
// has to keep. A VM that stays and grows in passing may do so at the
// end of a plan without an allocate: it has one.
func lateFaults(in *repack.Instance, p *repack.Plan) []string {
	unlimited := *in
	unlimited.Nodes = slices.Clone(in.Nodes)
	for n := range unlimited.Nodes {
		unlimited.Nodes[n].Transfers = 0
	}
	report, err := repack.Check(&unlimited, p)
	if err != nil {
		return []string{err.Error()}
	}
	return slices.DeleteFunc(report.Faults, func(text string) bool {
		return slices.ContainsFunc(punctual, func(name string) bool { return strings.HasPrefix(text, name) })
	})
}
