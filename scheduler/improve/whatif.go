package improve

import "vjob/cluster"

// Of returns what a VM demands now, and what it demanded least and most as far as is remembered. Without a memory it
// is 0.
func (m *Demand) Of(vm cluster.VMID) (now, least, most cluster.MilliCPU) {
	if m == nil {
		return 0, 0, 0
	}
	return m.of(vm)
}
