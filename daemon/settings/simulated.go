package settings

import (
	"fmt"
	"slices"
	"time"

	"vjob/cluster"
)

// Simulated is the simulated cluster.
type Simulated struct {
	Speed     float64 `json:"speed"`
	Profile   string  `json:"profile"`
	Seed      uint64  `json:"seed"`
	Locks     bool    `json:"locks"`
	StateFile string  `json:"state_file"`
	Faults    []Fault `json:"faults"`
	// Platforms are what VMs can be on nodes; VMs run on every other node.
	Platforms []Platform `json:"platforms"`
}

// Platform is what VMs can be on some simulated nodes.
type Platform struct {
	Nodes        []string `json:"nodes"` // names and ranges
	Type         string   `json:"type"`  // default: kvm
	CPUModel     string   `json:"cpu_model"`
	CPUFeatures  []string `json:"cpu_features"`
	MachineTypes []string `json:"machine_types"` // the oldest first: VMs boot with the last
}

// Names lists the nodes of the platform.
func (p *Platform) Names() (names []string) {
	for _, n := range p.Nodes {
		names = append(names, ExpandRange(n)...)
	}
	return names
}

// Fault is a fault to inject into a simulated node.
type Fault struct {
	Kind  string   `json:"kind"`
	Node  string   `json:"node"`  // a name or a range
	After Duration `json:"after"` // after the start of the daemon
	Lasts Duration `json:"lasts"`
}

// Nodes lists the nodes of the fault.
func (f *Fault) Nodes() []string { return ExpandRange(f.Node) }

// longestFault is the maximum of After and Lasts.
const longestFault = 24 * time.Hour

func (s *Simulated) validate(nodes []cluster.Node) error {
	known := make(map[string]bool, len(nodes))
	for i := range nodes {
		known[string(nodes[i].ID)] = true
	}
	if v := s.Speed; !(v >= 0.1 && v <= 10_000) {
		return cluster.BadField("simulated.speed", v, "between 0.1 and 10000")
	}
	if err := s.validatePlatforms(known); err != nil {
		return err
	}
	for i, f := range s.Faults {
		field := fmt.Sprintf("simulated.faults[%d]", i)
		kind := choice{field + ".kind", f.Kind, "daemon-killed disk-full freeze partition power-loss store-gone"}
		if err := kind.check(); err != nil {
			return err
		}
		names := f.Nodes()
		strange := slices.ContainsFunc(names, func(name string) bool { return !known[name] })
		switch {
		case len(names) == 0 || strange:
			return cluster.BadField(field+".node", f.Node, "one of the nodes, or a range of them such as n[1-8]")
		case f.After.Duration > longestFault:
			return cluster.BadField(field+".after", f.After, "at most "+longestFault.String())
		case f.Lasts.Duration <= 0 || f.Lasts.Duration > longestFault:
			return cluster.BadField(field+".lasts", f.Lasts, "more than 0 and at most "+longestFault.String())
		}
	}
	return nil
}

func (s *Simulated) validatePlatforms(known map[string]bool) error {
	for i := range s.Platforms {
		p, field := &s.Platforms[i], fmt.Sprintf("simulated.platforms[%d]", i)
		if p.Type != "" {
			kind := choice{field + ".type", p.Type, "kvm qemu"}
			if err := kind.check(); err != nil {
				return err
			}
		}
		names := p.Names()
		if len(names) == 0 {
			return cluster.Fault(field+".nodes", "required: names of nodes, or ranges of them such as n[1-8]")
		}
		for _, name := range names {
			if !known[name] {
				return cluster.BadField(field+".nodes", name, "one of the nodes, or a range of them such as n[1-8]")
			}
		}
	}
	return nil
}
