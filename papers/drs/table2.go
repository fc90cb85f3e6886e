package drs

import (
	"fmt"
	"math/rand/v2"
	"time"

	"vjob/energy/dpm"
	"vjob/scheduler/balance"
)

// load2 is one of the experiments of table 2: what a VM demands in MHz while it is busy, and while it is not.
type load2 struct {
	name        string
	busy, quiet func(chance *rand.Rand) float64
	memory      int64   // of a VM, in MiB
	clock       float64 // MHz of a core
}

// The experiments. The paper's text for the second and the third is the same, but its figures differ by a factor of
// three. Memory and clock rates are not published: these give the payloads of the table.
var experiments2 = []load2{
	{"experiment 1", normal(1000, 800), normal(600, 500), 260, 2200},
	{"experiment 2", uniform(500, 1500), uniform(0, 500), 260, 1650},
	{"experiment 3", uniform(500, 1500), uniform(0, 500), 700, 1650},
}

// normal draws from a normal distribution, at least 0. What the paper calls the variance is taken as the deviation.
func normal(mean, deviation float64) func(chance *rand.Rand) float64 {
	return func(chance *rand.Rand) float64 { return max(0, mean+deviation*chance.NormFloat64()) }
}

func uniform(low, high float64) func(chance *rand.Rand) float64 {
	return func(chance *rand.Rand) float64 { return low + (high-low)*chance.Float64() }
}

// table2 is an experiment of table 2: 15 hosts of three kinds and 25 VMs with phases of ten minutes, under power
// management.
//
// Assumptions. There are five hosts of each kind. All VMs are busy at the same time, as by day. Each draws a new demand
// every five minutes. VMs begin on random hosts with enough memory, and the trial takes six hours.
func table2(e *load2, seed uint64, costBenefit bool) *trial {
	chance := rand.New(rand.NewPCG(seed, 0x72))
	set := gigabit()
	set.CostBenefit = costBenefit
	manage := dpm.Default
	manage.Trials = 0
	t := &trial{length: 6 * time.Hour, first: interval, settings: set, power: &manage, seed: seed}
	for i := range 15 {
		size := [][2]int64{{2, 2}, {4, 2}, {4, 4}}[i%3]
		t.hosts = append(t.hosts, balance.Node{Name: fmt.Sprintf("h%02d", i+1), Capacity: balance.Amounts{1000 * size[0], 1024 * size[1], 0}})
	}
	used := make([]int64, len(t.hosts))
	const draws = 6 * 12
	demands := make([][draws]int64, 25)
	for i := range demands {
		host := chance.IntN(len(t.hosts))
		for used[host]+e.memory > t.hosts[host].Capacity[1] {
			host = chance.IntN(len(t.hosts))
		}
		used[host] += e.memory
		t.guests = append(t.guests, guest{host: host, memory: e.memory, size: e.memory})
		for k := range demands[i] {
			draw := e.busy
			if k/2%2 == 1 {
				draw = e.quiet
			}
			demands[i][k] = int64(draw(chance) * 1000 / e.clock)
		}
	}
	t.demand = func(at time.Duration, vm int) int64 { return demands[vm][at/(5*time.Minute)] }
	return t
}
