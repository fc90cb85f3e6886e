package drs

import (
	"fmt"
	"math/rand/v2"
	"time"

	"vjob/scheduler/balance"
)

// table1 is the experiment of table 1: 30 hosts of 8 cores and 3 GB, 400 VMs of one vCPU and 220 MB that demand 600 or
// 1800 MHz for ten minutes, and 100 MHz for the next ten.
//
// Assumptions. The clock rate is not published: at 1.44 GHz a core the CPU payload with balancing is that of the table.
// Without DRS 65.94 % of the memory satisfy demand; VMs placed uniformly would satisfy 87 %, so the placement was
// skewed: here 54 % of the VMs are on 6 of the hosts, and the others uniformly on the rest. Each VM begins its
// pattern at a random time within its period. The trial takes two hours, the first round is at once, and the
// network copies 1 Gbit/s.
func table1(seed uint64, set *balance.Settings) *trial {
	const clock = 1440.0
	chance := rand.New(rand.NewPCG(seed, 0x71))
	t := &trial{length: 2 * time.Hour, settings: set, seed: seed}
	for i := range 30 {
		t.hosts = append(t.hosts, balance.Node{Name: fmt.Sprintf("h%02d", i+1), Capacity: balance.Amounts{8000, 3072, 0}})
	}
	const crowded = 6
	starts := make([]time.Duration, 400)
	busy := make([][]int64, 400)
	for i := range starts {
		host := crowded + chance.IntN(len(t.hosts)-crowded)
		if chance.Float64() < 0.54 {
			host = chance.IntN(crowded)
		}
		t.guests = append(t.guests, guest{host: host, memory: 220, size: 220})
		starts[i] = time.Duration(chance.IntN(1200)) * time.Second
		for range 1 + t.length/(20*time.Minute) + 1 {
			busy[i] = append(busy[i], []int64{600, 1800}[chance.IntN(2)])
		}
	}
	t.demand = func(at time.Duration, vm int) int64 {
		in := at + starts[vm]
		mhz := int64(100)
		if in%(20*time.Minute) < 10*time.Minute {
			mhz = busy[vm][in/(20*time.Minute)]
		}
		return int64(float64(mhz) * 1000 / clock)
	}
	return t
}

// gigabit are the settings of a round over a network of 1 Gbit/s, as in the paper.
func gigabit() *balance.Settings {
	s := balance.Paper()
	s.Rate, s.Return = 119, time.Hour
	return &s
}

// unlimited are the same with as many moves as help. 14 VMs of 220 MB are 0.3 % more than a host has, and the payload
// of the table needs hosts with so many, so a destination may be slightly over its capacity.
func unlimited() *balance.Settings {
	s := gigabit()
	s.MaxPerNode, s.MaxMoves, s.Overload = 0, 0, 0.005
	return s
}
