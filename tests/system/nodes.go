package main

import (
	"context"
	"fmt"
	"time"
)

// measureNodes measures what depends on the number of nodes.
func measureNodes(ctx context.Context, r *run) error {
	var starts, cycles []point
	for _, n := range r.sizes.nodes {
		start, cycle, err := r.nodesOf(ctx, n)
		if err != nil {
			return fmt.Errorf("%d nodes: %w", n, err)
		}
		starts, cycles = append(starts, point{float64(n), start.Seconds()}), append(cycles, point{float64(n), cycle.Seconds()})
	}
	e := exponent(starts)
	r.add(figure{What: "growth of the first start with nodes: exponent", Measured: fmt.Sprintf("%.2f", e), Aim: "1", Met: within(e, 1.1), Before: "1.8"})
	e = exponent(cycles)
	r.add(figure{What: "growth of a start and a deletion with nodes: exponent", Measured: fmt.Sprintf("%.2f", e), Before: "1.0"})
	return nil
}

// nodesOf measures a cluster of n nodes.
func (r *run) nodesOf(ctx context.Context, n int) (start, cycle time.Duration, err error) {
	d, start, err := r.start(ctx, cluster{nodes: n, cpu: 16, memoryGiB: 64, speed: 100})
	if d != nil {
		defer d.stop()
	}
	if err != nil {
		return 0, 0, err
	}
	limit := 5 * time.Second * time.Duration(n) / 100_000
	r.add(figure{
		What: fmt.Sprintf("first start of the daemon with %d nodes", n), Measured: fmt.Sprintf("%s, CPU %s", short(start), short(d.cpu())),
		Aim: short(max(limit, time.Second)), Met: within(start.Seconds(), max(limit, time.Second).Seconds()), Before: map[int]string{20_000: "4.3 s", 100_000: "75 s"}[n],
	})
	if err := d.settle(ctx); err != nil {
		return 0, 0, err
	}
	idle := d.idle(ctx, r.sizes.idleFor)
	r.add(figure{What: fmt.Sprintf("CPU of an idle daemon with %d nodes", n), Measured: fmt.Sprintf("%.2f %%", 100*idle), Aim: "0.5 %", Met: within(idle, 0.005), Before: was(n, 10_000, "1.3 %")})
	cycle, err = r.cycles(ctx, d, n, idle)
	if err != nil {
		return 0, 0, err
	}
	began := time.Now()
	size, err := d.pages(ctx, "/v1/nodes", func(*page) {})
	r.add(figure{What: fmt.Sprintf("list of %d nodes in pages of 1,000", n), Measured: fmt.Sprintf("%s, %.1f MB", short(time.Since(began)), float64(size)/1e6), Before: was(n, 100_000, "17 MB")})
	now, peak := d.memory()
	r.add(figure{What: fmt.Sprintf("resident memory with %d nodes", n), Measured: fmt.Sprintf("%d MiB, at most %d MiB", now, peak)})
	again, err := d.restart(ctx)
	if err != nil {
		return 0, 0, err
	}
	r.add(figure{What: fmt.Sprintf("second start of the daemon with %d nodes", n), Measured: fmt.Sprintf("%s, CPU %s", short(again), short(d.cpu()))})
	return start, cycle, err
}

// cycles measures the start and the deletion of a vjob with so many nodes.
func (r *run) cycles(ctx context.Context, d *daemon, nodes int, idle float64) (time.Duration, error) {
	cost, err := r.cycle(ctx, d, idle)
	if err != nil {
		return 0, err
	}
	aims := map[int]time.Duration{1000: 10 * time.Millisecond, 10_000: 30 * time.Millisecond, 100_000: 200 * time.Millisecond}
	f := figure{
		What: fmt.Sprintf("CPU of a start and a deletion with %d nodes", nodes), Measured: short(cost),
		Before: map[int]string{1000: "68 ms", 10_000: "0.53 s", 100_000: "7.1 s"}[nodes],
	}
	if aim, ok := aims[nodes]; ok {
		f.Aim, f.Met = short(aim), within(cost.Seconds(), aim.Seconds())
	}
	r.add(f)
	return cost, nil
}

// cycle starts and deletes vjobs of 9 VMs one after the other, and returns the CPU of one beside that of an idle daemon.
func (*run) cycle(ctx context.Context, d *daemon, idle float64) (time.Duration, error) {
	const count = 5
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	events, err := d.follow(ctx)
	if err != nil {
		return 0, err
	}
	before, began := d.cpu(), time.Now()
	for range count {
		id, err := d.submit(ctx, gang(9))
		if err != nil {
			return 0, err
		}
		if err := events.reaches(ctx, id, "running"); err != nil {
			return 0, err
		}
		if err := d.remove(ctx, id); err != nil {
			return 0, err
		}
		if err := events.reaches(ctx, id, "terminated"); err != nil {
			return 0, err
		}
	}
	used := d.cpu() - before - time.Duration(idle*float64(time.Since(began)))
	return max(used, 0) / count, nil
}
