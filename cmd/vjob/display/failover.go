package display

import (
	"fmt"

	"vjob/api/wire"
)

// Failover returns "the loss of a node can be made up for; 4 CPU and 8 GiB are left for further VMs".
func Failover(f *wire.Failover) string {
	loss := "the loss of a node"
	if f.Nodes != 1 {
		loss = fmt.Sprintf("the loss of %d nodes", f.Nodes)
	}
	if !f.Holds {
		return Clean(fmt.Sprintf("%s cannot be made up for (policy.failover): %s", loss, f.Why))
	}
	return fmt.Sprintf("%s can be made up for; %s CPU and %s are left for further VMs", loss, CPU(f.SpareCPUMilli), MiB(f.SpareMemoryMiB))
}
