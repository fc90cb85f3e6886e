package drs

import (
	"fmt"
	"math/rand/v2"
	"time"

	"vjob/scheduler/balance"
)

// testbed is the experiment of figures 8 to 13: 32 hosts of 8 cores and 32 GB, 1,280 VMs of one vCPU and 1 GB in four
// pools, of which the first two are on 16 of the hosts. The VMs are idle, and at once those of the first two pools
// demand a fifth of a core more.
//
// Assumptions. An idle VM demands 3 % of a core, a VM with load 23 %; demands vary by a tenth every five minutes. All VMs
// demand 188 MiB, by which the memory loads spread as in figure 9. These alone have a deviation of 0.09, so that the
// imbalance of figure 10, which ends below 0.05, can only be that of the CPU: memory has no weight here. Shares of a
// pool are 2000, 1000, 1000 and 500, as vSphere has them for high, normal and low. The first round is five minutes
// after the load. Benefits are counted for 45 minutes. A host takes part in at most four migrations of a round, as
// many as vSphere 5 makes at once on 1 Gbit/s.
func testbed(seed uint64, set *balance.Settings) *trial {
	chance := rand.New(rand.NewPCG(seed, 0x8d))
	t := &trial{
		length: loadAt + 3*time.Hour, first: loadAt + interval, settings: set, seed: seed,
		pools: []share{{"RP-HighShare", 2000}, {"RP-NormShare-1", 1000}, {"RP-NormShare-2", 1000}, {"RP-LowShare", 500}},
	}
	for i := range 32 {
		t.hosts = append(t.hosts, balance.Node{Name: fmt.Sprintf("h%02d", i+1), Capacity: balance.Amounts{8000, 32 * 1024, 0}})
	}
	const draws = 64
	noise := make([][draws]float64, 1280)
	for i := range noise {
		pool := i / 320
		t.guests = append(t.guests, guest{host: pool/2*16 + i%16, pool: pool, memory: 188, size: 1024})
		for k := range noise[i] {
			noise[i][k] = 0.9 + 0.2*chance.Float64()
		}
	}
	t.demand = func(at time.Duration, vm int) int64 {
		need := 30.0
		if at >= loadAt && vm < 640 {
			need = 230
		}
		return int64(need * noise[vm][at/interval])
	}
	return t
}

// loadAt is when the load begins: after an hour in which the VMs are idle.
const loadAt = time.Hour

// testbedSettings are those of the experiment.
func testbedSettings() *balance.Settings {
	s := gigabit()
	s.MaxPerNode, s.Horizon = 4, 45*time.Minute
	s.Weights[balance.Memory] = 0
	return s
}
