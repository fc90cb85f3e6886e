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

// Energy are the settings of power models, power budgets and energy policies.
type Energy struct {
	Policy  string   `json:"policy"` // bounded-power, bounded-yield, mixed
	Yield   float64  `json:"yield"`  // of bounded-yield
	Lambda  float64  `json:"lambda"` // of mixed
	Budgets []Budget `json:"budgets"`
	Prices  string   `json:"prices"` // file with energy prices
	// ShiftSaves is the minimum saving of a later start, as a part of the cost of starting at once.
	ShiftSaves float64 `json:"shift_saves"`

	Consolidate Consolidate `json:"consolidate"`

	Models map[string]PowerModel `json:"models"` // by name
	Label  string                `json:"label"`  // node label that names the model
	Model  string                `json:"model"`  // of all other nodes; may be empty
}

// Budget is the power limit of the cluster or of a group of nodes.
type Budget struct {
	Power Watts        `json:"watts"`
	Group budget.Group `json:"group"`
	When  string       `json:"when"` // a window in time; "" is the default outside of the group's windows
}

// The energy policies.
const (
	boundedPower = "bounded-power" // the most yield within the budgets
	boundedYield = "bounded-yield" // the least power for a given yield
	mixedPolicy  = "mixed"         // a weighted sum of both
)

// book returns the budgets for the scheduler.
func (e *Energy) book(zone *time.Location) (*budget.Schedule, error) {
	lines := make([]budget.Budget, len(e.Budgets))
	for i, b := range e.Budgets {
		lines[i] = budget.Budget{Watts: b.Power.Watts, Group: b.Group, When: b.When}
	}
	book, err := budget.New(zone, lines)
	if err != nil {
		return nil, cluster.WithPath("energy", err)
	}
	return book, nil
}

// validateBudgets checks the budgets and the energy policy.
func (e *Energy) validateBudgets(zone *time.Location, nodes []cluster.Node, power map[cluster.NodeID]energy.Power) error {
	switch {
	case !slices.Contains([]string{boundedPower, boundedYield, mixedPolicy}, e.Policy):
		return cluster.BadField("energy.policy", e.Policy, "one of "+boundedPower+", "+boundedYield+", "+mixedPolicy)
	case !(e.Yield > 0 && e.Yield <= 1):
		return cluster.BadField("energy.yield", e.Yield, "more than 0 and at most 1")
	case !(e.Lambda > 0 && e.Lambda <= 1):
		return cluster.BadField("energy.lambda", e.Lambda, "more than 0 and at most 1")
	case e.Policy != boundedYield && e.Yield < 1:
		return cluster.Fault("energy.policy", "energy.yield is less than 1, want %s instead of %s", boundedYield, e.Policy)
	case e.Policy != mixedPolicy && e.Lambda < 1:
		return cluster.Fault("energy.policy", "energy.lambda is less than 1, want %s instead of %s", mixedPolicy, e.Policy)
	}
	if _, err := e.book(zone); err != nil {
		return err
	}
	for i, b := range e.Budgets {
		field, members, idle := fmt.Sprintf("energy.budgets[%d]", i), 0, energy.Watts(0)
		for _, n := range nodes {
			if p, known := power[n.ID]; known && b.Group.Has(n.Labels) {
				members, idle = members+1, idle+p.Standby
			}
		}
		if !slices.ContainsFunc(nodes, func(n cluster.Node) bool { return b.Group.Has(n.Labels) }) {
			return cluster.BadField(field+".group", b.Group.Name(), "a label and a value that some node has")
		}
		if members == 0 {
			return cluster.BadField(field+".group", b.Group.Name(), "nodes with a power model, see energy.models")
		}
		if b.Power.Watts < idle {
			return cluster.BadField(field+".watts", b.Power.Watts, fmt.Sprintf("at least %s, which its nodes draw when they are all off", idle))
		}
	}
	return nil
}

// PowerModel is the power of a node: linear between idle, the measured points and full.
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

// Switched is the energy and time to turn a node on or off.
type Switched struct {
	Energy Joules   `json:"energy"`
	Time   Duration `json:"time"`
}

// Watts is power that is written "350W" or "12kW".
type Watts struct{ energy.Watts }

// UnmarshalText parses a power.
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

// UnmarshalText parses an energy.
func (j *Joules) UnmarshalText(b []byte) (err error) {
	j.Joules, err = energy.ParseJoules(string(b))
	return err
}

// MarshalText writes the energy exactly.
func (j Joules) MarshalText() ([]byte, error) {
	return []byte(strconv.FormatFloat(float64(j.Joules), 'f', -1, 64) + "J"), nil
}

// power returns the model in the form of package energy.
func (m *PowerModel) power() energy.Power {
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

// modelOf returns the name of a node's power model: its own, else that of its label, else the
// one of all nodes, else "".
func (e *Energy) modelOf(n *Node) string {
	if n.PowerModel != "" {
		return n.PowerModel
	}
	if m := n.Labels[e.Label]; m != "" && e.Label != "" {
		return m
	}
	return e.Model
}

// Power returns the power models of the nodes that have one.
func (s *Settings) Power() map[cluster.NodeID]energy.Power {
	list := map[cluster.NodeID]energy.Power{}
	for i := range s.Nodes {
		m, known := s.Energy.Models[s.Energy.modelOf(&s.Nodes[i])]
		if !known {
			continue
		}
		for _, name := range ExpandRange(s.Nodes[i].Name) {
			list[cluster.NodeID(name)] = m.power()
		}
	}
	return list
}

func (s *Settings) validateEnergy(nodes []cluster.Node) error {
	e := &s.Energy
	if err := e.validateModels(s.Nodes); err != nil {
		return err
	}
	zone, err := s.zone()
	if err != nil {
		return err
	}
	power := s.Power()
	return cmp.Or(e.validatePrices(), e.Consolidate.validate(len(power) > 0), e.validateBudgets(zone, nodes, power))
}

// validateModels checks the power models and those of nodes.
func (e *Energy) validateModels(nodes []Node) error {
	for _, name := range slices.Sorted(maps.Keys(e.Models)) {
		m := e.Models[name]
		p, field := m.power(), "energy.models."+name
		if part, value, want := p.Fault(); part != "" {
			return cluster.BadField(field, fmt.Sprintf("%s %v", part, value), want)
		}
	}
	if err := e.knownModel("energy.model", e.Model); err != nil {
		return err
	}
	for i := range nodes {
		if err := e.knownModel(fmt.Sprintf("nodes[%d].power_model", i), e.modelOf(&nodes[i])); err != nil {
			return err
		}
	}
	return nil
}

func (e *Energy) knownModel(field, name string) error {
	if _, known := e.Models[name]; known || name == "" {
		return nil
	}
	want := "a model of energy.models"
	if near := suggest.Nearest(name, slices.Sorted(maps.Keys(e.Models))); near != "" {
		want += ", such as " + near
	}
	return cluster.BadField(field, name, want)
}
