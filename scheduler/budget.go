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
)

// BudgetsStatus is the power budgets, and what they mean now.
type BudgetsStatus struct {
	Settings []budget.Line // those of the settings
	Stated   []budget.Line // those that were stated through the API
	By       string        // who has stated them last
	At       time.Time
	Limits   []LimitStatus // that hold now
	Changes  []BudgetChange
}

// LimitStatus is a limit that holds now.
type LimitStatus struct {
	budget.Limit
	Nodes, Unknown int          // how many nodes it counts, and of how many nothing is known
	Now            energy.Watts // drawn
	Most           energy.Watts // drawn at most
	Short          energy.Watts // by which it is exceeded even if nobody runs; 0: it is not
}

// BudgetChange is a change of the budgets that is to come, with what has to stop for it
// of what runs now.
type BudgetChange struct {
	At     time.Time
	From   time.Time // when those that have to stop are suspended
	Limits []budget.Limit
	Stops  []cluster.VJobID
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
	book, err := budget.New(c.settings.Energy.zone(), lines)
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
	}
	return book, nil
}

func (s *Energy) zone() *time.Location {
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
		c.book, err = budget.New(c.settings.Energy.zone(), lines)
	}
	if err != nil {
		c.alarm(0, "the power budgets that were stated do not hold: "+err.Error())
	}
	c.limits = c.limitsAt(c.now)
}

// limitsAt are the limits of an instant.
func (c *Core) limitsAt(t time.Time) []budget.Limit {
	return budget.Tighter(c.settings.Energy.Budgets.At(t), c.book.At(t))
}

// nextLimits is when other limits hold than at an instant.
func (c *Core) nextLimits(t time.Time) (next time.Time, ok bool) {
	for _, b := range []*budget.Book{c.settings.Energy.Budgets, c.book} {
		if at, changes := b.Next(t); changes && (!ok || at.Before(next)) {
			next, ok = at, true
		}
	}
	return next, ok
}

// Changes of budgets are foreseen for a day, and only the first ones.
const (
	foresight   = 24 * time.Hour
	mostChanges = 6
)

// foresee gives a picture the limits that hold for it: those of now, and those that begin
// so soon that what they stop has to be suspended now. It asks for a decision when that
// changes.
func (c *Core) foresee(p *picture) {
	p.limits = c.limitsAt(c.now)
	c.changes = nil
	for t := c.now; len(c.changes) < mostChanges; {
		next, ok := c.nextLimits(t)
		if !ok || next.Sub(c.now) > foresight {
			break
		}
		t = next
		change := BudgetChange{At: t, From: t, Limits: c.limitsAt(t)}
		if budget.Tightens(p.limits, change.Limits) {
			change.Stops = c.stops(p, change.Limits)
			change.From = t.Add(-c.lead(p, change.Stops))
		}
		c.changes = append(c.changes, change)
		c.retry(t)
		if !change.From.After(c.now) {
			p.limits = budget.Tighter(p.limits, change.Limits)
		} else {
			c.retry(change.From)
		}
	}
}

// Suspensions for a budget begin early enough for all of them, twice as long as they are
// estimated to take. Caps take moments.
const (
	leastLead = time.Minute
	mostLead  = 2 * time.Hour
)

// lead is how long before a budget begins vjobs have to stop for it.
func (c *Core) lead(p *picture, stops []cluster.VJobID) time.Duration {
	saved := map[cluster.NodeID]time.Duration{}
	longest := time.Duration(0)
	for _, id := range stops {
		r, ok := c.exec.Job(id)
		if !ok {
			continue
		}
		for i := range r.Job.VMs {
			vm := &r.Job.VMs[i]
			at, runs := p.intended.Host(vm.ID)
			if !runs {
				continue
			}
			takes := time.Duration(float64(c.settings.Execute.Costs.SuspendPer) * float64(vm.Reserved.Memory) / float64(cluster.GiB))
			saved[at] += takes
			longest = max(longest, takes, saved[at]/time.Duration(max(c.settings.Execute.Transfers, 1)))
		}
	}
	return min(leastLead+2*longest, mostLead)
}

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
		Settings: c.settings.Energy.Budgets.Lines(), Stated: c.book.Lines(), By: c.budgets.By, At: c.budgets.At, Changes: c.changes,
	}
	for _, l := range c.limitsAt(c.now) {
		status := LimitStatus{Limit: l}
		idle := energy.Watts(0)
		for _, id := range c.members(l.Group) {
			n, _ := c.exec.Node(id)
			status.Nodes++
			status.Now += n.Watts
			status.Most += c.mostOf(id, 0)
			power := c.settings.Energy.Power[id]
			if n.On {
				idle += power.Idle
			} else {
				idle += power.Standby
			}
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
