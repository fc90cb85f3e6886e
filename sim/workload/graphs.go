package workload

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"vjob/cluster"
	"vjob/internal/document"
)

// graphsFile is the document form. Keys of other tools are allowed and ignored.
type graphsFile struct {
	Title   string        `json:"title"`
	Start   string        `json:"start"` // when it began, such as 2026-11-01T00:00:00+01:00
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
	ID     string  `json:"id"`
	Order  int     `json:"order"`
	Submit float64 `json:"submit"`
	Queue  string  `json:"queue"`
	graph
	termKeys
	Shapes []graph `json:"shapes"` // alternatives of a moldable vjob

	Benchmark json.RawMessage `json:"benchmark"`
	Dedicated json.RawMessage `json:"runtime_dedicated"`
}

// readGraphs reads one YAML or JSON document: a cluster, and vjobs in which each VM
// computes one component of a graph. Times are in seconds, memory in MiB.
// The application of a vjob starts once every VM has passed the prologue, which needs no
// CPU. A component starts when its predecessors have ended and needs its CPU until its end.
// The vjob ends with its last component.
func readGraphs(name string, data []byte) (*Workload, error) {
	var file graphsFile
	doc, err := document.Decode(name, data, &file)
	if err != nil {
		return nil, err
	}
	w, err := file.workload()
	if err != nil {
		return nil, doc.Locate(err)
	}
	for i := range w.Jobs {
		j := &w.Jobs[i]
		j.Line = doc.Line(fmt.Sprintf("vjobs[%d].id", j.source))
	}
	return w, nil
}

func (f *graphsFile) workload() (*Workload, error) {
	if len(f.VJobs) == 0 {
		return nil, cluster.BadField("vjobs", "[]", "at least one vjob")
	}
	w := &Workload{Title: f.Title}
	if f.Start != "" {
		var err error
		if w.Start, err = time.Parse(time.RFC3339, f.Start); err != nil {
			return nil, cluster.BadField("start", f.Start, "a date and a time, such as 2026-11-01T00:00:00+01:00")
		}
	}
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
	if m := w.sorted(); m != nil {
		return nil, cluster.WithPath(fmt.Sprintf("vjobs[%d]", m.source), m.err)
	}
	return w, nil
}

func (g *graphedVJob) job(path string) (j Job, err error) {
	if g.ID == "" {
		return j, cluster.BadField(path+"id", g.ID, "a name")
	}
	if j.At, err = seconds(path+"submit", g.Submit); err != nil {
		return j, err
	}
	s := &j.Submission
	s.Owner, s.Name, s.Queue = Owner, g.ID, g.Queue
	if s.VMs, s.Walltime, err = g.work(path); err != nil {
		return j, err
	}
	works := make([]work, len(g.Shapes))
	for i := range g.Shapes {
		works[i] = g.Shapes[i].work
	}
	if err := addShapes(path, s, works); err != nil {
		return j, err
	}
	if err := g.apply(path, &j); err != nil {
		return j, err
	}
	if err := j.check(); err != nil {
		return j, cluster.WithPath(strings.TrimSuffix(path, "."), err)
	}
	return j, nil
}
