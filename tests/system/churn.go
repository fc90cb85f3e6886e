package main

import (
	"context"
	"fmt"
	"time"
)

// measureChurn lets vjobs come and go, and measures whether the daemon works more for each of them with time.
func measureChurn(ctx context.Context, r *run) error {
	d, _, err := r.start(ctx, cluster{nodes: 8, cpu: 16, memoryGiB: 64, speed: 1000})
	if err != nil {
		return err
	}
	defer d.stop()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	events, err := d.follow(ctx)
	if err != nil {
		return err
	}
	const parts = 5
	var costs []point
	var memory []string
	for part := range parts {
		before := d.cpu()
		_, _, err := load(ctx, 8, r.sizes.churn/parts, func(ctx context.Context, _ int) error {
			short := submission{Count: 4, Template: vm{CPUMilli: 1000, MemoryMiB: 512, Steps: []step{{CPUMilli: 1000, Seconds: 20}}}}
			id, err := d.submit(ctx, short)
			if err != nil {
				return err
			}
			return events.reaches(ctx, id, "terminated")
		})
		if err != nil {
			return err
		}
		each := (d.cpu() - before) / time.Duration(r.sizes.churn/parts)
		costs = append(costs, point{float64((part + 1) * r.sizes.churn / parts), each.Seconds()})
		now, _ := d.memory()
		memory = append(memory, fmt.Sprintf("%d", now))
	}
	first, last := costs[0].cost, costs[parts-1].cost
	r.add(figure{
		What:     fmt.Sprintf("CPU for a vjob that comes and goes, the first and the last fifth of %d", r.sizes.churn),
		Measured: fmt.Sprintf("%.1f → %.1f ms, exponent %.2f", first*1e3, last*1e3, exponent(costs)), Aim: "constant", Met: within(last, first*1.15), Before: "7 → 21 ms in 5,150",
	})
	r.add(figure{What: "resident memory meanwhile", Measured: fmt.Sprintf("%v MiB", memory), Aim: "constant"})
	return nil
}
