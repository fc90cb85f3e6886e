package decide

import (
	"fmt"
	"slices"
	"strings"

	"vjob/cluster"
	"vjob/ctxswitch/execute"
	"vjob/hypervisor"
	"vjob/queue"
)

// hardwareClass are VMs with equal hardware on nodes with equal platforms, or in images that such nodes
// have saved: they can run on the same nodes.
type hardwareClass struct{ hardware, platforms string }

// compatibility compares what VMs were booted with and what nodes offer.
type compatibility struct{ *View }

// compare finds the nodes that lack something that a VM was booted with ("VMware Distributed Resource
// Management", 2012, §3.3). Nodes that tell nothing of themselves count as compatible.
func (c compatibility) compare() {
	if len(c.facts.Hardware) == 0 {
		return
	}
	at := map[cluster.NodeID]*execute.NodeReport{}
	for _, n := range c.facts.Nodes {
		at[n.ID] = n
	}
	lists := map[hardwareClass][]cluster.NodeID{}
	c.layout.incompatible = map[cluster.VMID][]cluster.NodeID{}
	for vm, h := range c.facts.Hardware {
		home := at[h.Node]
		if home == nil {
			home = &execute.NodeReport{}
		}
		class := hardwareClass{hardwareKey(h.Hardware), home.PlatformClass}
		list, known := lists[class]
		if !known {
			list = c.lacking(h.Hardware, home)
			lists[class] = list
		}
		if len(list) > 0 {
			c.layout.incompatible[vm] = list
		}
	}
}

// hardwareKey returns a text that is equal for equal hardware.
func hardwareKey(h *hypervisor.Hardware) string {
	return strings.Join([]string{
		h.Type, h.Arch, h.MachineType, h.CPUModel, strings.Join(h.Features, " "), strings.Join(h.Without, " "), fmt.Sprint(h.Passthrough),
	}, "\n")
}

// lacking returns the nodes that cannot run a VM that is, or was saved, on the node home.
func (c compatibility) lacking(h *hypervisor.Hardware, home *execute.NodeReport) (list []cluster.NodeID) {
	lacks := map[string]bool{} // by class of platforms
	for _, n := range c.facts.Nodes {
		so, known := lacks[n.PlatformClass]
		if !known {
			so = h.Missing(home.Platforms, n.Platforms) != ""
			lacks[n.PlatformClass] = so
		}
		if so {
			list = append(list, n.ID)
		}
	}
	return list
}

// gap says which of the nodes that take VMs cannot run a vjob, and what they lack; "" if
// all can.
func (c compatibility) gap(r *execute.Report) string {
	for k := range r.Job.VMs {
		vm := r.Job.VMs[k].ID
		if list := c.layout.incompatible[vm]; len(list) > 0 {
			if text := c.text(vm, list); text != "" {
				return text
			}
		}
	}
	return ""
}

// explainIncompatible adds to the reasons of suspended vjobs that wait which nodes cannot run them.
func (a *attempt) explainIncompatible(verdicts []queue.Verdict) {
	if len(a.layout.incompatible) == 0 {
		return
	}
	for i := range verdicts {
		r := &a.VJobs[i]
		if r.Job.State != cluster.Suspended || verdicts[i].Target == queue.Run {
			continue
		}
		if lacks := (compatibility{a.View}).gap(r); lacks != "" {
			verdicts[i].Reason += "; " + lacks
		}
	}
}

// text names the nodes that take VMs and lack what a VM has, grouped by what they lack.
func (c compatibility) text(vm cluster.VMID, nodes []cluster.NodeID) string {
	h := c.facts.Hardware[vm]
	var from []hypervisor.Platform
	for _, n := range c.facts.Nodes {
		if n.ID == h.Node {
			from = n.Platforms
		}
	}
	var order []string
	by := map[string][]string{}
	for _, n := range c.facts.Nodes {
		if seen, _ := c.layout.current.Node(n.ID); !seen.Hosts() || !slices.Contains(nodes, n.ID) {
			continue
		}
		what := h.Missing(from, n.Platforms)
		if by[what] == nil {
			order = append(order, what)
		}
		by[what] = append(by[what], string(n.ID))
	}
	if len(order) == 0 {
		return ""
	}
	parts := make([]string, len(order))
	for i, what := range order {
		parts[i] = nodeNames(by[what]) + " " + what
	}
	where := "has on " + string(h.Node)
	if h.Saved {
		where = "had when it was saved"
	}
	return fmt.Sprintf("%s, which VM %s %s", strings.Join(parts, ", "), vm, where)
}

// nodeNames lists nodes with the verb that follows: "n3 lacks", "n3, n4 and 2 more lack".
func nodeNames(list []string) string {
	more := ""
	switch n := len(list) - maxNamed; {
	case len(list) == 1:
		return list[0] + " lacks"
	case n > 0:
		list, more = list[:maxNamed], fmt.Sprintf(" and %d more", n)
	}
	return strings.Join(list, ", ") + more + " lack"
}
