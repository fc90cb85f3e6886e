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
