package settings_test

import (
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/daemon/settings"
)

// Estimates for real nodes come from the settings, with current disks and networks as the
// default; those for simulated nodes come from the profile.
func TestCostsOfRealNodes(t *testing.T) {
	defaults, err := settings.Default(func(string) string { return "/home" })
	if err != nil {
		t.Fatal(err)
	}
	const memory = 64 * cluster.GiB
	tests := []struct {
		name                  string
		change                func(s *settings.Settings)
		save, resume, migrate time.Duration
	}{
		{"defaults", func(*settings.Settings) {}, 329 * time.Second, 329 * time.Second, 55 * time.Second},
		{"a slower store", func(s *settings.Settings) {
			s.Libvirt.SaveMiBps, s.Libvirt.RestoreMiBps = 100, 200
		}, 984 * time.Second, 656 * time.Second, 55 * time.Second},
		{"a slower NIC", func(s *settings.Settings) { s.Network.NIC.Rate = 125_000_000 }, 329 * time.Second, 329 * time.Second, 550 * time.Second},
		{"a limit of migrations", func(s *settings.Settings) { s.Libvirt.MigrationMiBps = 64 }, 329 * time.Second, 329 * time.Second, 1024 * time.Second},
	}
	for _, tt := range tests {
		s := defaults
		s.Driver = "libvirt"
		tt.change(&s)
		core, err := s.Scheduler()
		if err != nil {
			t.Fatal(err)
		}
		for kind, want := range map[cluster.ActionKind]time.Duration{
			cluster.Suspend: tt.save, cluster.Resume: tt.resume, cluster.Migrate: tt.migrate,
		} {
			if got := core.Execute.Costs.Duration(kind, memory, "n1", "n2").Round(time.Second); got != want {
				t.Errorf("%s: %s of 64 GiB takes %s, want %s", tt.name, kind, got, want)
			}
		}
	}
	core, err := defaults.Scheduler()
	if err != nil {
		t.Fatal(err)
	}
	if core.Execute.Costs == (ctxswitch.Costs{}) || core.Execute.Costs == defaults.LibvirtCosts() {
		t.Errorf("a simulated cluster is planned with %+v", core.Execute.Costs)
	}
	if core.Lookahead != 7*24*time.Hour {
		t.Errorf("the look-ahead is %s, want a week", core.Lookahead)
	}
}

// Settings replace the parts of the estimates that they name, of both drivers.
func TestDurationsOfTheSettings(t *testing.T) {
	const text = `
durations:
  boot: {constant: 9s, per_gib: 1s}
  stop: {constant: 0s}
  suspend: {per_gib: 20s}
  resume: {constant: 3s, per_gib: 30s}
  migrate: {constant: 2s}
  remote_factor: 2
`
	for _, driver := range []string{"simulated", "libvirt"} {
		s, err := read(t, text)
		if err != nil {
			t.Fatal(err)
		}
		s.Driver = driver
		core, err := s.Scheduler()
		if err != nil {
			t.Fatal(err)
		}
		if !core.Execute.Learn {
			t.Error("durations are not learned by default")
		}
		without := s
		without.Durations = settings.Durations{}
		old, err := without.Scheduler()
		if err != nil {
			t.Fatal(err)
		}
		c, before := &core.Execute.Costs, &old.Execute.Costs
		const memory = 2 * cluster.GiB
		for name, d := range map[string][2]time.Duration{
			"boot":          {c.Duration(cluster.Boot, memory, "", "n1"), 11 * time.Second},
			"stop":          {c.Duration(cluster.Stop, memory, "n1", ""), 0},
			"suspend":       {c.Duration(cluster.Suspend, memory, "n1", ""), before.Duration(cluster.Suspend, 0, "n1", "") + 40*time.Second},
			"resume":        {c.Duration(cluster.Resume, memory, "n1", "n1"), 63 * time.Second},
			"remote resume": {c.Duration(cluster.Resume, memory, "n1", "n2"), 126 * time.Second},
			"migrate":       {c.Duration(cluster.Migrate, memory, "n1", "n2"), 2*time.Second + before.Duration(cluster.Migrate, memory, "n1", "n2")},
		} {
			if d[0] != d[1] {
				t.Errorf("%s: %s takes %s, want %s", driver, name, d[0], d[1])
			}
		}
		if old.Execute.Learn {
			t.Error("durations are learned although the settings say no")
		}
	}
}
