package powercap

import (
	"fmt"
	"slices"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
	"vjob/energy"
	"vjob/energy/budget"
)

// State replaces the budgets stated through the API, and reports whether they have changed. On an
// error, a *cluster.FieldError, nothing changes.
func (g *Cap) State(now time.Time, lines []budget.Budget, by string) (changed bool, err error) {
	book, err := g.read(lines)
	if err != nil {
		return false, err
	}
	text := budget.Format(lines)
	if text == g.stated.Text {
		return false, nil
	}
	g.stated, g.book = journal.Budgets{Text: text, By: by, At: now}, book
	g.out.Budgets = &g.stated
	g.out.Events = append(g.out.Events, journal.Event{
		At: now, Kind: journal.EventBudgets, Text: fmt.Sprintf("the power budgets are changed: by %s", by),
	})
	return true, nil
}

// Check returns what is wrong with budgets.
func (g *Cap) Check(lines []budget.Budget) error {
	_, err := g.read(lines)
	return err
}

func (g *Cap) read(lines []budget.Budget) (*budget.Schedule, error) {
	book, err := budget.New(g.settings.Zone, lines)
	if err != nil {
		return nil, err
	}
	if len(lines) > 0 && len(g.settings.Models) == 0 {
		return nil, cluster.Fault("budgets", "the settings of the daemon have no power models: add them (energy.models)")
	}
	for i, l := range lines {
		if !slices.ContainsFunc(g.exec.Names(), func(id cluster.NodeID) bool { n, _ := g.exec.Node(id); return l.Group.Has(n.Labels) }) {
			return nil, cluster.BadField(fmt.Sprintf("budgets[%d].group", i), l.Group, "a label and a value that some node has")
		}
		if off := g.allOff(l.Group); l.Watts < off {
			return nil, cluster.BadField(fmt.Sprintf("budgets[%d].watts", i), l.Watts.String(),
				fmt.Sprintf("at least %s, which its nodes draw when they are all off", off))
		}
	}
	return book, nil
}

// allOff returns what the nodes of a group draw when all are off.
func (g *Cap) allOff(group budget.Group) (sum energy.Watts) {
	for _, id := range g.members(group) {
		sum += g.settings.Models[id].Standby
	}
	return sum
}
