package scheduler

import (
	"context"
	"strings"

	"vjob/cluster"
	"vjob/energy/budget"
	"vjob/internal/revision"
	"vjob/queue/pool"
	"vjob/scheduler/nodepower"
)

// guarded returns a change of one thing that is refused unless the thing meets the condition of the request, see
// [revision.With]. Both happen in one step of the loop: of several requests that name the same revision one succeeds.
func guarded(ctx context.Context, present func(*Core) (string, revision.Revision), change func(*Core) error) func(*Core) error {
	return func(c *Core) error {
		if err := revision.Check(ctx, func() (string, revision.Revision) { return present(c) }); err != nil {
			return err
		}
		return change(c)
	}
}

// ofVJob returns the revision of a live vjob.
func ofVJob(id cluster.VJobID) func(*Core) (string, revision.Revision) {
	return func(c *Core) (string, revision.Revision) {
		name := "vjob " + id.String()
		if r, live := c.exec.Job(id); live {
			return name, revision.OfVJob(r.Job)
		}
		return name, ""
	}
}

// ofNodes returns the revision of one node, or of several together.
func ofNodes(ids ...cluster.NodeID) func(*Core) (string, revision.Revision) {
	return func(c *Core) (string, revision.Revision) {
		var parts []any
		for _, id := range ids {
			n, known := c.exec.Node(id)
			if !known {
				return "node " + string(id), ""
			}
			parts = append(parts, nodeRevision(&n.Node, n.Silent, c.Power.controller.Switch(id)))
		}
		name := "node " + strings.Join(cluster.NodeNames(ids), ", ")
		if len(parts) == 1 {
			return name, parts[0].(revision.Revision)
		}
		return name, revision.Of(parts...)
	}
}

// Revision is that of the node: its declared state, whether it answers, its maintenance, and how far it is switched off or on.
func (n *NodeStatus) Revision() revision.Revision { return nodeRevision(&n.Node, n.Silent, n.Switch) }

func nodeRevision(n *cluster.Node, silent bool, power *nodepower.Switch) revision.Revision {
	parts := []any{n.ID, n.State, silent}
	if m := n.Maintenance; m != nil {
		parts = append(parts, m.By, m.Reason, m.Since.UnixNano())
	}
	if power != nil {
		parts = append(parts, power.Phase, power.Want, power.Since.UnixNano())
	}
	return revision.Of(parts...)
}

func ofRules(c *Core) (string, revision.Revision) {
	s := RulesStatus{Stated: c.Rules.stated}
	return "the rules of the cluster", s.Revision()
}

// Revision is that of the stated rules.
func (s *RulesStatus) Revision() revision.Revision {
	return revision.Of(s.Stated.Text, s.Stated.By, s.Stated.At.UnixNano())
}

func ofBudgets(c *Core) (string, revision.Revision) {
	s := c.Power.cap.Budgets(c.now)
	return "the power budgets", BudgetsRevision(s.Stated)
}

// BudgetsRevision is the revision of the stated power budgets.
func BudgetsRevision(stated []budget.Budget) revision.Revision {
	return revision.Of(budget.Format(stated))
}

func ofPrices(c *Core) (string, revision.Revision) {
	s := c.Power.pricesStatus()
	return "the prices of energy", s.Revision()
}

// Revision is that of the stated prices.
func (s *PricesStatus) Revision() revision.Revision { return revision.Of(s.By, s.At.UnixNano()) }

// ofPool returns the revision of a pool.
func ofPool(name string) func(*Core) (string, revision.Revision) {
	return func(c *Core) (string, revision.Revision) {
		h := c.Pools.hierarchy()
		i, known := h.Pool(name)
		if !known {
			return "pool " + name, ""
		}
		m := &h.Members()[i]
		return "pool " + name, poolRevision(m, h.Members()[max(m.Parent, 0)].Name)
	}
}

// Revision is that of a pool, by its index: its parent and its controls.
func (s *PoolsStatus) Revision(i int) revision.Revision {
	m := &s.Pools[i].Member
	return poolRevision(m, s.Pools[max(m.Parent, 0)].Name)
}

func poolRevision(m *pool.Member, parent string) revision.Revision {
	return revision.Of(m.Name, parent, m.Settings)
}
