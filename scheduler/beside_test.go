package scheduler_test

import (
	"errors"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/scheduler"
	"vjob/scheduler/admission"
	"vjob/scheduler/balance"
	"vjob/scheduler/decide"
	"vjob/scheduler/improve"
)

// What-ifs and forecasts are answered beside the loop, in which vjobs with rules come and go meanwhile: the race detector
// sees what they share.
func TestAnswersBesideTheLoop(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(8)) // half as many answers at a time
	set := settings()
	set.Improve = improve.Settings{Balance: &improve.BalanceSettings{Settings: balance.Default, Every: time.Second}, Placement: improve.Spread}
	with(t, set, func(p *plant) {
		vms := make([]cluster.VM, 2)
		for rank := range vms {
			vms[rank].Reserved = cluster.Resources{CPU: 500, Memory: 256}
		}
		var all sync.WaitGroup
		for client := range 3 {
			all.Go(func() {
				for i := range 40 {
					one := admission.Submission{Owner: "u", VMs: slices.Clone(vms), Rules: "spread($VMS);"}
					ask := scheduler.WhatIf{Submit: &one, Nodes: map[cluster.NodeID]cluster.NodeState{"n1": cluster.Draining}}
					if client == 0 {
						ask = scheduler.WhatIf{Demand: []decide.DemandChange{{Owner: "u", CPU: cluster.MilliCPU(100 * i)}}}
					}
					if _, err := p.loop.Requests.WhatIf(p.t.Context(), ask); err != nil && !errors.Is(err, cluster.ErrInvalid) {
						p.t.Error(err)
					}
					if _, err := p.loop.Requests.Forecast(p.t.Context()); err != nil {
						p.t.Error(err)
					}
					time.Sleep(300 * time.Millisecond)
				}
			})
		}
		all.Go(func() {
			for i := range 40 {
				job, _, err := p.loop.Requests.Submit(p.t.Context(), admission.Submission{Owner: "u", VMs: slices.Clone(vms), Rules: "spread($VMS);"})
				if err != nil {
					p.t.Error(err)
					return
				}
				time.Sleep(250 * time.Millisecond)
				if i%3 == 0 {
					continue
				}
				if err := p.loop.Requests.Order(p.t.Context(), job.ID, scheduler.OrderDelete, "u"); err != nil {
					p.t.Error(err)
				}
			}
		})
		all.Wait()
	})
}
