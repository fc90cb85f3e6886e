package scheduler

import (
	"fmt"
	"slices"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/ruling"
)

// Bounds limits submissions.
type Bounds struct {
	VMs    int      // per vjob; 0 is no limit
	Array  int      // vjobs per array; 0 is no limit
	Images []string // ids in the catalogue; the first is the default
}

// Validate checks a submission against the bounds and the nodes of the cluster,
// and fills the default image in. The error names the first field that is wrong.
func (s *Submission) Validate(b Bounds, nodes []NodeStatus) error {
	if len(s.VMs) == 0 {
		return cluster.BadField("vms", "[]", "at least one VM")
	}
	if b.VMs > 0 && len(s.VMs) > b.VMs {
		return cluster.BadField("vms", len(s.VMs), fmt.Sprintf("at most %d VMs in one vjob", b.VMs))
	}
	if b.Array > 0 && len(s.Array) > b.Array {
		return cluster.BadField("array", len(s.Array), fmt.Sprintf("at most %d vjobs in one array", b.Array))
	}
	if s.Walltime < 0 {
		return cluster.BadField("walltime_seconds", s.Walltime, "0 or more")
	}
	for rank := range s.VMs {
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
	if s.Rules != "" {
		if err := ruling.CheckOwn(s.Rules, declared(nodes), len(s.VMs)); err != nil {
			return err
		}
	}
	if err := s.validateShapes(b, nodes); err != nil {
		return err
	}
	return s.fitsCluster(nodes)
}

func (s *Submission) validateVM(rank int, b Bounds, nodes []NodeStatus) error {
	vm, field := &s.VMs[rank], fmt.Sprintf("vms[%d]", rank)
	if vm.Reserved.CPU < 0 {
		return cluster.BadField(field+".cpu_milli", int64(vm.Reserved.CPU), "1 or more")
	}
	if vm.Reserved.Memory < 1 {
		return cluster.BadField(field+".memory_mib", int64(vm.Reserved.Memory), "1 or more")
	}
	if vm.Payload.Image == "" && len(b.Images) > 0 {
		vm.Payload.Image = b.Images[0]
	}
	if len(b.Images) > 0 && !slices.Contains(b.Images, vm.Payload.Image) {
		return cluster.BadField(field+".image", vm.Payload.Image, fmt.Sprintf("an image of the catalogue: %v", b.Images))
	}
	for _, n := range nodes {
		if vm.Reserved.Fits(n.Capacity) {
			return nil
		}
	}
	if len(nodes) > 0 {
		return cluster.BadField(field, vm.Reserved, "at most what one node has; the largest has "+largest(nodes).String())
	}
	return nil
}

func declared(nodes []NodeStatus) []cluster.Node {
	list := make([]cluster.Node, len(nodes))
	for i := range nodes {
		list[i] = nodes[i].Node
	}
	return list
}

// fitsCluster refuses what could never run, even on the empty cluster.
func (s *Submission) fitsCluster(nodes []NodeStatus) error {
	if len(nodes) == 0 {
		return nil
	}
	var has, wants cluster.Resources
	for _, n := range nodes {
		has = has.Plus(n.Capacity)
	}
	for _, vm := range s.VMs {
		wants = wants.Plus(vm.Reserved)
	}
	if !wants.Fits(has) {
		return cluster.BadField("vms", wants, "at most what the cluster has: "+has.String())
	}
	return s.findsPlaces(nodes)
}

// findsPlaces tries the vjob alone on the empty cluster, every node of it online:
// one for which there are no places even then would wait for ever, and with FCFS
// everybody behind it.
func (s *Submission) findsPlaces(nodes []NodeStatus) error {
	why := hopeless(s.VJob(1), s.Rules, declared(nodes))
	switch {
	case why == "":
		return nil
	case s.Rules != "":
		return cluster.BadField("rules", s.Rules, fmt.Sprintf(
			"rules that leave every VM a place on the empty cluster of %d nodes: %s", len(nodes), why))
	default:
		return cluster.BadField("vms", fmt.Sprintf("%d VMs", len(s.VMs)), fmt.Sprintf(
			"VMs that find places on the empty cluster of %d nodes: %s", len(nodes), why))
	}
}

// hopeless says why there are no places for a vjob although nobody else is there, "" if
// there are.
func hopeless(job *cluster.VJob, rules string, nodes []cluster.Node) string {
	empty := cluster.NewConfiguration()
	for _, n := range nodes {
		n.State = cluster.Online
		empty.SetNode(n)
	}
	for _, vm := range job.VMs {
		empty.SetWaiting(vm.ID, vm.Reserved)
	}
	p := ctxswitch.Problem{Current: empty, Gangs: []ctxswitch.Goal{{VJob: job.ID, Want: cluster.VMRunning}}}
	if rules != "" {
		p.Rules = []ruling.Rules{{VJob: job.ID, Text: rules}}
	}
	return ctxswitch.Hopeless(p)
}

func largest(nodes []NodeStatus) cluster.Resources {
	var top cluster.Resources
	for _, n := range nodes {
		if n.Capacity.Memory > top.Memory {
			top = n.Capacity
		}
	}
	return top
}
