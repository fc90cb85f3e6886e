package jobs

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"vjob/cluster"
	"vjob/hypervisor/simulated"
	"vjob/papers/consolidation"
	"vjob/papers/figure"
	"vjob/queue"
	"vjob/sim/replay"
	"vjob/sim/workload"
)

// command prints our values, unless a row names a shorter one.
const command = "go run ./papers jobs"

// workloadFile is the experiment of §10.2.3, in the root folder of the repository.
const workloadFile = "examples/nasgrid-8x9.json"

// Figures compares our results with the thesis. It reads examples/nasgrid-8x9.json from the current folder.
func Figures() ([]figure.Row, error) {
	none := func(where, what, published, why string) figure.Row {
		return figure.Row{Where: where, What: what, Published: published, Command: why}
	}
	const testbed = "needs the cluster and the task graphs of the experiment"
	rows := []figure.Row{none("Figures 2.1, 2.2", "schedules under FCFS, EASY and First Fit", "drawn", "the text gives no sizes and times of the tasks")}
	for _, part := range []func() ([]figure.Row, error){switches, selection, packings, experiment} {
		list, err := part()
		if err != nil {
			return nil, err
		}
		rows = append(rows, list...)
	}
	list, err := Consolidation("Figure 10.7, §10.2.2", "Figure 10.6", "Figure 10.8")
	if err != nil {
		return nil, err
	}
	return append(append(rows, list...),
		none("Figure 10.5", "duration of a reconfiguration, FFD and Entropy", "6:53, 1:47", testbed),
		none("Figure 10.10", "times of each vjob under FCFS", "drawn", "the text gives no times"),
	), nil
}

// pool is a capacity of which only the sum of CPU counts.
type pool struct {
	free  cluster.MilliCPU
	needs map[cluster.VJobID]cluster.MilliCPU
}

// Take implements [queue.Capacity].
func (p *pool) Take(id cluster.VJobID) (bool, queue.Shortage) {
	need := p.needs[id]
	if need > p.free {
		return false, queue.Shortage{Missing: cluster.Resources{CPU: need - p.free}}
	}
	p.free -= need
	return true, queue.Shortage{}
}

// selection reproduces figure 9.3: tasks 1 and 2 run, 1 has grown, and 3 waits.
func selection() ([]figure.Row, error) {
	p := &pool{free: 4 * cluster.CPU, needs: map[cluster.VJobID]cluster.MilliCPU{1: 3 * cluster.CPU, 2: 2 * cluster.CPU, 3: cluster.CPU}}
	jobs := []queue.Job{
		{VJob: &cluster.VJob{ID: 1, State: cluster.Running, Terms: &cluster.Terms{}}},
		{VJob: &cluster.VJob{ID: 2, State: cluster.Running, Terms: &cluster.Terms{}}},
		{VJob: &cluster.VJob{ID: 3, State: cluster.Waiting, Terms: &cluster.Terms{}}},
	}
	verdicts := queue.FirstFit{}.Select(&queue.Input{Jobs: jobs, Capacity: func() queue.Capacity { return p }})
	ours := make([]string, len(verdicts))
	for i, v := range verdicts {
		ours[i] = fmt.Sprintf("%s %s", v.Target, jobs[i].ID)
	}
	return []figure.Row{{
		Where: "Figure 9.3", What: "selection of tasks", Published: "run 1, suspend 2, run 3", Ours: strings.Join(ours, ", "), Command: command,
	}}, nil
}

// configurations is the number of configurations of each set, as in the thesis.
const configurations = 100

