package main

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// mixed are the latencies of the requests of a mixed load, by kind.
type mixed struct {
	mu    sync.Mutex
	kinds map[string]latencies
	fault error
}

// repeat makes requests of one kind until the context ends. The request that the end interrupts does not count.
func (m *mixed) repeat(ctx context.Context, wait *sync.WaitGroup, kind string, clients int, rest time.Duration, one func(ctx context.Context) error) {
	for range clients {
		wait.Go(func() {
			for {
				began := time.Now()
				err := one(ctx)
				if ctx.Err() != nil {
					return
				}
				m.mu.Lock()
				m.kinds[kind] = append(m.kinds[kind], time.Since(began))
				if err != nil && m.fault == nil {
					m.fault = err
				}
				m.mu.Unlock()
				if sleep(ctx, rest) != nil {
					return
				}
			}
		})
	}
}

// fill submits vjobs of 4 VMs, of which the cluster runs as many as it can.
func fill(ctx context.Context, d *daemon, vjobs int) error {
	_, _, err := load(ctx, 16, vjobs, func(ctx context.Context, _ int) error {
		_, err := d.submit(ctx, gang(4))
		return err
	})
	if err != nil {
		return err
	}
	return d.settle(ctx)
}

// measureMix loads a daemon as a busy site does: submitters, listers and what-ifs at once, while vjobs are switched.
func measureMix(ctx context.Context, r *run) error {
	d, _, err := r.start(ctx, cluster{nodes: r.sizes.mixNodes, cpu: 16, memoryGiB: 64, speed: 20})
	if err != nil {
		return err
	}
	defer d.stop()
	if err := fill(ctx, d, r.sizes.mixVJobs); err != nil {
		return err
	}
	m := &mixed{kinds: map[string]latencies{}}
	ids := make(chan int64, 100_000)
	loaded, cancel := context.WithTimeout(ctx, r.sizes.mixFor)
	defer cancel()
	before := d.cpu()
	var wait sync.WaitGroup
	m.repeat(loaded, &wait, "submit", 8, 100*time.Millisecond, func(ctx context.Context) error {
		id, err := d.submit(ctx, gang(4))
		if err == nil {
			ids <- id
		}
		return err
	})
	m.repeat(loaded, &wait, "list", 20, 500*time.Millisecond, func(ctx context.Context) error {
		_, err := d.call(ctx, "GET", "/v1/vjobs?limit=100", nil, nil)
		return err
	})
	m.repeat(loaded, &wait, "what-if", 5, time.Second, func(ctx context.Context) error {
		_, err := d.call(ctx, "POST", "/v1/what-if", map[string]any{"submit": gang(4)}, nil)
		return err
	})
	m.repeat(loaded, &wait, "delete", 2, 50*time.Millisecond, func(ctx context.Context) error {
		select {
		case id := <-ids:
			return d.remove(ctx, id)
		case <-ctx.Done():
			return nil
		}
	})
	wait.Wait()
	used := (d.cpu() - before).Seconds() / r.sizes.mixFor.Seconds()
	for _, k := range []struct {
		kind, before string
		aim          time.Duration
	}{
		{"submit", "0.65 s", 50 * time.Millisecond},
		{"list", "0.63 s", 50 * time.Millisecond},
		{"delete", "3.3 s", 100 * time.Millisecond},
		{"what-if", "4.4 s", time.Second},
	} {
		each := m.kinds[k.kind]
		r.add(figure{
			What:     fmt.Sprintf("mixed load, %d nodes, %d vjobs: %s", r.sizes.mixNodes, r.sizes.mixVJobs, k.kind),
			Measured: fmt.Sprintf("%s of %d", each.text(), len(each)), Aim: "p99 " + short(k.aim), Met: within(each.quantile(0.99).Seconds(), k.aim.Seconds()), Before: "p99 " + k.before,
		})
	}
	r.add(figure{What: "mixed load: processors used by the daemon", Measured: fmt.Sprintf("%.2f", used)})
	return m.fault
}
