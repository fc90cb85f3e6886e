package improve

import (
	"testing"
	"time"

	"vjob/cluster"
	"vjob/energy/consolidate"
	"vjob/scheduler/balance"
)

// A VM that was moved stays, and does not go back, until the time has passed.
func TestMovesAreForgotten(t *testing.T) {
	start := time.Date(2026, 5, 4, 8, 0, 0, 0, time.UTC)
	m := newMoves(time.Hour)
	first, second := cluster.VMID{VJob: 1}, cluster.VMID{VJob: 2}
	m.note([]cluster.Move{{VM: first, From: "n1", To: "n2"}, {VM: second, From: "n1", To: "n3"}}, start)
	m.note([]cluster.Move{{VM: first, From: "n2", To: "n3"}}, start.Add(30*time.Minute))
	m.forget(start.Add(time.Hour - time.Second))
	if len(m.left(first)) != 2 || !m.left(second)["n1"].Equal(start) || !m.keeps(second) {
		t.Errorf("before an hour: %v, %v", m.left(first), m.left(second))
	}
	m.forget(start.Add(time.Hour))
	if left := m.left(first); len(left) != 1 || left["n2"].IsZero() || !m.keeps(first) {
		t.Errorf("VM 1.0 has left %v, want n2", left)
	}
	if len(m.left(second)) > 0 || m.keeps(second) || len(m.from) != 1 {
		t.Errorf("after an hour: %v", m.from)
	}
}

// VMs stay for the longest time that any search asks for.
func TestStay(t *testing.T) {
	longer := balance.Default
	longer.Return = 2 * time.Hour
	saving := &ConsolidationSettings{Criteria: consolidate.Criteria{Horizon: 3 * time.Hour}}
	paper := balance.Paper()
	for _, c := range []struct {
		name string
		set  Settings
		want time.Duration
	}{
		{"no search", Settings{}, balance.Default.Return},
		{"balance", Settings{Balance: &BalanceSettings{Settings: longer}}, 2 * time.Hour},
		{"balance that returns at once", Settings{Balance: &BalanceSettings{Settings: paper}}, balance.Default.Return},
		{"consolidation", Settings{Consolidation: saving}, 3 * time.Hour},
		{"both", Settings{Consolidation: saving, Balance: &BalanceSettings{Settings: longer}}, 3 * time.Hour},
	} {
		if got := c.set.stay(); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}
