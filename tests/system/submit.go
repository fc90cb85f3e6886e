package main

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// load runs a number of equal requests from so many clients at once, and returns how long each took, and all of them.
func load(ctx context.Context, clients, requests int, one func(ctx context.Context, i int) error) (each latencies, took time.Duration, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	each = make(latencies, requests)
	var next atomic.Int64
	var wait sync.WaitGroup
	began := time.Now()
	for range clients {
		wait.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= requests {
					return
				}
				start := time.Now()
				if err := one(ctx, i); err != nil {
					cancel(err)
					return
				}
				each[i] = time.Since(start)
			}
		})
	}
	wait.Wait()
	return each, time.Since(began), context.Cause(ctx)
}

// measureSubmissions measures acknowledged submissions: synced to disk before they are answered.
func measureSubmissions(ctx context.Context, r *run) error {
	body, err := json.Marshal(gang(9))
	if err != nil {
		return err
	}
	for _, c := range []struct {
		what, before string
		cluster      cluster
		clients      int
		requests     int
		aim          float64
	}{
		{"submissions of 9 VMs, 8 nodes, 1 client", "742/s", cluster{nodes: 8, cpu: 4, memoryGiB: 8, speed: 20}, 1, r.sizes.submissions, 1500},
		{"submissions of 9 VMs, 8 nodes, 32 clients", "1,528/s", cluster{nodes: 8, cpu: 4, memoryGiB: 8, speed: 20}, 32, r.sizes.submissions, 8000},
		{"submissions of 9 VMs, 1,000 nodes, 32 clients, vjobs start", "185-219/s", cluster{nodes: 1000, cpu: 16, memoryGiB: 64, speed: 20}, 32, 1700, 1500},
	} {
		d, _, err := r.start(ctx, c.cluster)
		if err != nil {
			return err
		}
		before, ownBefore := d.cpu(), ownCPU()
		each, took, err := load(ctx, c.clients, c.requests, func(ctx context.Context, _ int) error {
			_, err := d.call(ctx, "POST", "/v1/vjobs", json.RawMessage(body), nil)
			return err
		})
		used, own := d.cpu()-before, ownCPU()-ownBefore
		d.stop()
		if err != nil {
			return err
		}
		rate, n := float64(c.requests)/took.Seconds(), time.Duration(c.requests)
		r.add(figure{
			What: c.what, Measured: fmt.Sprintf("%.0f/s, %s, CPU %s each, and %s of the client", rate, each.text(), short(used/n), short(own/n)),
			Aim: fmt.Sprintf("%.0f/s", c.aim), Met: least(rate, c.aim), Before: c.before, Peers: "Slurm about 500/s, not synced",
		})
	}
	return nil
}
