package simulated

import (
	"time"

	"vjob/cluster"
	"vjob/hypervisor"
)

// orphanLoad is a restore that continues in the process of its guest after the death of the
// daemon that began it. No call of the controller belongs to it.
type orphanLoad struct {
	Op      int64              `json:"op"`
	Image   hypervisor.ImageID `json:"image"`
	Attempt int                `json:"attempt"`
	Refused *failure           `json:"refused,omitempty"` // how it will end, if it fails
}

// complete ends the job of a copy that has all of its memory.
func (m *machine) complete() {
	m.Job, m.Op, m.Incomplete, m.Loading = hypervisor.JobNone, 0, false, nil
}

// shownJob is the job that a look shows. While jobs are hidden, it is an earlier job or unknown.
func (n *node) shownJob(m *machine) hypervisor.Job {
	switch {
	case !n.has(JobsHidden):
		return m.Job
	case m.Job == hypervisor.JobNone && m.LastJob != hypervisor.JobNone:
		return m.LastJob
	default:
		return hypervisor.JobUnknown
	}
}

// maxHang bounds how long a call hangs.
const maxHang = 5 * time.Minute

// hangTime draws how long a call hangs: longer than a controller waits for it.
func (r *random) hangTime() time.Duration { return maxHang/5 + r.uniform(maxHang-maxHang/5) }

// Leftovers lists the copies that were on a node before the start.
func (c *Cluster) Leftovers(node cluster.NodeID) []Leftover { return c.nodes.byID[node].Leftovers }

// addLeftovers creates the copies that were on the nodes before the start.
func (c *Cluster) addLeftovers() {
	for _, n := range c.nodes.sorted {
		for _, l := range n.Leftovers {
			m := &machine{VM: l.VM, Node: n.ID, Unpausable: l.Unpausable, Memory: memory{
				Stamp: hypervisor.Stamp{Incarnation: 1}, Spec: &hypervisor.Machine{Name: "left", Reserved: l.Size}, Stage: working,
			}}
			c.guests.add(m)
			c.guests.run(m)
		}
	}
	c.propagate()
}
