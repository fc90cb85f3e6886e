package scheduler

import (
	"fmt"
	"strings"
	"time"

	"vjob/cluster"
	"vjob/journal"
	"vjob/ruling"
)

// SetRules replaces the rules that are stated through the API; "" is none. The error
// is a *cluster.FieldError, and nothing is changed then.
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
	c.retry(now)
	return nil
}

// CheckRules says what is wrong with rules that are to be those of the cluster.
func (c *Core) CheckRules(text string) error {
	nodes := c.exec.Nodes()
	list := make([]cluster.Node, len(nodes))
	for i := range nodes {
		list[i] = nodes[i].Node
	}
	return ruling.Check(text, list, func(vm cluster.VMID) bool {
		r, ok := c.exec.Job(vm.VJob)
		return ok && vm.Rank >= 0 && vm.Rank < len(r.Job.VMs)
	})
}

// understood says why rules cannot be kept that were once accepted: they name nodes
// that are no longer there. Nodes come and go with a start of the daemon only.
func (c *Core) understood(r ruling.Rules, nodes []cluster.Node) error {
	key := r.Text
	if r.VJob != 0 {
		key = "of a vjob: " + key
	}
	err, known := c.broken[key]
	if !known {
		_, err = r.Compile(ruling.NewScene(nodes, nil))
		c.broken[key] = err
	}
	return err
}

// ofCluster are the rules of the settings and of the API, and what is wrong with those
// that are not understood any more.
func (c *Core) ofCluster(nodes []cluster.Node) (list []ruling.Rules, unread []string) {
	for _, text := range []string{c.settings.Rules, c.rules.Text} {
		r := ruling.Rules{Text: text}
		if strings.TrimSpace(text) == "" {
			continue
		}
		if err := c.understood(r, nodes); err != nil {
			unread = append(unread, err.Error())
			continue
		}
		list = append(list, r)
	}
	return list, unread
}
