package dpm_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"vjob/cluster"
	"vjob/energy/dpm"
)

var start = time.Date(2026, time.March, 1, 0, 0, 0, 0, time.UTC)

// world is a cluster with a history that the test writes.
type world struct {
	c   dpm.Cluster
	set dpm.Settings
	cpu map[cluster.VMID][]float64 // by minute
}

// hosts makes a world of so many hosts of 10 processors and 100 GiB that have been on
// for long.
func hosts(n int) *world {
	w := &world{
		set: dpm.Default, cpu: map[cluster.VMID][]float64{},
		c: dpm.Cluster{Now: start, Where: dpm.Placement{}, Memory: map[cluster.VMID]cluster.MiB{}, History: dpm.NewHistory(time.Hour)},
	}
	for i := range n {
		w.c.Hosts = append(w.c.Hosts, dpm.Host{
			ID: cluster.NodeID(fmt.Sprintf("n%02d", i)), Since: start.Add(-24 * time.Hour),
			Capacity: cluster.Resources{CPU: 10 * cluster.CPU, Memory: 100 * cluster.GiB},
		})
	}
	return w
}

// vm adds a VM to a host.
func (w *world) vm(host int, memory cluster.MiB) {
	id := cluster.VMID{VJob: cluster.VJobID(len(w.c.Where) + 1)}
	w.c.Where[id], w.c.Memory[id] = w.c.Hosts[host].ID, memory
}

// pass lets minutes go by in which each VM needs what need says.
func (w *world) pass(minutes int, need func(vm cluster.VMID) cluster.MilliCPU) *world {
	for range minutes {
		var samples []dpm.Sample
		for vm, at := range w.c.Where {
			cpu := need(vm)
			samples = append(samples, dpm.Sample{VM: vm, Node: at, CPU: cpu})
			w.cpu[vm] = append(w.cpu[vm], float64(cpu))
		}
		w.c.History.Add(w.c.Now, samples)
		w.c.Now = w.c.Now.Add(time.Minute)
	}
	return w
}

// steady is a need that never changes.
func steady(cpu cluster.MilliCPU) func(cluster.VMID) cluster.MilliCPU {
	return func(cluster.VMID) cluster.MilliCPU { return cpu }
}

func (w *world) decide() dpm.Advice {
	return w.set.Decide(&w.c, w.levelled(), rand.New(rand.NewPCG(1, 1)))
}

// stay leaves every VM where it is, as where rules pin it.
func stay(_ []cluster.NodeID, from dpm.Placement) (dpm.Placement, bool) { return from, true }

// all lists the hosts.
func (w *world) all() (list []cluster.NodeID) {
	for _, h := range w.c.Hosts {
		list = append(list, h.ID)
	}
	return list
}

// naive is the utilisation of a host by the book: the mean over the last minutes and two
// standard deviations.
func (w *world) naive(host cluster.NodeID, minutes int) float64 {
	series := make([]float64, minutes)
	capacity := 0.0
	for _, h := range w.c.Hosts {
		if h.ID == host {
			capacity = float64(h.Capacity.CPU)
		}
	}
	for vm, at := range w.c.Where {
		for i := range series {
			if past := w.cpu[vm]; at == host {
				series[i] += past[max(0, len(past)-1-i)]
			}
		}
	}
	mean, square := 0.0, 0.0
	for _, v := range series {
		mean += v / float64(minutes)
	}
	for _, v := range series {
		square += (v - mean) * (v - mean) / float64(minutes)
	}
	return (mean + 2*math.Sqrt(square)) / capacity
}
