package settings

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"vjob/cluster"
	"vjob/energy"
	"vjob/energy/budget"
	"vjob/internal/suggest"
)

// Energy says what nodes draw, and what they may.
type Energy struct {
	Policy  string   `json:"policy"` // bounded-power, bounded-yield, mixed
	Yield   float64  `json:"yield"`  // of bounded-yield
	Lambda  float64  `json:"lambda"` // of mixed
	Budgets []Budget `json:"budgets"`
	Prices  string   `json:"prices"` // a file with what energy costs
	// ShiftSaves is the part of the cost at once that a later start has to save.
	ShiftSaves float64 `json:"shift_saves"`

	Consolidate Consolidate `json:"consolidate"`

	Models map[string]PowerModel `json:"models"` // by name
	Label  string                `json:"label"`  // of nodes, which names their model
	Model  string                `json:"model"`  // of nodes that have no other; "" is none
}

// Budget is what the cluster or a group of nodes may draw.
type Budget struct {
	Power Watts        `json:"watts"`
	Group budget.Group `json:"group"`
	When  string       `json:"when"` // a window in time; "" is whenever no other of the group holds
}

// The energy policies.
const (
	BoundedPower = "bounded-power" // as much yield as the budgets allow
	BoundedYield = "bounded-yield" // no more yield than so much
	MixedPolicy  = "mixed"         // a trade of one for the other
)

// Book is the budgets as the scheduler has them.
func (e *Energy) Book(zone *time.Location) (*budget.Book, error) {
	lines := make([]budget.Line, len(e.Budgets))
	for i, b := range e.Budgets {
		lines[i] = budget.Line{Watts: b.Power.Watts, Group: b.Group, When: b.When}
	}
	book, err := budget.New(zone, lines)
	if err != nil {
		return nil, cluster.WithPath("energy", err)
	}
	return book, nil
}

// validateRations checks the budgets, and how power is rationed.
func (s *Settings) validateRations() error {
	e := &s.Energy
	switch {
	case !slices.Contains([]string{BoundedPower, BoundedYield, MixedPolicy}, e.Policy):
		return cluster.BadField("energy.policy", e.Policy, "one of "+BoundedPower+", "+BoundedYield+", "+MixedPolicy)
	case !(e.Yield > 0 && e.Yield <= 1):
		return cluster.BadField("energy.yield", e.Yield, "more than 0 and at most 1")
	case !(e.Lambda > 0 && e.Lambda <= 1):
		return cluster.BadField("energy.lambda", e.Lambda, "more than 0 and at most 1")
	case e.Policy != BoundedYield && e.Yield < 1:
		return cluster.BadField("energy.policy", e.Policy, BoundedYield+", since energy.yield is less than 1")
	case e.Policy != MixedPolicy && e.Lambda < 1:
		return cluster.BadField("energy.policy", e.Policy, MixedPolicy+", since energy.lambda is less than 1")
	}
	zone, err := s.Zone()
	if err != nil {
		return err
	}
	if _, err := e.Book(zone); err != nil {
		return err
	}
	power := s.Power()
	for i, b := range e.Budgets {
		field, members, idle := fmt.Sprintf("energy.budgets[%d]", i), 0, energy.Watts(0)
		for _, n := range s.ClusterNodes() {
			if p, known := power[n.ID]; known && b.Group.Has(n.Labels) {
				members, idle = members+1, idle+p.Standby
			}
		}
		if !slices.ContainsFunc(s.ClusterNodes(), func(n cluster.Node) bool { return b.Group.Has(n.Labels) }) {
			return cluster.BadField(field+".group", b.Group.Name(), "a label and a value that some node has")
		}
		if members == 0 {
			return cluster.BadField(field+".group", b.Group.Name(), "nodes of which the power is known: see energy.models")
		}
		if b.Power.Watts < idle {
			return cluster.BadField(field+".watts", b.Power.Watts, fmt.Sprintf("at least %s, which its nodes draw when they are all off", idle))
		}
	}
	return nil
}