// packings reproduces §10.1: VMPP and VMRP on drawn configurations.
func packings() ([]figure.Row, error) {
	two, four, eight := []int64{1024}, []int64{1024, 2048}, []int64{512, 1024, 1536, 2048}
	row := func(where, what, published, ours string) figure.Row {
		return figure.Row{Where: where, What: what, Published: published, Ours: ours, Command: command}
	}
	var rows []figure.Row
	fewer, most, all := 0, 0, 0
	for _, set := range []struct {
		where, name string
		nodes, vms  int
		memory      []int64
		vmpp, vmrp  string // published; "" is not given
		quality     string // figure 10.3(b): least saving against FFD; "" if the set is not in it
	}{
		{"Figure 10.1", "200 nodes, 200 VMs, 2 classes", 200, 200, two, "100 % in 6 s", "", ""},
		{"Figure 10.1", "200 nodes, 200 VMs, 8 classes", 200, 200, eight, "100 % in 11 s", "90 % in 15 s", ""},
		{"Figure 10.3", "100 nodes, 100 VMs, 4 classes", 100, 100, four, "", "", "90 %"},
		{"Figure 10.2", "200 nodes, 200 VMs, 4 classes", 200, 200, four, "90 % in 10 s", "90 % in 13 s", "90 %"},
		{"Figure 10.2", "200 nodes, 300 VMs, 4 classes", 200, 300, four, "90 % in 20 s", "90 % in 25 s", "90 %"},
		{"Figure 10.2", "200 nodes, 400 VMs, 4 classes", 200, 400, four, "90 % in 35 s", "90 % in 25 s", "96 %"},
	} {
		c := consolidation.Compare(consolidation.SampleOptions{Nodes: set.nodes, VMs: set.vms, CPU: 2, Memory: set.memory}, configurations)
		if set.vmpp != "" {
			rows = append(rows, row(set.where+"(a)", "VMPP, "+set.name+": fewest nodes found", set.vmpp, fmt.Sprintf("%d %% proved optimal", c.ProvedNodes)))
		}
		if set.vmrp != "" {
			rows = append(rows, row(set.where+"(b)", "VMRP, "+set.name+": cheapest packing found", set.vmrp, fmt.Sprintf("%d %% proved optimal", c.ProvedCost)))
		}
		if set.quality != "" {
			rows = append(rows, row("Figure 10.3(b)", "VMRP, "+set.name+": least saving of cost against FFD", set.quality, fmt.Sprintf("%.0f %%", c.LeastSaved)))
			fewer, most, all = fewer+c.Fewer, max(most, c.MostFewer), all+c.Configurations
		}
	}
	return append(rows, row("Figure 10.3(a)", "VMPP: configurations with fewer nodes than FFD", "42 %, by up to 3",
		fmt.Sprintf("%.0f %%, by up to %d", 100*float64(fewer)/float64(all), most))), nil
}

// experiment reproduces §10.2.3: eight vjobs of nine VMs on eleven nodes.
func experiment() ([]figure.Row, error) {
	run := func(policy string) (*replay.Result, error) {
		w, err := workload.Read(workloadFile)
		if err != nil {
			return nil, err
		}
		p, err := queue.NewPublished(policy, nil)
		if err != nil {
			return nil, err
		}
		return replay.Run(context.Background(), w, replay.Options{Policy: p, Profile: simulated.Thesis, Locks: true})
	}
	static, err := run("fcfs")
	if err != nil {
		return nil, err
	}
	dynamic, err := run("firstfit")
	if err != nil {
		return nil, err
	}
	s := dynamic.Summary()
	minutes := func(d time.Duration) string { return fmt.Sprintf("%.0f min", d.Minutes()) }
	free := slices.DeleteFunc(slices.Clone(dynamic.Switches), func(w replay.Switch) bool { return w.CostMiB > 0 })
	longest := time.Duration(0)
	for _, w := range free {
		longest = max(longest, w.Took)
	}
	row := func(where, what, published, ours string) figure.Row {
		return figure.Row{Where: where, What: what, Published: published, Ours: ours, Command: "vjob replay " + workloadFile + " --policy fcfs,firstfit"}
	}
	return []figure.Row{
		row("§10.2.3", "total time, FCFS", "250 min", minutes(static.Total)),
		row("§10.2.3", "total time, First Fit with context switches", "150 min", minutes(dynamic.Total)),
		row("§10.2.3", "reduction of the total time", "40 %", fmt.Sprintf("%.0f %%", 100*(1-dynamic.Total.Seconds()/static.Total.Seconds()))),
		row("§10.2.3", "local resumes", "21 of 28", fmt.Sprintf("%d of %d", s.Local, s.Resumes)),
		row("Figure 10.9", "context switches of cost 0, the longest", "5, 13 s", fmt.Sprintf("%d, %.0f s", len(free), longest.Seconds())),
	}, nil
}
