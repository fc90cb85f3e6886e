package scheduler

import (
	"fmt"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
	"vjob/ctxswitch/placement"
)

// SetRules replaces the rules stated through the API; "" removes them. On an error, a
// *cluster.FieldError, nothing changes.
func (c *Core) SetRules(now time.Time, text, by string) error {
	c.now = now
	if err := c.CheckRules(text); err != nil {
		return err
	}
	if text == c.rules.Text {
		return nil
	}
	c.rules = journal.Rules{Text: text, By: by, At: now}
	c.out.Rules = &c.rules
	c.out.Events = append(c.out.Events, journal.Event{
		At: now, Kind: journal.EventRules, Text: fmt.Sprintf("the rules of the cluster are changed: by %s", by),
	})
	c.next.retry(now)
	return nil
}

// CheckRules returns what is wrong with rules for the cluster.
func (c *Core) CheckRules(text string) error {
	nodes := c.exec.Nodes()
	list := make([]cluster.Node, len(nodes))
	for i := range nodes {
		list[i] = nodes[i].Node
	}
	return placement.Check(text, list, func(vm cluster.VMID) bool {
		r, ok := c.exec.Job(vm.VJob)
		return ok && vm.Rank >= 0 && vm.Rank < len(r.Job.VMs)
	})
}
