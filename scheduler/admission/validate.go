package admission

import (
	"fmt"
	"slices"

	"vjob/cluster"
	"vjob/ctxswitch/placement"
)

// Limits bound submissions.
type Limits struct {
	VMs   int     // per vjob; 0 is no limit
	Array int     // vjobs per array; 0 is no limit
	Total int     // VMs per submission, over all vjobs and alternatives; 0 is no limit
	Owner Holding // what one owner may have at once
	// Failover is of how many nodes the VMs have to find places on the others; see package failover.
	Failover int
	Images   []string // ids in the catalogue; the first is the default
}

// Validate checks a submission against the limits and the nodes of the cluster,
// and fills the default image in. The error names the first field that is wrong.
func (s *Submission) Validate(b Limits, nodes []cluster.Node) error {
	if len(s.VMs) == 0 {
		return cluster.Fault("vms", "missing, want at least one VM")
	}
	if b.VMs > 0 && len(s.VMs) > b.VMs {
		return cluster.Fault("vms", "%d VMs requested, one vjob may have %d", len(s.VMs), b.VMs)
	}
	if b.Array > 0 && len(s.Array) > b.Array {
		return cluster.Fault("array", "%d vjobs requested, one array may have %d", len(s.Array), b.Array)
	}
	if err := s.validateTotal(b); err != nil {
		return err
	}
	if s.Walltime < 0 {
		return cluster.BadField("walltime_seconds", s.Walltime, "0 or more")
	}
	var given cluster.VM // the one before, as it was given
	for rank, vm := range s.VMs {
		if rank > 0 && vm == given {
			s.VMs[rank] = s.VMs[rank-1]
			continue
		}
		given = vm
		if err := s.validateVM(rank, b, nodes); err != nil {
			return err
		}
	}
	if err := s.validateContainer(); err != nil {
		return err
	}
	if err := s.validateReservation(); err != nil {
		return err
	}
	if err := s.validateWindow(); err != nil {
		return err
	}
	if s.Rules != "" {
		if err := placement.CheckOwn(s.Rules, nodes, len(s.VMs)); err != nil {
			return err
		}
	}
	if err := s.validateRights(nodes); err != nil {
		return err
	}
	if err := s.validateShapes(b, nodes); err != nil {
		return err
	}
	return s.fitsCluster(nodes, b.Failover)
}

func (s *Submission) validateVM(rank int, b Limits, nodes []cluster.Node) error {
	vm, field := &s.VMs[rank], fmt.Sprintf("vms[%d]", rank)
	if vm.Reserved.CPU < 0 {
		return cluster.BadField(field+".cpu_milli", int64(vm.Reserved.CPU), "0 or more")
	}
	if vm.Reserved.Memory < 1 {
		return cluster.BadField(field+".memory_mib", int64(vm.Reserved.Memory), "1 or more")
	}
	if s.CPUReservation > vm.Reserved.CPU {
		return cluster.Fault("cpu_reservation_milli", "%s CPU reserved for each VM, VM %d has %s: reserve at most what it has", s.CPUReservation, rank, vm.Reserved.CPU)
	}
	work := vm.Work()
	if work.Image == "" && len(b.Images) > 0 {
		work.Image = b.Images[0]
		vm.Payload = &work
	}
	if len(b.Images) > 0 && !slices.Contains(b.Images, work.Image) {
		return cluster.BadField(field+".image", work.Image, "an image of the catalogue: "+cluster.OneOf(b.Images))
	}
	fits := func(n cluster.Node) bool { return vm.Reserved.Fits(n.Capacity) }
	if len(nodes) > 0 && !slices.ContainsFunc(nodes, fits) {
		return cluster.Fault(field, "%s requested, no node has as much; the largest has %s", vm.Reserved, largest(nodes))
	}
	return nil
}
