package settings

import (
	"fmt"
	"slices"
	"time"

	"vjob/cluster"
)

// Switching says which nodes can be switched off and on, and how; docs/power.md tells more.
type Switching struct {
	Nodes  []SwitchedNode `json:"nodes"`
	Limits SwitchLimits   `json:"limits"`
}

// SwitchedNode is how one node is switched, or a range of nodes in the same way.
type SwitchedNode struct {
	Name   string `json:"name"`   // n1, or n[1-8]
	Driver string `json:"driver"` // simulated
}

// SwitchLimits bound the patience with nodes that are switched.
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

// Switched lists the nodes that an entry names, and nothing for one that Validate
// refuses.
func (p *SwitchedNode) Switched() []cluster.NodeID {
	var list []cluster.NodeID
	for _, name := range expand(p.Name) {
		list = append(list, cluster.NodeID(name))
	}
	return list
}

func (s *Settings) validateSwitching() error {
	if err := s.Switching.Limits.validate(); err != nil {
		return err
	}
	known := map[cluster.NodeID]bool{}
	for _, n := range s.ClusterNodes() {
		known[n.ID] = true
	}
	seen := map[cluster.NodeID]bool{}
	for i := range s.Switching.Nodes {
		n, field := &s.Switching.Nodes[i], fmt.Sprintf("power.nodes[%d]", i)
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
		if err := n.validate(field, s.Driver); err != nil {
			return err
		}
	}
	return nil
}

func (p *SwitchedNode) validate(field, driver string) error {
	kinds := "simulated"
	if err := (choice{field + ".driver", p.Driver, kinds}).check(); err != nil {
		return err
	}
	if p.Driver == "simulated" && driver != "simulated" {
		return cluster.BadField(field+".driver", p.Driver, "a driver for real nodes, since these are of "+driver)
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
