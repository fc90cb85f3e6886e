package daemon

import (
	"errors"
	"fmt"

	"vjob/cluster"
	"vjob/daemon/settings"
	"vjob/energy/power"
	"vjob/energy/power/command"
	"vjob/energy/power/cycle"
	"vjob/energy/power/ipmi"
	"vjob/energy/power/redfish"
	"vjob/energy/power/wol"
	"vjob/hypervisor"
	"vjob/hypervisor/simulated"
	"vjob/scheduler/nodepower"
)

// fleet makes the power drivers of the nodes; d is nil where settings are only checked.
// The error names the setting.
func fleet(s *settings.Settings, d hypervisor.Driver) (power.Fleet, error) {
	f := power.Fleet{}
	for i := range s.Switching.Nodes {
		entry := &s.Switching.Nodes[i]
		for _, id := range entry.Switched() {
			n := entry.For(id)
			driver, err := button(&n, d)
			if field, ok := errors.AsType[*cluster.FieldError](err); ok {
				err = &cluster.FieldError{Field: fmt.Sprintf("power.nodes[%d].%s", i, field.Field), Value: field.Value, Want: field.Want}
			}
			if err != nil {
				return nil, err
			}
			f[id] = driver
		}
	}
	return f, nil
}

// button makes the power driver of one node.
func button(n *settings.SwitchedNode, d hypervisor.Driver) (power.Driver, error) {
	switch n.Driver {
	case "command":
		return &command.Driver{TurnOn: n.On, TurnOff: n.Off, Ask: n.State}, nil
	case "wol":
		return wol.New(wol.Settings{MAC: n.MAC, Broadcast: n.Address, Off: n.Off, State: n.State})
	case "ipmi":
		return ipmi.New(ipmi.Settings{
			Address: n.Address, User: n.User, PasswordFile: n.PasswordFile, Cut: n.Cut, Cipher: n.CipherSuite,
		})
	case "redfish":
		driver, err := redfish.New(redfish.Settings{
			URL: n.Address, User: n.User, PasswordFile: n.PasswordFile, System: n.System, Session: n.Session,
			Cut: n.Cut, CA: n.CA, Insecure: n.Insecure,
		})
		var field *cluster.FieldError
		if errors.As(err, &field) && field.Field == "url" {
			field.Field = "address"
		}
		return driver, err
	}
	if nodes, ok := d.(*simulated.Driver); ok {
		return nodes.PowerDriver(cluster.NodeID(n.Name)), nil
	}
	return nil, nil //nolint:nilnil // settings are only checked, and there is nothing to check
}

// switching is what the loop is told of switching nodes.
func switching(s *settings.Settings) nodepower.ControllerSettings {
	l := &s.Switching.Limits
	return nodepower.ControllerSettings{
		Nodes: s.SwitchedNodes(), Reply: l.Reply.Duration,
		Limits: cycle.Limits{
			Empty: l.Empty.Duration, Off: l.Off.Duration, On: l.On.Duration, Quiet: l.Quiet.Duration,
			Poll: l.Poll.Duration, Pause: l.Pause.Duration, Tries: l.Tries,
		},
	}
}

// caretaking is what the loop is told of when to do that by itself; nil is never.
func caretaking(s *settings.Settings) *nodepower.PolicySettings {
	m := &s.Switching.Manage
	if !m.Enabled {
		return nil
	}
	return &nodepower.PolicySettings{Settings: m.DPM(), Every: m.Every.Duration, Boot: m.Boot.Duration}
}
