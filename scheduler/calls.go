package scheduler

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/execute"
	"vjob/energy/power"
	"vjob/hypervisor"
)

// caller makes the calls and looks that the core wants, each call in a goroutine, and many looks at once.
type caller struct {
	settings *atomic.Pointer[LoopSettings]
	driver   hypervisor.Driver
	now      func() time.Time
	at       func(point string)
	inbox    *inbox

	workers sync.WaitGroup
	looks   lookQueue
	// inFlight holds the calls of this process without a reply, and their deadlines. They outlive a
	// core that is loaded anew. Only the goroutine of the loop uses it.
	inFlight map[hypervisor.OpID]time.Time
}

// start makes the requested calls and looks in parallel.
func (l *caller) start(ctx context.Context, effects Effects) {
	for _, chain := range effects.Chains {
		l.noteCalls(chain)
		l.workers.Go(func() { l.runChain(ctx, chain) })
	}
	for _, ask := range effects.Asks {
		l.workers.Go(func() { l.callPowerDriver(ctx, ask) })
	}
	for _, node := range effects.Looks {
		l.looks.add(lookRequest{node, effects.Missing[node]})
	}
	if l.looks.hire() {
		l.workers.Go(func() { l.lookOn(ctx) })
	}
	if effects.LookStore {
		l.workers.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, l.settings.Load().Execute.LookWait)
			defer cancel()
			store, err := l.driver.LookStore(ctx)
			l.inbox.post(func(c *Core) error { c.LookedStore(l.now(), store, err); return nil })
		})
	}
}

// noteCalls records the calls of a chain with their deadlines.
func (l *caller) noteCalls(chain execute.Chain) {
	deadline := l.now()
	for i, call := range chain.Calls {
		deadline = deadline.Add(chain.Deadline[i])
		l.inFlight[call.Op] = deadline
	}
}

// lookOn makes looks until none waits. It has help before it begins with one that others wait behind.
func (l *caller) lookOn(ctx context.Context) {
	for request, more := l.looks.first(); more; request, more = l.looks.next() {
		if l.looks.hire() {
			l.workers.Go(func() { l.lookOn(ctx) })
		}
		l.look(ctx, request.node, request.missing)
	}
}

func (l *caller) look(ctx context.Context, node cluster.NodeID, missing []hypervisor.Guest) {
	ctx, cancel := context.WithTimeout(ctx, l.settings.Load().Execute.LookWait)
	defer cancel()
	view, err := l.driver.Look(ctx, node, missing...)
	l.inbox.post(func(c *Core) error { c.Looked(l.now(), node, view, err); return nil })
}

// runChain makes the calls of a chain one after another while they succeed in time: a later call
// may no longer be wanted.
func (l *caller) runChain(ctx context.Context, chain execute.Chain) {
	replies := make([]execute.Reply, len(chain.Calls))
	failed := false
	for i, call := range chain.Calls {
		replies[i] = execute.Reply{Op: call.Op, Err: execute.ErrNotTried, Began: l.now(), Ended: l.now()}
		if failed {
			continue
		}
		func() {
			ctx, cancel := context.WithTimeout(ctx, chain.Deadline[i])
			defer cancel()
			l.at("before " + call.Verb.String())
			replies[i].Receipt, replies[i].Err = l.driver.Do(ctx, call)
			l.at("after " + call.Verb.String())
			if errors.Is(replies[i].Err, context.DeadlineExceeded) || errors.Is(replies[i].Err, context.Canceled) {
				replies[i].Err = fmt.Errorf("%s %s: %w", call.Verb, call.VM, hypervisor.ErrTimeout)
			}
			replies[i].Ended = l.now()
			failed = replies[i].Err != nil || ctx.Err() != nil
		}()
	}
	l.inbox.post(func(c *Core) error {
		for _, r := range replies {
			delete(l.inFlight, r.Op)
			c.Replied(l.now(), r)
		}
		return nil
	})
}

// callPowerDriver asks the power driver of a node. The request is in the journal by then.
func (l *caller) callPowerDriver(ctx context.Context, ask power.Request) {
	state, err := power.Unknown, fmt.Errorf("node %s: the settings name no power driver for it any more", ask.Node)
	set := l.settings.Load()
	if driver := set.Fleet[ask.Node]; driver != nil {
		ctx, cancel := context.WithTimeout(ctx, set.Switching.Reply)
		defer cancel()
		l.at("before power " + ask.Verb.String())
		state, err = power.Do(ctx, driver, ask.Verb)
		l.at("after power " + ask.Verb.String())
	}
	l.inbox.post(func(c *Core) error { c.Power.Replied(l.now(), ask, state, err); return nil })
}

// mostLooks are made at once: goroutines for looks at 100,000 nodes at once would take a gigabyte.
const mostLooks = 2048

// lookRequest is a node to look at, with the guests to ask it for.
type lookRequest struct {
	node    cluster.NodeID
	missing []hypervisor.Guest
}

// lookQueue holds the looks that wait for a worker, in order. Workers come one by one: where looks take no time, as of a
// simulated cluster, two of them make all, and where looks block, each has a worker of its own at once.
type lookQueue struct {
	mu      sync.Mutex
	waiting []lookRequest
	workers int
	coming  bool // a worker was hired, and has not called first
}

// add appends a look.
func (q *lookQueue) add(r lookRequest) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = append(q.waiting, r)
}

// hire reports whether the caller must start a worker, which calls first, and then next until nothing is left.
func (q *lookQueue) hire() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) == 0 || q.coming || q.workers == mostLooks {
		return false
	}
	q.workers++
	q.coming = true
	return true
}

// first returns the first look of a worker, as next does.
func (q *lookQueue) first() (r lookRequest, more bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.coming = false
	return q.take()
}

// next returns the next look. Without one, the worker ends.
func (q *lookQueue) next() (r lookRequest, more bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.take()
}

func (q *lookQueue) take() (r lookRequest, more bool) {
	if len(q.waiting) == 0 {
		q.waiting = nil
		q.workers--
		return lookRequest{}, false
	}
	r, q.waiting = q.waiting[0], q.waiting[1:]
	return r, true
}
