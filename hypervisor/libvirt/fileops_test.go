package libvirt

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"vjob/hypervisor"
)

// A store that hangs costs one goroutine for all looks at it, and so many for calls that
// others are not harmed.
func TestHungStoreCostsFewGoroutines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var running sync.WaitGroup
		var under atomic.Int32 // operations that hang
		hung := make(chan struct{})
		hang := func() (hypervisor.Store, error) {
			under.Add(1)
			defer under.Add(-1)
			<-hung
			return hypervisor.Store{}, nil
		}
		began := time.Now()
		f := newFileOps(5, &running)
		list := coalesced[hypervisor.Store]{files: f, run: hang}
		for range 100 { // one look after another gives up
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			if _, err := list.get(ctx); !errors.Is(err, hypervisor.ErrTimeout) {
				t.Fatalf("a look at a store that hangs: %v", err)
			}
			cancel()
		}
		if n := under.Load(); n != 1 {
			t.Errorf("%d goroutines hang after 100 looks, want 1", n)
		}
		var refused error
		for range 100 {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			_, err := runFileOp(ctx, f, hang)
			cancel()
			if errors.Is(err, hypervisor.ErrNoImage) {
				refused = err
				if age := fmt.Sprintf("since %s ago", time.Since(began)); !strings.Contains(err.Error(), age) {
					t.Fatalf("the refusal does not tell %q: %v", age, err)
				}
			} else if !errors.Is(err, hypervisor.ErrTimeout) {
				t.Fatalf("a call to a store that hangs: %v", err)
			}
		}
		if n := under.Load(); n != 5 {
			t.Errorf("%d goroutines hang after 100 calls, want 5", n)
		}
		// 100 looks and 4 calls of a second each came since the first hung.
		if refused == nil || !strings.Contains(refused.Error(), "5 operations") || !strings.Contains(refused.Error(), "since 1m44s ago") {
			t.Errorf("the refusal: %v", refused)
		}
		close(hung)
		running.Wait()
		if _, err := list.get(t.Context()); err != nil {
			t.Errorf("a look after the store has come back: %v", err)
		}
		if _, err := runFileOp(t.Context(), f, hang); err != nil {
			t.Errorf("a call after the store has come back: %v", err)
		}
	})
}

// What operations bring back reaches their callers, and one that has ended makes room.
func TestFilesAnswer(t *testing.T) {
	var running sync.WaitGroup
	f := newFileOps(1, &running)
	list := coalesced[int]{files: f, run: func() (int, error) { return 3, errRevoked }}
	for range 3 {
		if n, err := runFileOp(t.Context(), f, func() (int, error) { return 2, errRevoked }); n != 2 || !errors.Is(err, errRevoked) {
			t.Errorf("file: %d, %v", n, err)
		}
		running.Wait()
		if err := f.do(t.Context(), func() error { return errRevoked }); !errors.Is(err, errRevoked) {
			t.Errorf("do: %v", err)
		}
		running.Wait()
		if n, err := list.get(t.Context()); n != 3 || !errors.Is(err, errRevoked) {
			t.Errorf("shared: %d, %v", n, err)
		}
		running.Wait()
	}
	o, err := f.begin()
	if err != nil {
		t.Fatal(err)
	}
	if n, err := list.get(t.Context()); n != 0 || !errors.Is(err, hypervisor.ErrNoImage) {
		t.Errorf("a listing while too many operations hang: %d, %v", n, err)
	}
	f.end(o)
	running.Wait()
}

// Looks share a listing, and none gets one that was begun before it asked.
func TestCoalescedListingsAreFresh(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var running sync.WaitGroup
		var runs atomic.Int32
		goOn := make(chan struct{})
		list := coalesced[int32]{files: newFileOps(5, &running), run: func() (int32, error) {
			n := runs.Add(1)
			<-goOn
			return n, nil
		}}
		got := make(chan int32, 10)
		look := func() {
			n, err := list.get(t.Context())
			if err != nil {
				t.Error(err)
			}
			got <- n
		}
		go look()
		synctest.Wait()
		for range 9 { // they come while the first is in progress
			go look()
		}
		synctest.Wait()
		close(goOn)
		counts := map[int32]int{}
		for range 10 {
			counts[<-got]++
		}
		if counts[1] != 1 || counts[2] != 9 {
			t.Errorf("callers by run: %v, want 1 of the first and 9 of the second", counts)
		}
		running.Wait()
	})
}
