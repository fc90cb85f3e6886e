package scheduler

import (
	"fmt"
	"testing"

	"vjob/cluster"
)

// At most mostLooks workers take the looks, all of them, in order.
func TestLooksAreMadeByFewWorkers(t *testing.T) {
	var q lookQueue
	for i := range 3 * mostLooks {
		q.add(lookRequest{node: name(i)})
	}
	if n := q.claimWorkers(); n != mostLooks {
		t.Fatalf("%d workers for %d looks, want %d", n, 3*mostLooks, mostLooks)
	}
	q.add(lookRequest{node: name(3 * mostLooks)})
	if n := q.claimWorkers(); n != 0 {
		t.Fatalf("%d more workers, want 0", n)
	}
	for i := range 3*mostLooks + 1 {
		if r, more := q.next(); !more || r.node != name(i) {
			t.Fatalf("look %d is at %q (%t), want %q", i, r.node, more, name(i))
		}
	}
	for range mostLooks {
		if r, more := q.next(); more {
			t.Fatalf("a look at %q that nothing asked for", r.node)
		}
	}
	q.add(lookRequest{node: "n"})
	if n := q.claimWorkers(); n != 1 {
		t.Fatalf("%d workers for a look after all have ended, want 1", n)
	}
}

func name(i int) cluster.NodeID { return cluster.NodeID(fmt.Sprint(i)) }
