package daemon

import (
	"errors"
	"fmt"

	"vjob/cluster"
	"vjob/daemon/settings"
	"vjob/energy/power"
	"vjob/energy/power/cycle"
	"vjob/energy/power/driver"
	"vjob/hypervisor"
	"vjob/hypervisor/simulated"
	"vjob/scheduler/nodepower"
)

// powerDrivers returns the power drivers of the nodes. d is nil to check the settings only.
// The error names the key of the settings.
func powerDrivers(s *settings.Settings, d hypervisor.Driver) (power.Drivers, error) {
	f := power.Drivers{}
	for i := range s.Switching.Nodes {
		entry := &s.Switching.Nodes[i]
		for _, id := range entry.Switched() {
			n := entry.For(id)
			nodeDriver, err := powerDriver(&n, d)
			if field, ok := errors.AsType[*cluster.FieldError](err); ok {
				err = cluster.Renamed(fmt.Sprintf("power.nodes[%d].%s", i, field.Field), field)
			}
			if err != nil {
				return nil, err
			}
			f[id] = nodeDriver
		}
	}
	return f, nil
}

// powerDriver returns the power driver of one node.
func powerDriver(n *settings.SwitchedNode, d hypervisor.Driver) (power.Driver, error) {
	switch n.Driver {
	case "command":
		return &driver.Command{TurnOn: n.On, TurnOff: n.Off, Ask: n.State}, nil
	case "wol":
		return driver.NewWakeOnLAN(driver.WakeOnLANSettings{MAC: n.MAC, Broadcast: n.Address, Off: n.Off, State: n.State})
	case "ipmi":
		return driver.NewIPMI(driver.IPMISettings{
			Address: n.Address, User: n.User, PasswordFile: n.PasswordFile, Cut: n.Cut, Cipher: n.CipherSuite,
		})
	case "redfish":
		redfish, err := driver.NewRedfish(driver.RedfishSettings{
			URL: n.Address, User: n.User, PasswordFile: n.PasswordFile, System: n.System, Session: n.Session,
			Cut: n.Cut, CA: n.CA, Insecure: n.Insecure,
		})
		var field *cluster.FieldError
		if errors.As(err, &field) && field.Field == "url" {
			err = cluster.Renamed("address", field)
		}
		return redfish, err
	}
	if nodes, ok := d.(*simulated.Driver); ok {
		return nodes.PowerDriver(cluster.NodeID(n.Name)), nil
	}
	return nil, nil //nolint:nilnil // only checking: simulated nodes have nothing to check
}

// switching returns the settings of the node power controller.
func switching(s *settings.Settings) nodepower.ControllerSettings {
	l := &s.Switching.Limits
	return nodepower.ControllerSettings{
		Nodes: s.SwitchedNodes(), Reply: l.Reply.Duration,
		Limits: cycle.Limits{
			Empty: l.Empty.Duration, Off: l.Off.Duration, On: l.On.Duration, Quiet: l.Quiet.Duration,
			Poll: l.Poll.Duration, Pause: l.Pause.Duration, Attempts: l.Tries,
		},
	}
}

// powerPolicy returns the settings of the node power policy, or nil if it is disabled.
func powerPolicy(s *settings.Settings) *nodepower.PolicySettings {
	m := &s.Switching.Manage
	if !m.Enabled {
		return nil
	}
	return &nodepower.PolicySettings{Settings: m.DPM(), Every: m.Every.Duration, Boot: m.Boot.Duration}
}
