package daemon_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"vjob/api/client"
	"vjob/api/wire"
	"vjob/cluster"
	"vjob/daemon"
	"vjob/daemon/settings"
)

// Errors of power drivers name the key of the settings.
func TestPowerSettings(t *testing.T) {
	password := filepath.Join(t.TempDir(), "password-n1")
	if err := os.WriteFile(password, []byte("geheim"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		n    settings.SwitchedNode
		want string // part of the error; "" if valid
	}{
		"simulated":      {settings.SwitchedNode{Driver: "simulated"}, ""},
		"ipmi":           {settings.SwitchedNode{Driver: "ipmi", Address: "bmc-{node}", User: "u", PasswordFile: strings.Replace(password, "n1", "{node}", 1)}, ""},
		"redfish":        {settings.SwitchedNode{Driver: "redfish", Address: "https://bmc-{node}", User: "u", PasswordFile: password}, ""},
		"command":        {settings.SwitchedNode{Driver: "command", On: []string{"pdu", "on", "{node}"}, Off: []string{"pdu", "off", "{node}"}}, ""},
		"wol":            {settings.SwitchedNode{Driver: "wol", MAC: "52:54:00:12:34:56", Off: []string{"ssh", "{node}", "poweroff"}}, ""},
		"no driver":      {settings.SwitchedNode{}, "power.nodes[0].driver"},
		"magic":          {settings.SwitchedNode{Driver: "magic"}, "power.nodes[0].driver"},
		"unknown node":   {settings.SwitchedNode{Name: "n77", Driver: "simulated"}, "power.nodes[0].name"},
		"a bad range":    {settings.SwitchedNode{Name: "n[2-1]", Driver: "simulated"}, "power.nodes[0].name"},
		"many cards":     {settings.SwitchedNode{Name: "n[1-2]", Driver: "wol", MAC: "52:54:00:12:34:56"}, "power.nodes[0].name"},
		"no card":        {settings.SwitchedNode{Driver: "wol", Off: []string{"true"}}, "power.nodes[0].mac"},
		"no command":     {settings.SwitchedNode{Driver: "command", On: []string{"true"}}, "power.nodes[0].off"},
		"no controller":  {settings.SwitchedNode{Driver: "ipmi", PasswordFile: password}, "power.nodes[0].address"},
		"no service":     {settings.SwitchedNode{Driver: "redfish", PasswordFile: password}, "power.nodes[0].address"},
		"no password":    {settings.SwitchedNode{Driver: "ipmi", Address: "bmc"}, "power.nodes[0].password_file"},
		"in the clear":   {settings.SwitchedNode{Driver: "redfish", Address: "http://bmc", User: "u", PasswordFile: password}, "power.nodes[0].address"},
		"a strange path": {settings.SwitchedNode{Driver: "redfish", Address: "https://bmc", User: "u", System: "x", PasswordFile: password}, "power.nodes[0].system"},
	} {
		s := small(t, func(s *settings.Settings) {
			if c.n.Name == "" {
				c.n.Name = "n1"
			}
			s.Switching.Nodes = []settings.SwitchedNode{c.n}
		})
		err := daemon.Check(&s)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

func TestPowerManagementSettings(t *testing.T) {
	for field, change := range map[string]func(m *settings.Manage){
		"power.manage.target":      func(m *settings.Manage) { m.Target = 63 },
		"power.manage.tolerance":   func(m *settings.Manage) { m.Tolerance = 0.5 },
		"power.manage.on_window":   func(m *settings.Manage) { m.OnWindow.Duration = time.Second },
		"power.manage.every":       func(m *settings.Manage) { m.Every.Duration = 0 },
		"power.manage.spare_nodes": func(m *settings.Manage) { m.SpareNodes = -1 },
		"power.nodes":              func(m *settings.Manage) { m.Enabled = true },
	} {
		s := small(t, func(s *settings.Settings) { change(&s.Switching.Manage) })
		if err := daemon.Check(&s); err == nil || !strings.HasPrefix(err.Error(), field+": ") {
			t.Errorf("%s: %v", field, err)
		}
	}
}

// A node is switched off, stays off over a restart of the daemon, and is switched on again.
func TestPowerStateSurvivesRestart(t *testing.T) {
	s := small(t, func(s *settings.Settings) {
		s.Switching.Nodes = []settings.SwitchedNode{{Name: "n1", Driver: "simulated"}}
		s.Switching.Limits.Poll.Duration = 100 * time.Millisecond
	})
	c, stop := start(t, s)
	id := submit(t, c, "a", 1, 0, 1e6)
	until(t, c, id, "running", inState(cluster.Running))
	if err := c.SetPower(t.Context(), "n1", wire.PowerChange{Power: "off"}); err != nil {
		t.Fatal(err)
	}
	awaitPhase(t, c, "off")
	stop()
	c, _ = start(t, s)
	n := awaitPhase(t, c, "off")
	if len(n.VMs) > 0 {
		t.Errorf("n1 is off and has %v", n.VMs)
	}
	if err := c.SetPower(t.Context(), "n1", wire.PowerChange{Power: "on"}); err != nil {
		t.Fatal(err)
	}
	awaitPhase(t, c, "on")
	until(t, c, id, "running", inState(cluster.Running))
}

// awaitPhase waits until n1 is in a phase.
func awaitPhase(t *testing.T, c *client.Client, phase string) wire.Node {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		list, err := c.Nodes(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		n := list.Nodes[0]
		if n.Switch != nil && n.Switch.Phase == phase {
			return n
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s is never %s: %+v", n.Name, phase, n.Switch)
		}
	}
}
