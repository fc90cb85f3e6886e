package main

import (
	"context"
	"fmt"
	"time"
)

// crowd is a cluster that is full of VMs.
type crowd struct{ nodes, vms int }

const (
	crowdGang = 100 // VMs of a vjob
	rackSize  = 40  // nodes that are drained at once
)

// measureCrowds measures clusters that are full of VMs.
func measureCrowds(ctx context.Context, r *run) error {
	var fills, cycles, drains []point
	for _, c := range r.sizes.crowds {
		costs, err := r.crowdOf(ctx, c)
		if err != nil {
			return fmt.Errorf("%d VMs on %d nodes: %w", c.vms, c.nodes, err)
		}
		size := float64(c.vms)
		fills, cycles, drains = append(fills, point{size, costs.fill.Seconds()}), append(cycles, point{size, costs.cycle.Seconds()}), append(drains, point{size, costs.drain.Seconds()})
	}
	for _, growth := range []struct {
		what   string
		points []point
	}{{"the start of all VMs", fills}, {"a start and a deletion beside them", cycles}, {"the drain of a rack", drains}} {
		r.add(figure{What: fmt.Sprintf("growth of %s with VMs: exponent", growth.what), Measured: fmt.Sprintf("%.2f", exponent(growth.points))})
	}
	return nil
}

// crowdCosts are CPU times of one crowd.
type crowdCosts struct{ fill, cycle, drain time.Duration }

// crowdOf measures one crowd.
func (r *run) crowdOf(ctx context.Context, c crowd) (costs crowdCosts, err error) {
	d, _, err := r.start(ctx, cluster{nodes: c.nodes, cpu: 16, memoryGiB: 64, speed: 100})
	if d != nil {
		defer d.stop()
	}
	if err != nil {
		return costs, err
	}
	m := meter{run: r, d: d, of: fmt.Sprintf("%d VMs on %d nodes", c.vms, c.nodes)}
	costs.fill, err = m.cpu(ctx, "start of ", func() error { return d.run(ctx, c.vms/crowdGang) })
	if err != nil {
		return costs, err
	}
	if err := d.settle(ctx); err != nil {
		return costs, err
	}
	m.idle = d.idle(ctx, r.sizes.idleFor)
	m.add("idle CPU with ", fmt.Sprintf("%.2f %%", 100*m.idle))
	if costs.cycle, err = r.cycle(ctx, d, m.idle); err != nil {
		return costs, err
	}
	m.add("CPU of a start and a deletion beside ", short(costs.cycle))
	if costs.drain, err = m.cpu(ctx, fmt.Sprintf("drain of %d nodes among ", rackSize), func() error { return d.drain(ctx) }); err != nil {
		return costs, err
	}
	for _, ask := range []struct {
		what string
		do   func() error
	}{
		{"what-if about a vjob beside ", func() error {
			_, err := d.call(ctx, "POST", "/v1/what-if", map[string]any{"submit": gang(9)}, nil)
			return err
		}},
		{"list of nodes with ", func() error { _, err := d.pages(ctx, "/v1/nodes", func(*page) {}); return err }},
		{"list of vjobs with ", func() error { _, err := d.pages(ctx, "/v1/vjobs", func(*page) {}); return err }},
		{"restart with ", func() error { _, err := d.restart(ctx); return err }},
	} {
		if _, err := m.cpu(ctx, ask.what, ask.do); err != nil {
			return costs, err
		}
	}
	return costs, nil
}

// meter measures parts of an experiment.
type meter struct {
	*run
	d    *daemon
	of   string  // what it is measured with
	idle float64 // the part of a processor that the daemon uses anyway
}

func (m *meter) add(what, measured string) { m.run.add(figure{What: what + m.of, Measured: measured}) }

// cpu measures the CPU time that something costs beside that of an idle daemon, and the memory that it needs.
func (m *meter) cpu(ctx context.Context, what string, do func() error) (time.Duration, error) {
	before, began := m.d.cpu(), time.Now()
	if err := do(); err != nil {
		return 0, err
	}
	took, used := time.Since(began), m.d.cpu()-before
	if used < 0 {
		used = m.d.cpu() // of a new process
	}
	used = max(0, used-time.Duration(m.idle*float64(took)))
	now, peak := m.d.memory()
	m.add(what, fmt.Sprintf("%s, CPU %s, %d MiB, at most %d MiB", short(took), short(used), now, peak))
	return used, ctx.Err()
}

// run submits vjobs and waits until they run.
func (d *daemon) run(ctx context.Context, vjobs int) error {
	for range vjobs {
		if _, err := d.submit(ctx, gang(crowdGang)); err != nil {
			return err
		}
	}
	for {
		var list struct {
			Total int `json:"total"`
		}
		if _, err := d.call(ctx, "GET", "/v1/vjobs?state=running&limit=1", nil, &list); err != nil {
			return err
		}
		if list.Total >= vjobs {
			return nil
		}
		if err := sleep(ctx, 500*time.Millisecond); err != nil {
			return err
		}
	}
}

// drain drains the first nodes and waits until they are empty.
func (d *daemon) drain(ctx context.Context) error {
	var names []string
	for i := range rackSize {
		names = append(names, fmt.Sprintf("n%d", i+1))
	}
	if _, err := d.call(ctx, "PATCH", "/v1/nodes", map[string]any{"names": names, "state": "draining"}, nil); err != nil {
		return err
	}
	for _, name := range names {
		for {
			var node struct {
				VMs []string `json:"vms"`
			}
			if _, err := d.call(ctx, "GET", "/v1/nodes/"+name, nil, &node); err != nil {
				return err
			}
			if len(node.VMs) == 0 {
				break
			}
			if err := sleep(ctx, 200*time.Millisecond); err != nil {
				return err
			}
		}
	}
	return nil
}
