package scheduler

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"vjob/cluster"
	"vjob/hypervisor"
)

// At most mostLooks workers take the looks, all of them, in order, and the next is hired once the last has begun.
func TestLooksAreMadeByFewWorkers(t *testing.T) {
	var q lookQueue
	for i := range 3 * mostLooks {
		q.add(lookRequest{node: name(i)})
	}
	at := 0
	expect := func(r lookRequest, more bool) {
		t.Helper()
		if !more || r.node != name(at) {
			t.Fatalf("look %d is at %q (%t), want %q", at, r.node, more, name(at))
		}
		at++
	}
	for i := range mostLooks {
		if !q.hire() || q.hire() {
			t.Fatalf("with %d workers not one more was hired", i)
		}
		expect(q.first())
	}
	if q.hire() {
		t.Fatal("one worker too many")
	}
	for at < 3*mostLooks {
		expect(q.next())
	}
	for range mostLooks {
		if r, more := q.next(); more {
			t.Fatalf("a look at %q that nothing asked for", r.node)
		}
	}
	if q.hire() {
		t.Error("a worker for no look")
	}
	q.add(lookRequest{node: "n"})
	if !q.hire() {
		t.Error("no worker for a look after all have ended")
	}
}

func name(i int) cluster.NodeID { return cluster.NodeID(fmt.Sprint(i)) }

// slowLooks is a driver with looks that block for a second.
type slowLooks struct {
	hypervisor.Driver
	made atomic.Int64
}

func (d *slowLooks) Look(ctx context.Context, node cluster.NodeID, _ ...hypervisor.Guest) (hypervisor.View, error) {
	time.Sleep(time.Second)
	d.made.Add(1)
	return hypervisor.View{Node: node}, ctx.Err()
}

// Looks that block are made side by side.
func TestLooksThatBlock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		driver, began := &slowLooks{}, time.Now()
		l := &caller{settings: &atomic.Pointer[LoopSettings]{}, driver: driver, now: time.Now, inbox: newInbox()}
		set := LoopSettings{}
		set.Execute.LookWait = time.Minute
		l.settings.Store(&set)
		var effects Effects
		for i := range 500 {
			effects.Looks = append(effects.Looks, name(i))
		}
		l.start(t.Context(), effects)
		l.workers.Wait()
		if took := time.Since(began); driver.made.Load() != 500 || took != time.Second {
			t.Errorf("%d looks took %s, want 500 in a second", driver.made.Load(), took)
		}
	})
}
