package settings

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"vjob/cluster"
	"vjob/energy/dpm"
	"vjob/energy/power/driver"
)

// Switching are the settings of nodes that can be switched off and on, see docs/reference/power-drivers.md.
type Switching struct {
	Nodes  []SwitchedNode `json:"nodes"`
	Limits SwitchLimits   `json:"limits"`
	Manage Manage         `json:"manage"`
}

// Manage are the settings of power management, see docs/explanation/power-management.md and package energy/dpm.
type Manage struct {
	Enabled    bool     `json:"enabled"`
	Every      Duration `json:"every"`
	Target     float64  `json:"target"`
	Tolerance  float64  `json:"tolerance"`
	OffWindow  Duration `json:"off_window"`
	OnWindow   Duration `json:"on_window"`
	Factor     float64  `json:"factor"`
	MinOn      Duration `json:"min_on"`
	SpareNodes int      `json:"spare_nodes"`
	SpareShare float64  `json:"spare_share"`
	Boot       Duration `json:"boot"`
	Rate       Rate     `json:"rate"`
}

// DPM returns the settings of package energy/dpm.
func (m *Manage) DPM() dpm.Settings {
	s := dpm.Default
	s.Target, s.Tolerance, s.OffWindow, s.OnWindow = m.Target, m.Tolerance, m.OffWindow.Duration, m.OnWindow.Duration
	s.RiskWindow = max(s.RiskWindow, s.OffWindow)
	s.Factor, s.MinOn, s.SpareNodes, s.SpareShare = m.Factor, m.MinOn.Duration, m.SpareNodes, m.SpareShare
	s.Rate = float64(m.Rate.Rate) / (1 << 20)
	return s
}

func (m *Manage) validate() error {
	s := m.DPM()
	if field, ok := errors.AsType[*cluster.FieldError](s.Check()); ok {
		return cluster.Renamed("power.manage."+field.Field, field)
	}
	for _, c := range []struct {
		field       string
		value       Duration
		least, most time.Duration
	}{
		{"every", m.Every, time.Second, time.Hour},
		{"off_window", m.OffWindow, dpm.Slot, 24 * time.Hour},
		{"boot", m.Boot, 0, time.Hour},
	} {
		if c.value.Duration < c.least || c.value.Duration > c.most {
			return cluster.BadField("power.manage."+c.field, c.value, fmt.Sprintf("between %s and %s", c.least, c.most))
		}
	}
	return nil
}

// SwitchedNode is the power driver of one node, or of a range of nodes.
type SwitchedNode struct {
	Name   string `json:"name"`   // n1, or n[1-8]
	Driver string `json:"driver"` // simulated, command, wol, ipmi, redfish
	// Address is the controller (ipmi), its URL (redfish) or where packets go (wol).
	Address      string `json:"address"`
	User         string `json:"user"`          // of the controller
	PasswordFile string `json:"password_file"` // with the password on its only line
	// On, Off and State are commands, word by word.
	On    []string `json:"on"`    // command
	Off   []string `json:"off"`   // command, wol
	State []string `json:"state"` // command, wol; prints on or off
	Cut   bool     `json:"cut"`   // ipmi, redfish: cut the power instead of requesting a shutdown

	MAC         string `json:"mac"`          // wol: of the network card
	CipherSuite int    `json:"cipher_suite"` // ipmi; 0: the best of the controller
	System      string `json:"system"`       // redfish: path of the system; "": the only system
	Session     bool   `json:"session"`      // redfish: log in, rather than basic authentication
	CA          string `json:"ca"`           // redfish: PEM file of the authority
	Insecure    bool   `json:"insecure"`     // redfish: accept any certificate
}

// For returns the entry for one node, with {node} replaced by its name.
func (p *SwitchedNode) For(node cluster.NodeID) SwitchedNode {
	n := *p
	n.Name = string(node)
	for _, text := range []*string{&n.Address, &n.User, &n.PasswordFile, &n.System} {
		*text = strings.ReplaceAll(*text, "{node}", n.Name)
	}
	for _, argv := range []*[]string{&n.On, &n.Off, &n.State} {
		*argv = driver.ExpandNode(*argv, n.Name)
	}
	return n
}