// PowerModel is what a node draws: idle and full, and linear between these and the points
// that were measured.
type PowerModel struct {
	Idle     Watts    `json:"idle"`
	Full     Watts    `json:"full"`
	Standby  Watts    `json:"standby"` // off
	Measured []Point  `json:"measured"`
	Boot     Switched `json:"boot"`
	Shutdown Switched `json:"shutdown"`
}

// Point is the power at a load between 0 and 1.
type Point struct {
	Load  float64 `json:"load"`
	Power Watts   `json:"power"`
}

// Switched is what it takes to turn a node on or off.
type Switched struct {
	Energy Joules   `json:"energy"`
	Time   Duration `json:"time"`
}

// Watts is power that is written "350W" or "12kW".
type Watts struct{ energy.Watts }

// UnmarshalText reads power.
func (w *Watts) UnmarshalText(b []byte) (err error) {
	w.Watts, err = energy.ParseWatts(string(b))
	return err
}

// MarshalText writes the power exactly.
func (w Watts) MarshalText() ([]byte, error) {
	return []byte(strconv.FormatFloat(float64(w.Watts), 'f', -1, 64) + "W"), nil
}

// Joules is energy that is written "90kJ" or "25Wh".
type Joules struct{ energy.Joules }

// UnmarshalText reads energy.
func (j *Joules) UnmarshalText(b []byte) (err error) {
	j.Joules, err = energy.ParseJoules(string(b))
	return err
}

// MarshalText writes the energy exactly.
func (j Joules) MarshalText() ([]byte, error) {
	return []byte(strconv.FormatFloat(float64(j.Joules), 'f', -1, 64) + "J"), nil
}

// Power is the model as the engine has it.
func (m *PowerModel) Power() energy.Power {
	p := energy.Power{
		Idle: m.Idle.Watts, Full: m.Full.Watts, Standby: m.Standby.Watts,
		On:  energy.Switch{Energy: m.Boot.Energy.Joules, Time: m.Boot.Time.Duration},
		Off: energy.Switch{Energy: m.Shutdown.Energy.Joules, Time: m.Shutdown.Time.Duration},
	}
	for _, point := range m.Measured {
		p.Measured = append(p.Measured, energy.Point{Load: point.Load, Power: point.Power.Watts})
	}
	return p
}

// model is the name of a node's model: its own, or by its label, or that of all; "" is
// none.
func (s *Settings) model(n *Node) string {
	if n.PowerModel != "" {
		return n.PowerModel
	}
	if m := n.Labels[s.Energy.Label]; m != "" && s.Energy.Label != "" {
		return m
	}
	return s.Energy.Model
}

// Power is what nodes draw, as far as it is known.
func (s *Settings) Power() map[cluster.NodeID]energy.Power {
	list := map[cluster.NodeID]energy.Power{}
	for i := range s.Nodes {
		m, known := s.Energy.Models[s.model(&s.Nodes[i])]
		if !known {
			continue
		}
		for _, name := range Expand(s.Nodes[i].Name) {
			list[cluster.NodeID(name)] = m.Power()
		}
	}
	return list
}

func (s *Settings) validateEnergy() error {
	for _, name := range slices.Sorted(maps.Keys(s.Energy.Models)) {
		m := s.Energy.Models[name]
		p, field := m.Power(), "energy.models."+name
		if part, value, want := p.Faulty(); part != "" {
			return cluster.BadField(field, fmt.Sprintf("%s %v", part, value), want)
		}
	}
	if err := s.knownModel("energy.model", s.Energy.Model); err != nil {
		return err
	}
	for i := range s.Nodes {
		if err := s.knownModel(fmt.Sprintf("nodes[%d].power_model", i), s.model(&s.Nodes[i])); err != nil {
			return err
		}
	}
	return cmp.Or(s.validatePrices(), s.validateConsolidation(), s.validateRations())
}

func (s *Settings) knownModel(field, name string) error {
	if _, known := s.Energy.Models[name]; known || name == "" {
		return nil
	}
	want := "a model of energy.models"
	if near := suggest.Nearest(name, slices.Sorted(maps.Keys(s.Energy.Models))); near != "" {
		want += ", such as " + near
	}
	return cluster.BadField(field, name, want)
}
