package settings

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"vjob/cluster"
	"vjob/energy"
	"vjob/spelling"
)

// Energy says what nodes draw.
type Energy struct {
	Models map[string]PowerModel `json:"models"` // by name
	Label  string                `json:"label"`  // of nodes, which names their model
	Model  string                `json:"model"`  // of nodes that have no other; "" is none
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
		for _, name := range expand(s.Nodes[i].Name) {
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
	return nil
}

func (s *Settings) knownModel(field, name string) error {
	if _, known := s.Energy.Models[name]; known || name == "" {
		return nil
	}
	want := "a model of energy.models"
	if near := spelling.Nearest(name, slices.Sorted(maps.Keys(s.Energy.Models))); near != "" {
		want += ", such as " + near
	}
	return cluster.BadField(field, name, want)
}
