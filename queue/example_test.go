package queue_test

import (
	"fmt"

	"vjob/cluster"
	"vjob/queue"
	"vjob/tests/cpupool"
)

// Four processors: 7 needs three of them, so that 8 waits, and 9 passes it.
func ExampleFirstFit() {
	jobs := []queue.Job{
		{VJob: &cluster.VJob{ID: 7, State: cluster.Running, Terms: &cluster.Terms{}}},
		{VJob: &cluster.VJob{ID: 8, State: cluster.Waiting, Terms: &cluster.Terms{}}},
		{VJob: &cluster.VJob{ID: 9, State: cluster.Waiting, Terms: &cluster.Terms{}}},
	}
	capacity := &cpupool.Pool{Free: 4 * cluster.CPU, Needs: map[cluster.VJobID]cluster.MilliCPU{
		7: 3 * cluster.CPU, 8: 2 * cluster.CPU, 9: cluster.CPU,
	}}
	for i, v := range (queue.FirstFit{Count: queue.Observed}).Select(&queue.Input{Jobs: jobs, Capacity: func() queue.Capacity { return capacity }}) {
		fmt.Printf("%s %s: %s\n", jobs[i].ID, v.Target, v.Reason)
	}
	// Output:
	// 7 run: runs
	// 8 wait: waits: needs 1 CPU more; 1st in line
	// 9 run: runs: there is room
}
