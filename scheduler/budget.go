package scheduler

import (
	"context"
	"fmt"
	"slices"
	"time"

	"vjob/cluster"
	"vjob/energy"
	"vjob/energy/budget"
	"vjob/journal"
	"vjob/scheduler/pass"
)

// BudgetsStatus is the power budgets, and what they mean now.
type BudgetsStatus struct {
	Settings []budget.Line // those of the settings
	Stated   []budget.Line // those that were stated through the API
	By       string        // who has stated them last
	At       time.Time
	Limits   []LimitStatus // that hold now
	Changes  []pass.LimitChange
}

// LimitStatus is a limit that holds now.
type LimitStatus struct {
	budget.Limit
	Nodes, Unknown int          // how many nodes it counts, and of how many nothing is known
	Now            energy.Watts // drawn
	Most           energy.Watts // drawn at most
	Short          energy.Watts // by which it is exceeded even if nobody runs; 0: it is not
}

// SetBudgets replaces the budgets that are stated through the API. The error is a
// *cluster.FieldError, and nothing is changed then.
func (c *Core) SetBudgets(now time.Time, lines []budget.Line, by string) error {
	c.now = now
	book, err := c.readBudgets(lines)
	if err != nil {
		return err
	}
	text := budget.Write(lines)
	if text == c.budgets.Text {
		return nil
	}
	c.budgets, c.book = journal.Budgets{Text: text, By: by, At: now}, book
	c.out.Budgets = &c.budgets
	c.out.Events = append(c.out.Events, journal.Event{
		At: now, Kind: journal.EventBudgets, Text: fmt.Sprintf("the power budgets are changed: by %s", by),
	})
	c.retry(now)
	return nil
}

// CheckBudgets says what is wrong with budgets that are to be stated.
func (c *Core) CheckBudgets(lines []budget.Line) error {
	_, err := c.readBudgets(lines)
	return err
}

func (c *Core) readBudgets(lines []budget.Line) (*budget.Book, error) {
	book, err := budget.New(c.settings.zone(), lines)
	if err != nil {
		return nil, err
	}
	if len(lines) > 0 && len(c.settings.Energy.Power) == 0 {
		return nil, cluster.BadField("budgets", fmt.Sprintf("%d of them", len(lines)),
			"power models in the settings of the daemon (energy.models): without them nobody knows what is drawn")
	}
	for i, l := range lines {
		if !slices.ContainsFunc(c.exec.Names(), func(id cluster.NodeID) bool { n, _ := c.exec.Node(id); return l.Group.Has(n.Labels) }) {
			return nil, cluster.BadField(fmt.Sprintf("budgets[%d].group", i), l.Group, "a label and a value that some node has")
		}
		if off := c.allOff(l.Group); l.Watts < off {
			return nil, cluster.BadField(fmt.Sprintf("budgets[%d].watts", i), l.Watts.String(), fmt.Sprintf("at least %s, which its nodes draw when they are all off", off))
		}
	}
	return book, nil
}

// allOff is what the nodes of a group draw when all of them are off.
func (c *Core) allOff(g budget.Group) (sum energy.Watts) {
	for _, id := range c.members(g) {
		sum += c.settings.Energy.Power[id].Standby
	}
	return sum
}

func (s *Settings) zone() *time.Location {
	if s.Zone == nil {
		return time.UTC
	}
	return s.Zone
}

// takeUpEnergy goes on with the budgets of the journal. Those that nobody understands any
// more are told, and do not hold.
func (c *Core) takeUpEnergy(kept journal.Budgets) {
	c.budgets, c.groups = kept, map[budget.Group][]cluster.NodeID{}
	c.exec.Power = c.settings.Energy.Power
	if len(c.exec.Power) > 0 {
		c.exec.Admits = c.admits
	}
	lines, err := budget.Read(kept.Text)
	if err == nil {
		c.book, err = budget.New(c.settings.zone(), lines)
	}
	if err != nil {
		c.alarm(0, "the power budgets that were stated do not hold: "+err.Error())
	}
	c.limits = c.books().At(c.now)
}

// books are the budgets that hold side by side.
func (c *Core) books() budget.Books { return budget.Books{c.settings.Budgets, c.book} }

// admits reports whether VMs may use so much more without a limit being exceeded.
func (c *Core) admits(more map[cluster.NodeID]cluster.MilliCPU) bool {
	for _, l := range c.limits {
		before, after := energy.Watts(0), energy.Watts(0)
		for _, id := range c.members(l.Group) {
			now := c.mostOf(id, 0)
			before += now
			if extra := more[id]; extra != 0 {
				now = c.mostOf(id, extra)
			}
			after += now
		}
		if after > l.Watts && after > before {
			return false
		}
	}
	return true
}

// members are the nodes of a group of which it is known what they draw.
func (c *Core) members(g budget.Group) []cluster.NodeID {
	list, known := c.groups[g]
	if known {
		return list
	}
	for _, id := range c.exec.Names() {
		n, _ := c.exec.Node(id)
		if _, modelled := c.settings.Energy.Power[id]; modelled && g.Has(n.Labels) {
			list = append(list, id)
		}
	}
	c.groups[g] = list
	return list
}

// budgetsStatus is what the budgets are, and what they mean now.
func (c *Core) budgetsStatus() BudgetsStatus {
	s := BudgetsStatus{
		Settings: c.settings.Budgets.Lines(), Stated: c.book.Lines(), By: c.budgets.By, At: c.budgets.At, Changes: c.changes,
	}
	for _, l := range c.books().At(c.now) {
		status := LimitStatus{Limit: l}
		idle := energy.Watts(0)
		for _, id := range c.members(l.Group) {
			n, _ := c.exec.Node(id)
			status.Nodes++
			status.Now += n.Watts
			status.Most += c.mostOf(id, 0)
			power := c.settings.Energy.Power[id]
			alone := power.Standby
			if n.On {
				alone = power.Idle
			}
			idle += max(alone, c.least(id))
		}
		for _, id := range c.exec.Names() {
			if n, _ := c.exec.Node(id); l.Group.Has(n.Labels) {
				status.Unknown++
			}
		}
		status.Unknown -= status.Nodes
		status.Short = max(0, idle-l.Watts)
		s.Limits = append(s.Limits, status)
	}
	return s
}

// SetBudgets replaces the power budgets that are stated through the API.
func (l *Loop) SetBudgets(ctx context.Context, lines []budget.Line, by string) error {
	return l.ask(ctx, func(c *Core) error { return c.SetBudgets(l.now(), lines, by) })
}

// CheckBudgets says what is wrong with budgets that are to be stated.
func (l *Loop) CheckBudgets(ctx context.Context, lines []budget.Line) error {
	return l.ask(ctx, func(c *Core) error { return c.CheckBudgets(lines) })
}
