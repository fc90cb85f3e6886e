package scheduler

import (
	"fmt"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/execute"
	"vjob/ctxswitch/journal"
	"vjob/ctxswitch/placement"
)

// Rules are the placement rules of the cluster: those of the settings, and beside them those stated through the API.
type Rules struct {
	ofSettings string
	exec       *execute.Executor
	retry      func(time.Time)
	out        *journal.Step

	stated journal.Rules
	reader *placement.Reader
}

// texts returns all rules.
func (l *Rules) texts() []string { return []string{l.ofSettings, l.stated.Text} }

// Set replaces the stated rules; "" removes them. On an error, a *cluster.FieldError, nothing changes.
func (l *Rules) Set(now time.Time, text, by string) error {
	if err := l.Check(text); err != nil {
		return err
	}
	if text == l.stated.Text {
		return nil
	}
	l.stated = journal.Rules{Text: text, By: by, At: now}
	l.out.Rules = &l.stated
	l.out.Events = append(l.out.Events, journal.Event{
		At: now, Kind: journal.EventRules, Text: fmt.Sprintf("the rules of the cluster are changed: by %s", by),
	})
	l.retry(now)
	return nil
}

// Check returns what is wrong with rules for the cluster.
func (l *Rules) Check(text string) error {
	nodes := l.exec.Nodes()
	list := make([]cluster.Node, len(nodes))
	for i := range nodes {
		list[i] = nodes[i].Node
	}
	return l.checkOn(list, text)
}

// checkOn returns what is wrong with rules for other nodes.
func (l *Rules) checkOn(nodes []cluster.Node, text string) error {
	return placement.Check(text, nodes, func(vm cluster.VMID) bool {
		r, ok := l.exec.Job(vm.VJob)
		return ok && vm.Rank >= 0 && vm.Rank < len(r.Job.VMs)
	})
}
