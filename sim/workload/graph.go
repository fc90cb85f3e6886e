package workload

import (
	"encoding/json"
	"fmt"
	"time"

	"vjob/cluster"
)

// graph is the VMs of a vjob and their work.
type graph struct {
	Walltime float64     `json:"walltime"`
	Prologue float64     `json:"prologue"`
	VMs      []component `json:"vms"`
}

// component is one VM and the work that it does once.
type component struct {
	ID        string   `json:"id"`
	MemoryMiB float64  `json:"memory_mb"`
	CPU       float64  `json:"cpu_reserved"`
	Duration  float64  `json:"duration"`
	After     []string `json:"after"`

	Kernel    json.RawMessage `json:"kernel"`
	Dedicated json.RawMessage `json:"active_dedicated"`
}

// work converts the graph to the steps of VMs. Step 0 of each is the prologue, step 1 the
// component; components without predecessors wait for the prologues of all VMs.
func (g *graph) work(path string) (vms []cluster.VM, walltime time.Duration, err error) {
	if len(g.VMs) == 0 || len(g.VMs) > maxMembers {
		return nil, 0, cluster.BadField(path+"vms", len(g.VMs), fmt.Sprintf("1 to %d VMs", maxMembers))
	}
	if walltime, err = seconds(path+"walltime", g.Walltime); err != nil {
		return nil, 0, err
	}
	prologue, err := seconds(path+"prologue", g.Prologue)
	if err != nil {
		return nil, 0, err
	}
	ranks := map[string]int{}
	for rank, c := range g.VMs {
		if _, taken := ranks[c.ID]; taken || c.ID == "" {
			return nil, 0, cluster.BadField(fmt.Sprintf("%svms[%d].id", path, rank), c.ID, "a name that no other VM of the vjob has")
		}
		ranks[c.ID] = rank
	}
	if err := g.acyclic(path, ranks); err != nil {
		return nil, 0, err
	}
	for rank := range g.VMs {
		vm, err := g.member(fmt.Sprintf("%svms[%d].", path, rank), rank, ranks, prologue)
		if err != nil {
			return nil, 0, err
		}
		vms = append(vms, vm)
	}
	return vms, walltime, nil
}

func (g *graph) member(path string, rank int, ranks map[string]int, prologue time.Duration) (cluster.VM, error) {
	c := g.VMs[rank]
	size, err := resources(path, "cpu_reserved", c.CPU, c.MemoryMiB)
	if err != nil {
		return cluster.VM{}, err
	}
	length, err := seconds(path+"duration", c.Duration)
	if err != nil {
		return cluster.VM{}, err
	}
	work := cluster.Step{CPU: size.CPU, Duration: length}
	for _, name := range c.After {
		work.After = append(work.After, cluster.StepRef{Rank: ranks[name], Index: 1})
	}
	if len(c.After) == 0 {
		for other := range g.VMs {
			if other != rank {
				work.After = append(work.After, cluster.StepRef{Rank: other, Index: 0})
			}
		}
	}
	program := &cluster.Program{Steps: []cluster.Step{{Duration: prologue}, work}}
	return cluster.VM{Reserved: size, Payload: &cluster.Payload{Program: program}}, nil
}

// acyclic refuses predecessors that do not exist, and graphs that never end.
func (g *graph) acyclic(path string, ranks map[string]int) error {
	const visiting, done = 1, 2
	state := make([]int, len(g.VMs))
	var visit func(rank int) error
	visit = func(rank int) error {
		state[rank] = visiting
		for k, name := range g.VMs[rank].After {
			field := fmt.Sprintf("%svms[%d].after[%d]", path, rank, k)
			next, ok := ranks[name]
			switch {
			case !ok:
				return cluster.BadField(field, name, "the id of a VM of the same vjob")
			case state[next] == visiting:
				return cluster.BadField(field, name, "predecessors without a cycle")
			case state[next] == 0:
				if err := visit(next); err != nil {
					return err
				}
			}
		}
		state[rank] = done
		return nil
	}
	for rank := range g.VMs {
		if state[rank] == 0 {
			if err := visit(rank); err != nil {
				return err
			}
		}
	}
	return nil
}
