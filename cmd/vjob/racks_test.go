package main

import (
	"strings"
	"testing"

	"vjob/cluster"
	"vjob/cmd/vjob/cli"
	"vjob/daemon/settings"
)

// Nodes are called by names, ranges and labels, each once, and changed all or none.
func TestRacks(t *testing.T) {
	var nodes []settings.Node
	for rack, names := range map[string]string{"A": "n[1-2]", "B": "n[3-4]"} {
		n := settings.Node{Name: names, Labels: map[string]string{"rack": rack}}
		n.CPU.MilliCPU, n.Memory.MiB = 2*cluster.CPU, 2048
		nodes = append(nodes, n)
	}
	s, _ := liveWith(t, nodes)
	s.ok("submit", "--name", "a", "--vms", "2", "--cpu", "2", "--mem", "256MiB", "--steps", "9h@2")
	s.waitFor("running", "list")
	s.fails(cli.ExitInput, `--drain: "rack=C" is not a name, a range`, "plan", "--what-if", "--drain", "rack=C")
	if out := s.ok("plan", "--what-if", "--drain", "rack=A,n3"); !strings.Contains(out, "1 node would take VMs") {
		t.Errorf("with three nodes drained: %s", out)
	}
	out := s.ok("nodes", "drain", "rack=A", "n1")
	if strings.Count(out, "is draining now") != 2 || strings.Count(out, "node n1 ") != 1 {
		t.Errorf("printed %q", out)
	}
	s.fails(cli.ExitNotFound, "n9", "nodes", "online", "n[1-2]", "n9")
	if out := s.ok("nodes"); strings.Count(out, "draining") != 2 {
		t.Errorf("after a refusal: %s", out)
	}
	s.ok("nodes", "online", "n[1-2]")
	if out := s.ok("nodes"); strings.Count(out, "online") != 4 {
		t.Errorf("all of them again: %s", out)
	}
}
