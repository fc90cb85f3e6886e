package api_test

import (
	"net/http"
	"testing"

	"vjob/api/wire"
	"vjob/scheduler/decide"
)

// A node has the load of its link only where that counts.
func TestBalanceOfLinks(t *testing.T) {
	b := newFixture(t)
	b.scheduler.snap.Balance.Loads = []decide.NodeLoad{
		{Node: "n1", CPU: [2]float64{1.25, 0.75}, Network: &[2]float64{0.96, 0.48}}, {Node: "n2", Memory: [2]float64{0.5, 0.25}},
	}
	got := read[wire.Balance](t, b.as("root", "GET", "/v1/balance", ""), http.StatusOK).Nodes
	if len(got) != 2 || got[0].CPUAfter != 0.75 || got[1].MemoryAfter != 0.25 {
		t.Fatalf("%+v", got)
	}
	if n := got[0]; n.Network == nil || *n.Network != 0.96 || n.NetworkAfter == nil || *n.NetworkAfter != 0.48 {
		t.Errorf("%+v", n)
	}
	if n := got[1]; n.Network != nil || n.NetworkAfter != nil {
		t.Errorf("%+v", n)
	}
}
