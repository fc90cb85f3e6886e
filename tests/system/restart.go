package main

import (
	"context"
	"fmt"
	"time"
)

// measureRestart measures the memory of a daemon with many vjobs that wait, what it does when nothing is asked of it, and its restart.
func measureRestart(ctx context.Context, r *run) error {
	for _, vjobs := range r.sizes.restart {
		if err := r.restartWith(ctx, vjobs); err != nil {
			return err
		}
	}
	return nil
}

// justAfter is how long a daemon is observed after it was busy.
const justAfter = 10 * time.Second

// later is how long it has to become idle besides.
const later = 20 * time.Second

func (r *run) restartWith(ctx context.Context, vjobs int) error {
	d, _, err := r.start(ctx, cluster{nodes: 8, cpu: 4, memoryGiB: 8, speed: 20})
	if err != nil {
		return err
	}
	defer d.stop()
	if err := d.enqueue(ctx, vjobs); err != nil {
		return err
	}
	r.addIdle(fmt.Sprintf("CPU in the ten seconds after the submission of %d vjobs", vjobs), d.idle(ctx, justAfter), was(vjobs, 100_000, "12.5 %"))
	if err := d.settle(ctx); err != nil {
		return err
	}
	r.addIdle(fmt.Sprintf("CPU of an idle daemon with %d waiting vjobs", vjobs), d.idle(ctx, r.sizes.idleFor), was(vjobs, 100_000, "6.7-50 %"))
	r.addMemory(fmt.Sprintf("resident memory with %d waiting vjobs", vjobs), d, vjobs)
	took, err := d.restart(ctx)
	if err != nil {
		return err
	}
	used, aim := d.cpu(), 2*time.Second
	if vjobs > 100_000 {
		aim = 6 * time.Second
	}
	r.add(figure{What: fmt.Sprintf("CPU of a restart with %d waiting vjobs, until the daemon is ready", vjobs), Measured: fmt.Sprintf("%s, in %s", short(used), short(took)), Aim: short(aim), Met: within(used.Seconds(), aim.Seconds()), Before: was(vjobs, 100_000, "11.9 s")})
	r.addIdle(fmt.Sprintf("CPU in the ten seconds after the restart with %d vjobs", vjobs), d.idle(ctx, justAfter), was(vjobs, 100_000, "15.9 %"))
	r.addMemory(fmt.Sprintf("resident memory after a restart with %d waiting vjobs", vjobs), d, vjobs)
	if err := sleep(ctx, later); err != nil {
		return err
	}
	r.addIdle(fmt.Sprintf("CPU half a minute after the restart with %d vjobs", vjobs), d.idle(ctx, r.sizes.idleFor), "")
	r.addMemory(fmt.Sprintf("resident memory half a minute after a restart with %d waiting vjobs", vjobs), d, vjobs)
	return nil
}

// enqueue submits arrays of vjobs that wait or run until they are deleted.
func (d *daemon) enqueue(ctx context.Context, vjobs int) error {
	for have := 0; have < vjobs; have += arraySize {
		some := gang(4)
		some.Array = min(arraySize, vjobs-have)
		if _, err := d.submit(ctx, some); err != nil {
			return err
		}
	}
	return nil
}

func (r *run) addIdle(what string, part float64, before string) {
	r.add(figure{What: what, Measured: fmt.Sprintf("%.2f %%", 100*part), Aim: "0.5 %", Met: within(part, 0.005), Before: before})
}

func (r *run) addMemory(what string, d *daemon, vjobs int) {
	now, peak := d.memory()
	aim, before := 200.0, was(vjobs, 100_000, "661-729 MiB")
	if vjobs > 100_000 {
		aim, before = 700, "2.2 GiB"
	}
	r.add(figure{What: what, Measured: fmt.Sprintf("%d MiB, at most %d MiB", now, peak), Aim: fmt.Sprintf("%.0f MiB", aim), Met: within(float64(now), aim), Before: before})
}
