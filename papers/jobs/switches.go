package jobs

import (
	"fmt"
	"strings"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/ctxswitch/placement"
	"vjob/papers/figure"
)

// example is the context switch of a figure.
type example struct{ ctxswitch.Problem }

func newExample() *example {
	return &example{ctxswitch.Problem{
		Current: cluster.NewConfiguration(), Live: map[cluster.VMID]bool{}, Costs: ctxswitch.ThesisCosts,
		Pinned: map[cluster.VMID]bool{},
	}}
}

func size(cpus, gib float64) cluster.Resources {
	return cluster.Resources{CPU: cluster.MilliCPU(cpus * 1000), Memory: cluster.MiB(gib * 1024)}
}

func (e *example) node(id cluster.NodeID, cpus, gib float64) *example {
	e.Current.SetNode(cluster.Node{ID: id, Capacity: size(cpus, gib)})
	return e
}

func (e *example) running(job cluster.VJobID, rank int, cpus, gib float64, node cluster.NodeID) *example {
	vm := cluster.VMID{VJob: job, Rank: rank}
	e.Current.SetRunning(vm, size(cpus, gib), node)
	e.Live[vm] = true
	return e
}

func (e *example) sleeping(job cluster.VJobID, rank int, cpus, gib float64, node cluster.NodeID) *example {
	e.Current.SetSleeping(cluster.VMID{VJob: job, Rank: rank}, size(cpus, gib), node)
	return e
}

func (e *example) want(state cluster.VMState, jobs ...cluster.VJobID) *example {
	for _, id := range jobs {
		e.Gangs = append(e.Gangs, ctxswitch.Goal{VJob: id, Want: state})
	}
	return e
}

func (e *example) rule(text string) *example {
	e.Rules = append(e.Rules, placement.Rules{Text: text})
	return e
}

func (e *example) pin(job cluster.VJobID) *example {
	e.Pinned[cluster.VMID{VJob: job}] = true
	return e
}

// switches reproduces the plans of figures 8.2 to 8.4 and 9.2. The sizes of VMs and nodes are ours:
// the text has only the dependencies.
func switches() ([]figure.Row, error) {
	var rows []figure.Row
	for _, f := range []struct {
		where, what, published string
		example                *example
	}{
		{
			"Figure 8.2", "sequence of two actions", "suspend 2; migrate 1",
			newExample().node("n1", 1, 2).node("n2", 1, 2).running(1, 0, 1, 1, "n1").running(2, 0, 0, 2, "n2").
				want(cluster.VMRunning, 1).want(cluster.VMSleeping, 2).rule("continuous fence({1.0}, {n2});"),
		},
		{
			"Figure 8.3", "two migrations that wait for each other", "one VM goes by a pivot node",
			newExample().node("n1", 2, 3).node("n2", 1, 4).node("n3", 1, 1).
				running(1, 0, 1, 2, "n1").running(2, 0, 1, 1, "n2").running(9, 0, 0, 0.5, "n1").pin(9).
				want(cluster.VMRunning, 1, 2, 9).rule("continuous fence({1.0}, {n2});").rule("gather({2.0, 9.0});"),
		},
		{
			"Figure 8.4", "plan of four steps", "suspend 5 & resume 4; migrate 2 to n3; migrate 1; migrate 2 to n1",
			newExample().node("n1", 2, 4).node("n2", 2, 3).node("n3", 2, 4).
				running(1, 0, 1, 2, "n1").running(2, 0, 1, 2.5, "n2").running(3, 0, 0.5, 1.5, "n3").
				sleeping(4, 0, 0.5, 1, "n1").running(5, 0, 1, 2, "n3").
				want(cluster.VMRunning, 1, 2, 3, 4).want(cluster.VMSleeping, 5).
				rule("continuous fence({1.0}, {n2});").rule("continuous fence({4.0}, {n1});").rule("gather({2.0, 4.0});"),
		},
		{
			"Figure 9.2", "steps of a plan in which gangs act together", "3 (4 in figure 9.1, without gangs)",
			newExample().node("n1", 2, 2).node("n2", 2, 2).node("n3", 2, 2).node("n4", 3, 3).node("n5", 2, 2).
				running(1, 1, 1, 1, "n4").running(1, 2, 1, 1, "n4").running(1, 3, 1, 1, "n4").
				sleeping(2, 4, 1, 1, "n4").sleeping(2, 5, 1, 1, "n3").
				running(3, 6, 1, 1, "n1").running(3, 7, 2, 2, "n3").running(3, 8, 1, 1, "n5").
				want(cluster.VMSleeping, 1).want(cluster.VMRunning, 2, 3).
				rule("continuous fence({2.4}, {n4});").rule("continuous fence({2.5}, {n3});").rule("continuous fence({3.6}, {n2});").
				rule("continuous fence({3.7}, {n1});").rule("continuous fence({3.8}, {n3});"),
		},
	} {
		plan, err := ctxswitch.Repacker{}.Plan(f.example.Problem)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.where, err)
		}
		steps := stepsOf(&plan)
		ours := strings.Join(steps, "; ")
		if f.where == "Figure 9.2" {
			ours = fmt.Sprintf("%d: %s", len(steps), ours)
		}
		rows = append(rows, figure.Row{Where: f.where, What: f.what, Published: f.published, Ours: ours, Command: "go test ./ctxswitch -run RepackerGolden"})
	}
	return rows, nil
}

// stepsOf groups the actions of a plan into steps as the thesis does: an action is in the step after
// the last action that it waits for.
func stepsOf(p *ctxswitch.Plan) []string {
	level, steps := make([]int, len(p.Actions)), []string{}
	for i, a := range p.Actions {
		for _, before := range a.After {
			level[i] = max(level[i], level[before]+1)
		}
		vm := a.VM.VJob.String()
		if a.VM.Rank > 0 {
			vm = a.VM.String()
		}
		text := fmt.Sprintf("%s %s", a.Kind, vm)
		if a.Kind == cluster.Migrate {
			text += " to " + string(a.To)
		}
		if level[i] == len(steps) {
			steps = append(steps, text)
		} else {
			steps[level[i]] += " & " + text
		}
	}
	return steps
}
