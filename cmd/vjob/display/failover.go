package display

import (
	"fmt"

	"vjob/api/wire"
	"vjob/cluster"
)

// Alarms returns "2 open alarms: vjob alarms"; "" without any, or if the reader may not know.
func Alarms(n *int) string {
	if n == nil || *n == 0 {
		return ""
	}
	return cluster.Count(*n, "open alarm") + ": vjob alarms"
}

// Failover returns "the loss of a node can be made up for; 4 CPU and 8 GiB are left for further VMs"; "" for nil.
func Failover(f *wire.Failover) string {
	if f == nil {
		return ""
	}
	loss := "the loss of a node"
	if f.Nodes != 1 {
		loss = fmt.Sprintf("the loss of %d nodes", f.Nodes)
	}
	if !f.Holds {
		return Clean(fmt.Sprintf("%s cannot be made up for (policy.failover): %s", loss, f.Why))
	}
	return fmt.Sprintf("%s can be made up for; %s CPU and %s are left for further VMs", loss, CPU(f.SpareCPUMilli), MiB(f.SpareMemoryMiB))
}
