package solve_test

import (
	"slices"
	"strings"
	"testing"

	"vjob/repack"
	"vjob/repack/admission"
	"vjob/repack/solve"
	"vjob/tests/pace"
)

// trialSeeds is how many random problems each property is tried on.
const trialSeeds = 2000 / pace.Slower

// staying are the rules on where VMs are at the end, which is what an admission test decides.
var staying = []string{
	"among", "ban", "capacity", "fence", "gather", "lonely", "maxOnline", "mostlySpread", "offline", "online", "overbook", "preserve",
	"resourceCapacity", "root", "split", "splitAmong", "spread",
}

// admissionProblem is a random problem for an admission test, and gangs that may be taken.
func admissionProblem(d dice, s scope) (in *repack.Instance, gangs [][]int) {
	in = problem(d, s)
	in.Rules = slices.DeleteFunc(in.Rules, func(r repack.Posted) bool {
		name, _, _ := strings.Cut(r.String(), "(")
		return !slices.Contains(staying, name)
	})
	for vm := range in.VMs {
		v := &in.VMs[vm]
		v.Want = repack.Running
		if v.Stays {
			continue
		}
		if len(gangs) == 0 || once(d, 2) {
			gangs = append(gangs, nil)
		}
		gangs[len(gangs)-1] = append(gangs[len(gangs)-1], vm)
	}
	return in, gangs
}

// places are where VMs of an instance have been placed.
func places(in *repack.Instance, t *admission.Test) []int {
	at := make([]int, len(in.VMs))
	for vm := range at {
		at[vm] = t.At(vm)
	}
	return at
}

// wrongs is what speaks against a placement as a final configuration, by the meaning
// of the rules and not by their guards: nodes over capacity, and by rule the breaches.
func wrongs(in *repack.Instance, at []int) (list []int) {
	end, err := in.Amended()
	if err != nil {
		return []int{1}
	}
	end.VMs, end.Nodes = slices.Clone(end.VMs), slices.Clone(end.Nodes)
	load, over := make([][]int64, len(end.Nodes)), 0
	for n := range end.Nodes {
		load[n] = make([]int64, len(end.Dims))
	}
	for vm := range end.VMs {
		v := &end.VMs[vm]
		if at[vm] == repack.Nowhere {
			v.State, v.Want, v.Host = repack.Ready, repack.Ready, repack.Nowhere
			continue
		}
		v.State, v.Host, v.Now = repack.Running, at[vm], v.Next
		for d, need := range v.Next {
			load[at[vm]][d] += need
		}
	}
	for n := range end.Nodes {
		node := &end.Nodes[n]
		used := slices.Contains(at, n)
		if used && node.Want == repack.Offline {
			over++
		}
		node.State = node.Want
		if node.Want == repack.AnyState {
			node.State = repack.Offline
			if used {
				node.State = repack.Online
			}
		}
		for d := range end.Dims {
			if load[n][d] > node.Capacity[d] {
				over++
			}
		}
	}
	list = []int{over}
	timeline, _ := repack.Trace(end, &repack.Plan{})
	for _, r := range in.Rules {
		sum := 0
		if r.Penalty == 0 {
			for _, b := range r.Check(timeline) {
				sum += 1 + b.More
			}
		}
		list = append(list, sum)
	}
	return list
}

// The places of an admission test break no hard rule and no capacity, a refusal changes
// nothing and says why, and the same questions have the same answers.
func TestAdmissionPlacesRightly(t *testing.T) {
	taken, refused := 0, 0
	for n := range uint64(trialSeeds) {
		in, gangs := admissionProblem(seed(n), scope{nodes: 6, vms: 14, rules: 8, soft: true, power: true})
		a, err := admission.New(in, admission.Options{})
		if err != nil {
			continue // the rules contradict each other
		}
		b, _ := admission.New(in, admission.Options{})
		pinned := wrongs(in, places(in, a))
		for _, gang := range gangs {
			before := places(in, a)
			ok, why := a.Take(gang)
			after := places(in, a)
			if again, same := b.Take(gang); again != ok || same.String() != why.String() || !slices.Equal(after, places(in, b)) {
				t.Fatalf("seed %d: two trials differ at %v\n%s", n, gang, text(in))
			}
			if !ok {
				refused++
				if !slices.Equal(before, after) || why.String() == "" {
					t.Fatalf("seed %d: %v is refused (%s), and %v becomes %v\n%s", n, gang, why, before, after, text(in))
				}
				continue
			}
			taken++
			for i, sum := range wrongs(in, after) {
				if sum > pinned[i] {
					t.Fatalf("seed %d: with %v at %v, %d breaches of number %d (0: capacity), %d by those that stay\n%s", n, gang, after, sum, i, pinned[i], text(in))
				}
			}
		}
	}
	t.Logf("%d gangs taken, %d refused", taken, refused)
	if taken < trialSeeds || refused < trialSeeds/4 {
		t.Errorf("%d gangs taken and %d refused: that tests little", taken, refused)
	}
}

