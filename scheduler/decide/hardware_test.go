package decide_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"vjob/cluster"
	"vjob/ctxswitch/execute"
	"vjob/ctxswitch/gang"
	"vjob/hypervisor"
	"vjob/scheduler/decide"
)

// platform has some CPU features.
func platform(features ...string) []hypervisor.Platform {
	return []hypervisor.Platform{{Type: "kvm", Arch: "x86_64", Features: features, MachineTypes: []string{"pc-q35-8.2"}}}
}

// twoGenerations has new nodes n1 and n2 and an old one, n3. A vjob of one VM was booted on n1.
func twoGenerations() (*world, func() *decide.Facts) {
	w := &world{}
	for _, id := range []cluster.NodeID{"n1", "n2", "n3"} {
		w.nodes = append(w.nodes, cluster.Node{ID: id, Capacity: cluster.Resources{CPU: 4000, Memory: 8192}})
	}
	job := &cluster.VJob{ID: 12, Owner: "ann", Submitted: epoch, VMs: []cluster.VM{{ID: cluster.VMID{VJob: 12}, Reserved: cluster.Resources{CPU: 3000, Memory: 1024}}}, Terms: &cluster.Terms{}}
	w.jobs = []member{{job: job, at: []cluster.NodeID{"n1"}}}
	return w, func() *decide.Facts {
		f := w.facts()
		for i := range f.Nodes {
			f.Nodes[i].Platforms, f.Nodes[i].PlatformClass = platform("avx2", "avx512f"), "new"
		}
		f.Nodes[2].Platforms, f.Nodes[2].PlatformClass = platform("avx2"), "old"
		f.Hardware = map[cluster.VMID]execute.Hardware{
			{VJob: 12}: {Hardware: &hypervisor.Hardware{Type: "kvm", Arch: "x86_64", Features: []string{"avx2", "avx512f"}}, Node: "n1"},
		}
		return f
	}
}

func TestDrainMovesToCompatibleNodes(t *testing.T) {
	t.Parallel()
	w, facts := twoGenerations()
	w.nodes[0].State = cluster.Draining
	d := decided(t, decide.NewView(settings(), facts()))
	if len(d.Plan.Actions) == 0 || d.Plan.Target.Place(cluster.VMID{VJob: 12}) != "n2" {
		t.Errorf("%+v, want a move to n2", d.Plan)
	}
}

func TestDrainSaysWhatNodesLack(t *testing.T) {
	t.Parallel()
	w, facts := twoGenerations()
	w.nodes[0].State, w.nodes[1].State = cluster.Draining, cluster.Draining
	d := decided(t, decide.NewView(settings(), facts()))
	const want = "n3 lacks the CPU feature avx512f, which VM 12.0 has on n1"
	if why := d.Undrained()["n1"]; !d.Plan.Empty() || !strings.Contains(why, want) {
		t.Errorf("plan %+v, n1 is %q, want %q", d.Plan, why, want)
	}
	blind := facts() // a node that tells nothing of itself is compatible
	blind.Nodes[2].Platforms, blind.Nodes[2].PlatformClass = nil, ""
	d = decided(t, decide.NewView(settings(), blind))
	if len(d.Plan.Actions) == 0 || d.Plan.Target.Place(cluster.VMID{VJob: 12}) != "n3" {
		t.Errorf("%+v, want a move to n3", d.Plan)
	}
}

func TestResumeOnCompatibleNodes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		n1, n2 cluster.NodeState
		image  cluster.NodeID // where it lies now: another node than the one that saved it may have sealed it
		want   cluster.NodeID
	}{
		{n2: cluster.Online, n1: cluster.Draining, image: "n1", want: "n2"},
		{n1: cluster.Draining, n2: cluster.Draining, image: "n1"},
		{n1: cluster.Draining, n2: cluster.Draining, image: "n3"},
	} {
		w, facts := twoGenerations()
		w.nodes[0].State, w.nodes[1].State = c.n1, c.n2
		f := facts()
		vm := cluster.VMID{VJob: 12}
		r := &f.VJobs[0]
		r.Job.State, r.Bound = cluster.Suspended, cluster.VMSleeping
		r.Record.Phase = gang.Saved
		r.Record.Members[0] = gang.Member{Image: &gang.Image{ID: hypervisor.ImageID{VM: vm, Generation: 1, Attempt: 1}, Node: "n1"}}
		h := f.Hardware[vm]
		h.Saved, h.Node = true, c.image
		f.Hardware[vm] = h
		d := decided(t, decide.NewView(settings(), f))
		if c.want != "" {
			if d.Plan.Empty() || d.Plan.Target.Place(vm) != c.want {
				t.Errorf("%+v, want a resume on %s", d.Plan, c.want)
			}
			continue
		}
		want := "n3 lacks the CPU feature avx512f, which VM 12.0 had when it was saved"
		if why := d.Verdicts[0].Reason; !d.Plan.Empty() || !strings.Contains(why, want) {
			t.Errorf("plan %+v, reason %q, want %q", d.Plan, why, want)
		}
	}
}

// No plan takes a VM to a node that cannot run it, whatever is drained.
func TestPlansKeepHardware(t *testing.T) {
	t.Parallel()
	moved := 0
	seeds(t, func(rng *rand.Rand, w *world) {
		for i := range w.nodes {
			if rng.IntN(4) == 0 {
				w.nodes[i].State = cluster.Draining
			}
		}
		f := w.facts()
		class := map[cluster.NodeID]int{}
		for i := range f.Nodes {
			k := rng.IntN(3)
			class[f.Nodes[i].ID] = k
			f.Nodes[i].Platforms, f.Nodes[i].PlatformClass = platform([]string{"a", "b", "c"}[:k+1]...), fmt.Sprint(k)
		}
		f.Hardware = map[cluster.VMID]execute.Hardware{}
		for _, m := range w.jobs {
			for rank, node := range m.at {
				vm := cluster.VMID{VJob: m.job.ID, Rank: rank}
				f.Hardware[vm] = execute.Hardware{Hardware: &hypervisor.Hardware{Type: "kvm", Features: []string{"a", "b", "c"}[:class[node]+1]}, Node: node}
			}
		}
		d, err := decide.NewView(settings(), f).Decide()
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range d.Plan.Actions {
			if h, known := f.Hardware[a.VM]; known && a.To != "" && class[a.To] < class[h.Node] {
				t.Errorf("%+v takes a VM of class %d to a node of class %d", a, class[h.Node], class[a.To])
			}
			if a.Kind == cluster.Migrate {
				moved++
			}
		}
	})
	if moved < 20 {
		t.Errorf("only %d migrations were tested", moved)
	}
}