// SwitchLimits are the timeouts and retries of switching nodes.
type SwitchLimits struct {
	Empty Duration `json:"empty"`
	Off   Duration `json:"off"`
	On    Duration `json:"on"`
	Quiet Duration `json:"quiet"`
	Poll  Duration `json:"poll"`
	Pause Duration `json:"pause"`
	Reply Duration `json:"reply"`
	Tries int      `json:"tries"`
}

// Switched lists the nodes of an entry. It returns nil for an invalid range.
func (p *SwitchedNode) Switched() []cluster.NodeID {
	var list []cluster.NodeID
	for _, name := range ExpandRange(p.Name) {
		list = append(list, cluster.NodeID(name))
	}
	return list
}

func (s *Switching) validate(nodeDriver string, nodes []cluster.Node) error {
	if err := s.Limits.validate(); err != nil {
		return err
	}
	if err := s.Manage.validate(); err != nil {
		return err
	}
	if s.Manage.Enabled && len(s.Nodes) == 0 {
		return cluster.BadField("power.nodes", "[]", "the nodes that power.manage may switch")
	}
	known := map[cluster.NodeID]bool{}
	for _, n := range nodes {
		known[n.ID] = true
	}
	seen := map[cluster.NodeID]bool{}
	for i := range s.Nodes {
		n, field := &s.Nodes[i], fmt.Sprintf("power.nodes[%d]", i)
		list := n.Switched()
		if list == nil {
			return cluster.BadField(field+".name", n.Name, "a name, or a range such as n[1-8]")
		}
		for _, id := range list {
			if !known[id] || seen[id] {
				return cluster.BadField(field+".name", id, "a node of the setting nodes, and of no other entry here")
			}
			seen[id] = true
		}
		if err := n.validate(field, nodeDriver); err != nil {
			return err
		}
	}
	return nil
}

func (p *SwitchedNode) validate(field, nodeDriver string) error {
	if err := (choice{field + ".driver", p.Driver, "command ipmi redfish simulated wol"}).check(); err != nil {
		return err
	}
	switch {
	case p.Driver == "simulated" && nodeDriver != "simulated":
		return cluster.BadField(field+".driver", p.Driver, "a driver for real nodes, since the setting driver is "+nodeDriver)
	case p.Driver == "wol" && len(p.Switched()) > 1:
		return cluster.BadField(field+".name", p.Name, "one name: each node has a MAC address of its own")
	case p.Driver == "command" && len(p.On) == 0:
		return cluster.BadField(field+".on", p.On, "the command that switches the node on, word by word")
	case p.Driver == "command" && len(p.Off) == 0:
		return cluster.BadField(field+".off", p.Off, "the command that switches the node off, word by word")
	}
	return nil
}

func (l *SwitchLimits) validate() error {
	for _, c := range []struct {
		field       string
		value       Duration
		least, most time.Duration
	}{
		{"empty", l.Empty, time.Second, 24 * time.Hour},
		{"off", l.Off, time.Second, time.Hour},
		{"on", l.On, time.Second, 2 * time.Hour},
		{"quiet", l.Quiet, time.Second, time.Hour},
		{"poll", l.Poll, 100 * time.Millisecond, time.Minute},
		{"pause", l.Pause, 0, time.Hour},
		{"reply", l.Reply, 100 * time.Millisecond, 5 * time.Minute},
	} {
		if c.value.Duration < c.least || c.value.Duration > c.most {
			return cluster.BadField("power.limits."+c.field, c.value, fmt.Sprintf("between %s and %s", c.least, c.most))
		}
	}
	if l.Tries < 1 || l.Tries > 10 {
		return cluster.BadField("power.limits.tries", l.Tries, "between 1 and 10")
	}
	return nil
}

// SwitchedNodes lists the nodes that can be switched, in order.
func (s *Settings) SwitchedNodes() []cluster.NodeID {
	var list []cluster.NodeID
	for i := range s.Switching.Nodes {
		list = append(list, s.Switching.Nodes[i].Switched()...)
	}
	slices.Sort(list)
	return list
}
