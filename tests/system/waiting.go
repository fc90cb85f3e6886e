package main

import (
	"context"
	"fmt"
	"time"
)

// arraySize is the most vjobs of an array.
const arraySize = 10_000

// measureWaiting measures what depends on the number of vjobs that wait.
func measureWaiting(ctx context.Context, r *run) error {
	d, _, err := r.start(ctx, cluster{nodes: 8, cpu: 4, memoryGiB: 8, speed: 20})
	if err != nil {
		return err
	}
	defer d.stop()
	have := 0
	var costs []point
	for _, want := range r.sizes.waiting {
		for have < want {
			some := gang(4)
			some.Array = min(arraySize, want-have)
			if _, err := d.submit(ctx, some); err != nil {
				return err
			}
			have += some.Array
		}
		if err := d.settle(ctx); err != nil {
			return err
		}
		cost, err := r.waitingCost(ctx, d, want)
		if err != nil {
			return err
		}
		costs = append(costs, point{float64(want), cost.Seconds()})
		have += submissionsBeside
		if err := r.waitingState(ctx, d, want); err != nil {
			return err
		}
	}
	e := exponent(costs)
	r.add(figure{What: "growth of the CPU per submission with waiting vjobs: exponent", Measured: fmt.Sprintf("%.2f", e), Aim: "0.2", Met: within(e, 0.2), Before: "0.86"})
	return nil
}

// submissionsBeside is how many submissions are measured beside a queue.
const submissionsBeside = 10

// waitingCost returns the CPU of one submission beside a queue, each long enough after the one before to get a decision of its own.
func (r *run) waitingCost(ctx context.Context, d *daemon, waiting int) (time.Duration, error) {
	const rest = 1500 * time.Millisecond
	idle := d.idle(ctx, 5*time.Second)
	before, began := d.cpu(), time.Now()
	var each latencies
	for range submissionsBeside {
		start := time.Now()
		if _, err := d.submit(ctx, gang(4)); err != nil {
			return 0, err
		}
		each = append(each, time.Since(start))
		if err := sleep(ctx, rest); err != nil {
			return 0, err
		}
	}
	if err := d.settle(ctx); err != nil {
		return 0, err
	}
	used := d.cpu() - before - time.Duration(idle*float64(time.Since(began)))
	cost := max(used, time.Second/ticks) / submissionsBeside // less than a tick cannot be told
	was := map[int]string{1000: "16 ms", 10_000: "117 ms", 100_000: "870 ms"}
	const aim = 5 * time.Millisecond
	r.add(figure{
		What: fmt.Sprintf("CPU of a submission beside %d waiting vjobs", waiting), Measured: fmt.Sprintf("%s, answered in %s", short(cost), each.text()),
		Aim: short(aim), Met: within(cost.Seconds(), aim.Seconds()), Before: was[waiting],
	})
	return cost, nil
}

// waitingState measures an idle daemon beside a queue, its memory, its lists and its restart.
func (r *run) waitingState(ctx context.Context, d *daemon, waiting int) error {
	large := waiting >= 10_000
	if !large {
		return nil
	}
	idle := d.idle(ctx, r.sizes.idleFor)
	r.add(figure{What: fmt.Sprintf("CPU of an idle daemon with %d waiting vjobs", waiting), Measured: fmt.Sprintf("%.2f %%", 100*idle), Aim: "0.5 %", Met: within(idle, 0.005), Before: was(waiting, 100_000, "6.7-50 %")})
	now, peak := d.memory()
	aim, before := 200.0, was(waiting, 100_000, "529-638 MiB")
	if waiting > 100_000 {
		aim, before = 700, "2.2 GiB"
	}
	r.add(figure{What: fmt.Sprintf("resident memory with %d waiting vjobs", waiting), Measured: fmt.Sprintf("%d MiB, at most %d MiB", now, peak), Aim: fmt.Sprintf("%.0f MiB", aim), Met: within(float64(now), aim), Before: before})
	if err := r.listAll(ctx, d, waiting); err != nil {
		return err
	}
	took, err := d.restart(ctx)
	if err != nil {
		return err
	}
	limit, before := 2*time.Second, was(waiting, 100_000, "8 s")
	if waiting > 100_000 {
		limit, before = 6*time.Second, "34 s"
	}
	r.add(figure{What: fmt.Sprintf("restart with %d waiting vjobs, until the daemon is ready", waiting), Measured: short(took), Aim: short(limit), Met: within(took.Seconds(), limit.Seconds()), Before: before})
	return d.settle(ctx)
}

// was returns what was measured before, for the size for which it was.
func was(size, of int, text string) string {
	if size == of {
		return text
	}
	return ""
}

// listAll reads all vjobs as a stream, and in pages.
func (r *run) listAll(ctx context.Context, d *daemon, vjobs int) error {
	began, before := time.Now(), d.cpu()
	entries, bytes, err := d.lines(ctx, "/v1/vjobs")
	if err != nil {
		return err
	}
	if entries < vjobs {
		return fmt.Errorf("a stream of %d vjobs has %d", vjobs, entries)
	}
	took := time.Since(began)
	aim := time.Duration(entries) * (500 * time.Millisecond / 100_000)
	r.add(figure{
		What: fmt.Sprintf("list of %d vjobs as a stream", entries), Measured: fmt.Sprintf("%s, %d MB, CPU %s", short(took), bytes/1e6, short(d.cpu()-before)),
		Aim: short(aim), Met: within(took.Seconds(), aim.Seconds()), Before: was(vjobs, 100_000, "2.0-2.3 s, 39 MB"),
	})
	began = time.Now()
	start, last := began, time.Duration(0)
	if _, err := d.pages(ctx, "/v1/vjobs", func(*page) { last, start = time.Since(start), time.Now() }); err != nil {
		return err
	}
	r.add(figure{
		What: fmt.Sprintf("list of %d vjobs in pages of 1,000", entries), Measured: fmt.Sprintf("%s, the last page %s", short(time.Since(began)), short(last)),
		Before: was(vjobs, 100_000, "2.0-2.3 s, at offset 90,000 14 ms"),
	})
	return nil
}
