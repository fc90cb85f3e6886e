package workload

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"vjob/cluster"
	"vjob/scheduler"
	"vjob/settings/document"
)

// graphsFile is the document form. What has no effect here is allowed and kept
// by nobody.
type graphsFile struct {
	Title   string        `json:"title"`
	Cluster clusterFile   `json:"cluster"`
	VJobs   []graphedVJob `json:"vjobs"`

	Source      json.RawMessage `json:"source"`
	Units       json.RawMessage `json:"units"`
	FromText    json.RawMessage `json:"from_text"`
	Assumptions json.RawMessage `json:"assumptions"`
	Seconds     json.RawMessage `json:"action_seconds_assumed"`
	Costs       json.RawMessage `json:"action_cost_model"`
	Expected    json.RawMessage `json:"expected"`
}

type clusterFile struct {
	Nodes []nodeFile `json:"nodes"`
}

type nodeFile struct {
	ID        string  `json:"id"`
	CPU       float64 `json:"cpu"`
	MemoryMiB float64 `json:"memory_mb"`
}

type graphedVJob struct {
	ID       string      `json:"id"`
	Order    int         `json:"order"`
	Submit   float64     `json:"submit"`
	Priority int         `json:"priority"`
	Walltime float64     `json:"walltime"`
	Prologue float64     `json:"prologue"`
	VMs      []component `json:"vms"`

	Benchmark json.RawMessage `json:"benchmark"`
	Dedicated json.RawMessage `json:"runtime_dedicated"`
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

// ReadGraphs reads one YAML or JSON document: a cluster, and vjobs whose VMs
// each compute one component of a graph. Times are in seconds, memory in MiB.
// The application of a vjob starts once every VM has gone through the prologue,
// without CPU need; a component starts when its predecessors have ended and needs
// its CPU until its end; the vjob ends with its last component.
func ReadGraphs(name string, data []byte) (*Workload, error) {
	var file graphsFile
	doc, err := document.Decode(name, data, &file)
	if err != nil {
		return nil, err
	}
	w, err := file.workload()
	if err != nil {
		return nil, doc.Locate(err)
	}
	return w, nil
}

func (f *graphsFile) workload() (*Workload, error) {
	if len(f.VJobs) == 0 {
		return nil, cluster.BadField("vjobs", "[]", "at least one vjob")
	}
	w := &Workload{Title: f.Title}
	names := map[string]bool{}
	for i, n := range f.Cluster.Nodes {
		path := fmt.Sprintf("cluster.nodes[%d].", i)
		size, err := resources(path, "cpu", n.CPU, n.MemoryMiB)
		if err != nil {
			return nil, err
		}
		if n.ID == "" || names[n.ID] {
			return nil, cluster.BadField(path+"id", n.ID, "a name that no other node has")
		}
		names[n.ID] = true
		w.Nodes = append(w.Nodes, cluster.Node{ID: cluster.NodeID(n.ID), Capacity: size})
	}
	list := slices.Clone(f.VJobs)
	for i := range list {
		job, err := list[i].job(fmt.Sprintf("vjobs[%d].", i))
		if err != nil {
			return nil, err
		}
		if names["vjob "+list[i].ID] {
			return nil, cluster.BadField(fmt.Sprintf("vjobs[%d].id", i), list[i].ID, "a name that no other vjob has")
		}
		names["vjob "+list[i].ID] = true
		w.Jobs = append(w.Jobs, job)
	}
	return w.sorted(), nil
}

// job turns the graph into programs. Step 0 of each is the prologue, step 1 the
// component; those without predecessors wait for the prologue of all the others.
func (g *graphedVJob) job(path string) (Job, error) {
	if g.ID == "" {
		return Job{}, cluster.BadField(path+"id", g.ID, "a name")
	}
	if len(g.VMs) == 0 || len(g.VMs) > maxMembers {
		return Job{}, cluster.BadField(path+"vms", len(g.VMs), fmt.Sprintf("1 to %d VMs", maxMembers))
	}
	at, err := seconds(path+"submit", g.Submit)
	if err != nil {
		return Job{}, err
	}
	walltime, err := seconds(path+"walltime", g.Walltime)
	if err != nil {
		return Job{}, err
	}
	prologue, err := seconds(path+"prologue", g.Prologue)
	if err != nil {
		return Job{}, err
	}
	ranks := map[string]int{}
	for rank, c := range g.VMs {
		if _, taken := ranks[c.ID]; taken || c.ID == "" {
			return Job{}, cluster.BadField(fmt.Sprintf("%svms[%d].id", path, rank), c.ID, "a name that no other VM of the vjob has")
		}
		ranks[c.ID] = rank
	}
	if err := g.acyclic(path, ranks); err != nil {
		return Job{}, err
	}
	s := scheduler.Submission{Owner: Owner, Name: g.ID, Priority: g.Priority, Walltime: walltime}
	for rank := range g.VMs {
		vm, err := g.member(fmt.Sprintf("%svms[%d].", path, rank), rank, ranks, prologue)
		if err != nil {
			return Job{}, err
		}
		s.VMs = append(s.VMs, vm)
	}
	return Job{At: at, Submission: s}, nil
}

func (g *graphedVJob) member(path string, rank int, ranks map[string]int, prologue time.Duration) (cluster.VM, error) {
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
	return cluster.VM{Reserved: size, Payload: cluster.Payload{Program: program}}, nil
}

// acyclic refuses predecessors that do not exist, and graphs that never end.
func (g *graphedVJob) acyclic(path string, ranks map[string]int) error {
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