// The planner can usually place what an admission test has taken.
func TestSolvePlacesWhatAdmissionTakes(t *testing.T) {
	plans, none := 0, 0
	for n := range uint64(trialSeeds) {
		in, gangs := admissionProblem(seed(n), scope{nodes: 6, vms: 14, rules: 7, soft: true})
		test, err := admission.New(in, admission.Options{})
		if err != nil || slices.Max(wrongs(in, places(in, test))) > 0 {
			continue
		}
		for _, gang := range gangs {
			test.Take(gang)
		}
		chosen := *in
		chosen.VMs = slices.Clone(in.VMs)
		for vm := range chosen.VMs {
			v := &chosen.VMs[vm]
			v.Sleepable = true // the way there is not what is asked
			if test.At(vm) != repack.Nowhere {
				continue
			}
			v.Want = repack.Ready
			if v.State == repack.Sleeping {
				v.State, v.Host = repack.Ready, repack.Nowhere // as if the image were gone
			}
		}
		r, err := solve.Solve(&chosen, solve.Options{Iterations: 500, Seed: n})
		if err != nil {
			t.Fatal(err)
		}
		plans++
		if r.Verdict != solve.Solved {
			none++
			if none < 6 {
				t.Logf("seed %d: verdict %d: %q", n, r.Verdict, r.Why)
			}
		}
	}
	t.Logf("%d of %d choices cannot be planned", none, plans)
	if none*100 > plans { // what is left waits for each other on the way there
		t.Errorf("%d of %d choices of the test cannot be planned", none, plans)
	}
}

// An admission test refuses little of what an exhaustive search can place.
func TestAdmissionRefusesLittle(t *testing.T) {
	asked, refused, wrongly := 0, 0, 0
	for n := range uint64(trialSeeds) {
		in, gangs := admissionProblem(seed(n), scope{nodes: 4, vms: 6, rules: 5})
		test, err := admission.New(in, admission.Options{})
		if err != nil || slices.Max(wrongs(in, places(in, test))) > 0 {
			continue
		}
		for _, gang := range gangs {
			asked++
			if ok, why := test.Take(gang); !ok {
				refused++
				if at := exhaustive(in, test, gang); at != nil {
					wrongly++
					if wrongly < 6 {
						t.Logf("seed %d: %v is refused (%s), and could be at %v\n%s", n, gang, why, at, text(in))
					}
				}
			}
		}
	}
	t.Logf("of %d gangs %d are refused, of those %d wrongly", asked, refused, wrongly)
	if wrongly*200 > asked {
		t.Errorf("of %d gangs %d are refused wrongly", asked, wrongly)
	}
}

// exhaustive looks for any placement of a gang and all that a test has taken.
func exhaustive(in *repack.Instance, t *admission.Test, gang []int) []int {
	at := places(in, t)
	var free []int
	for vm := range at {
		if slices.Contains(gang, vm) || at[vm] != repack.Nowhere && !in.VMs[vm].Stays {
			free = append(free, vm)
		}
	}
	var try func(i int) bool
	try = func(i int) bool {
		if i == len(free) {
			return slices.Max(wrongs(in, at)) == 0 && rootsHold(in, at)
		}
		for n := range in.Nodes {
			at[free[i]] = n
			if try(i + 1) {
				return true
			}
		}
		return false
	}
	if try(0) {
		return at
	}
	return nil
}

// rootsHold reports whether VMs that may not move do not: a final configuration alone
// does not tell.
func rootsHold(in *repack.Instance, at []int) bool {
	for vm := range in.VMs {
		v := &in.VMs[vm]
		if v.State == repack.Running && at[vm] != repack.Nowhere && at[vm] != v.Host && rooted(in, vm) {
			return false
		}
	}
	return true
}
