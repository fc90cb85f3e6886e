package simulated_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/hypervisor"
	"vjob/hypervisor/simulated"
)

// veteran returns settings with a state file in which a number of VMs ran and ended.
func veteran(tb testing.TB, ended int) simulated.Settings {
	tb.Helper()
	s := simulated.Settings{Config: simulated.Config{Profile: simulated.Profile{Name: "instant"}, Seed: 1, Start: begin}, Speed: 1e6}
	for i := range 10 {
		s.Nodes = append(s.Nodes, simulated.Node{
			ID: cluster.NodeID(fmt.Sprintf("n%d", i)), Capacity: cluster.Resources{CPU: 8 * cluster.CPU, Memory: 64 * cluster.GiB},
		})
	}
	c, now := simulated.New(s.Config), begin
	for i := range ended {
		c.Begin(now, hypervisor.Call{
			Verb: hypervisor.Boot, VM: vm(1_000_000+i, 0), Node: s.Nodes[i%10].ID, Stamp: hypervisor.Stamp{Incarnation: 1, Epoch: 1},
			Machine: machine(512, 1, cluster.Step{CPU: cluster.CPU, Duration: time.Second}),
		})
		now = now.Add(time.Minute)
		c.Advance(now)
	}
	state, err := c.Snapshot()
	if err != nil {
		tb.Fatal(err)
	}
	data, err := json.Marshal(map[string]any{"saved": time.Now(), "virtual": now, "cluster": json.RawMessage(state)})
	if err != nil {
		tb.Fatal(err)
	}
	s.StateFile = filepath.Join(tb.TempDir(), "cluster.json")
	if err := os.WriteFile(s.StateFile, data, 0o600); err != nil {
		tb.Fatal(err)
	}
	return s
}

// What a boot and a stop cost, against the number of VMs that ever ran.
func BenchmarkChurn(b *testing.B) {
	for _, ended := range []int{10, 100, 1000, 10_000} {
		b.Run(fmt.Sprintf("ended=%d", ended), func(b *testing.B) {
			d, err := simulated.Open(veteran(b, ended))
			if err != nil {
				b.Fatal(err)
			}
			vjob := 0
			for b.Loop() {
				vjob++
				for _, c := range []hypervisor.Call{booting(vm(vjob, 0), "n1"), call(hypervisor.Destroy, vm(vjob, 0), "n1")} {
					if _, err := d.Do(b.Context(), c); err != nil {
						b.Fatal(err)
					}
				}
			}
			b.StopTimer()
			if err := d.Close(); err != nil {
				b.Fatal(err)
			}
		})
	}
}
