package simulated

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"vjob/cluster"
	"vjob/hypervisor"
)

// hintBuffer is how many hints wait for a slow reader; more are dropped.
const hintBuffer = 256

// Settings are the settings of a [Driver].
type Settings struct {
	Config
	// Speed is how many seconds of virtual time pass in one real second; 0 is 1.
	Speed float64
	// StateFile stores the cluster across restarts; "" stores nothing. No call is answered
	// before its effects are in the file.
	StateFile string
	// Rehearsals are faults that are injected at given times.
	Rehearsals []Rehearsal
}

// Driver runs a [Cluster] on the clock of the process. Inside a testing/synctest bubble that is
// the clock of the bubble.
type Driver struct {
	time   atomic.Pointer[scaledClock]
	opened time.Time // in real time
	state  stateFile

	mu         sync.Mutex // guards the fields up to consoles
	cluster    *Cluster
	serial     hypervisor.OpID
	pending    map[hypervisor.OpID]chan answer
	closed     bool
	rehearsals []Rehearsal // pending, in order
	// consoles are the open interactive consoles.
	consoles map[cluster.VMID]net.Conn

	serving sync.WaitGroup // goroutines that serve consoles
	hints   chan cluster.NodeID
	wake    chan struct{} // the event queue may have changed
	quit    chan struct{}
	done    chan struct{}
}

// scaledClock is virtual time that passes faster or slower than real time.
type scaledClock struct {
	speed  float64   // seconds of virtual time in a real second
	real   time.Time // when virtual time was origin
	origin time.Time
}

// now is the virtual time.
func (s *scaledClock) now() time.Time {
	return s.origin.Add(time.Duration(float64(time.Since(s.real)) * s.speed))
}

// answer is how a call ended.
type answer struct {
	receipt hypervisor.Receipt
	err     error
}

var _ hypervisor.Driver = (*Driver)(nil)

// Open starts a simulated cluster, or continues the one in the state file. Virtual time has
// passed for it since the file was written, as for real nodes. Without a configured start
// virtual time begins now.
func Open(s Settings) (*Driver, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	if s.Speed < 0 || s.Speed > 1e9 || s.Speed != s.Speed {
		return nil, cluster.BadField("speed", s.Speed, "between 0 and 1e9; 0 is 1")
	}
	d := &Driver{
		opened:  time.Now(),
		state:   stateFile{name: s.StateFile},
		pending: map[hypervisor.OpID]chan answer{}, consoles: map[cluster.VMID]net.Conn{},
		hints: make(chan cluster.NodeID, hintBuffer),
		wake:  make(chan struct{}, 1),
		quit:  make(chan struct{}),
		done:  make(chan struct{}),
	}
	d.time.Store(&scaledClock{speed: cmp.Or(s.Speed, 1), real: d.opened})
	var err error
	if d.rehearsals, err = sortRehearsals(&s); err != nil {
		return nil, err
	}
	if s.Start.IsZero() {
		s.Start = d.clock().real.UTC().Round(0)
	}
	if err := d.load(s.Config); err != nil {
		return nil, err
	}
	go d.loop()
	return d, nil
}

// clock returns the clock, which [Driver.Reconfigure] replaces.
func (d *Driver) clock() *scaledClock { return d.time.Load() }

// Now is the virtual time.
func (d *Driver) Now() time.Time { return d.clock().now() }

// RealDuration converts a duration of virtual time to real time.
func (d *Driver) RealDuration(virtual time.Duration) time.Duration {
	return time.Duration(float64(virtual) / d.clock().speed)
}

// Do carries out one call. If the context ends first, the call continues.
func (d *Driver) Do(ctx context.Context, call hypervisor.Call) (hypervisor.Receipt, error) {
	op, reply, err := d.begin(ctx, call)
	if err != nil {
		return hypervisor.Receipt{}, err
	}
	select {
	case a := <-reply:
		return a.receipt, a.err
	case <-ctx.Done():
		d.mu.Lock()
		delete(d.pending, op)
		d.mu.Unlock()
		return hypervisor.Receipt{}, timeoutError(ctx, call)
	}
}

// timeoutError is the error for a call after the end of its context.
func timeoutError(ctx context.Context, call hypervisor.Call) error {
	return fmt.Errorf("%s %s on %s: %w (%w)", call.Verb, call.VM, call.Node, hypervisor.ErrTimeout, context.Cause(ctx))
}

// begin sends the call to its node.
func (d *Driver) begin(ctx context.Context, call hypervisor.Call) (hypervisor.OpID, chan answer, error) {
	if ctx.Err() != nil {
		return 0, nil, timeoutError(ctx, call)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return 0, nil, newFailure(hypervisor.ErrUnreachable, "%s %s: the driver is closed", call.Verb, call.VM)
	}
	d.serial++ // identifies the answer: calls may repeat their numbers
	call.Op = d.serial
	reply := make(chan answer, 1)
	d.pending[call.Op] = reply
	d.cluster.Begin(d.clock().now(), call)
	d.wakeEngine()
	return call.Op, reply, nil
}

// wakeEngine makes the engine's goroutine check the event queue again.
func (d *Driver) wakeEngine() {
	select {
	case d.wake <- struct{}{}:
	default:
	}
}

// Look lists what a node holds. On a frozen node it waits as long as a real connection until its
// keepalive fails.
func (d *Driver) Look(ctx context.Context, node cluster.NodeID, missing ...hypervisor.Guest) (hypervisor.View, error) {
	v, err := d.look(node, missing)
	if !errors.Is(err, hypervisor.ErrTimeout) {
		return v, err
	}
	timer := time.NewTimer(d.RealDuration(keepalive))
	defer timer.Stop()
	select {
	case <-timer.C:
		return d.look(node, missing)
	case <-ctx.Done():
		return v, err
	}
}

func (d *Driver) look(node cluster.NodeID, missing []hypervisor.Guest) (hypervisor.View, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	defer d.wakeEngine()
	v, err := d.cluster.Look(d.clock().now(), node, missing...)
	for i := range v.Copies { // in real time, in which the caller measures rates
		t := &v.Copies[i].Traffic
		t.Sent = int64(float64(t.Sent) / d.clock().speed)
	}
	return v, err
}

// LookStore lists the images that can be read.
func (d *Driver) LookStore(context.Context) (hypervisor.Store, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	defer d.wakeEngine()
	return d.cluster.LookStore(d.clock().now())
}

// Hints names nodes on which something changed.
func (d *Driver) Hints() <-chan cluster.NodeID { return d.hints }

// Console opens what the guest of a VM has printed.
func (d *Driver) Console(_ context.Context, vm cluster.VMID) (io.ReadCloser, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	defer d.wakeEngine()
	return opened(d.cluster.Console(d.clock().now(), vm))
}

// Errors opens what the work of a VM has written to its standard error.
func (d *Driver) Errors(_ context.Context, vm cluster.VMID) (io.ReadCloser, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	defer d.wakeEngine()
	return opened(d.cluster.Errors(d.clock().now(), vm))
}

// opened returns a text as an open file.
func opened(text []byte, err error) (io.ReadCloser, error) {
	if err != nil {
		return nil, err
	}
	return io.NopCloser(bytes.NewReader(text)), nil
}

// Inject injects a fault now.
func (d *Driver) Inject(f Fault) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	defer d.wakeEngine()
	return d.cluster.Inject(d.clock().now(), f)
}

// EndFault ends a lasting fault of a node now.
func (d *Driver) EndFault(node cluster.NodeID, k FaultKind) {
	d.mu.Lock()
	defer d.mu.Unlock()
	defer d.wakeEngine()
	d.cluster.EndFault(d.clock().now(), node, k)
}

// Truth returns the ground truth, also of nodes that do not answer.
func (d *Driver) Truth() Truth {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.cluster.advance(d.clock().now())
	return d.cluster.Truth()
}

// Close stops the clock, writes the state file and joins the engine's goroutine. Pending calls
// to Do return [hypervisor.ErrTimeout]; their operations continue when the cluster is opened
// again.
func (d *Driver) Close() error {
	d.mu.Lock()
	first := !d.closed
	d.closed = true
	for _, conn := range d.consoles {
		_ = conn.Close()
	}
	d.mu.Unlock()
	if first {
		close(d.quit)
	}
	<-d.done
	d.serving.Wait()
	return d.state.err
}

// loop is the engine's goroutine: it sleeps until the next event and delivers what happened.
func (d *Driver) loop() {
	defer close(d.done)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		wait := d.step()
		timer.Reset(wait)
		select {
		case <-d.quit:
			d.stop()
			return
		case <-d.wake:
		case <-timer.C:
		}
	}
}

// maxSleep is the longest sleep of the engine's goroutine.
const maxSleep = time.Hour

// step advances the cluster to the present and returns the real time until its next event.
func (d *Driver) step() time.Duration {
	d.mu.Lock()
	wait := d.rehearse()
	notices := d.cluster.Advance(d.clock().now())
	if next, ok := d.cluster.Next(); ok {
		wait = min(wait, max(0, d.RealDuration(next.Sub(d.clock().now()))+1))
	}
	d.mu.Unlock()
	wait = min(wait, d.saveIfDue(notices))
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, notice := range notices {
		d.deliver(notice)
	}
	return wait
}

// deliver passes a hint or a reply to its receiver.
func (d *Driver) deliver(notice Notice) {
	if notice.Reply == nil {
		select {
		case d.hints <- notice.Hint:
		default: // a hint may get lost
		}
		return
	}
	if reply, ok := d.pending[notice.Reply.Op]; ok {
		delete(d.pending, notice.Reply.Op)
		reply <- answer{notice.Reply.Receipt, notice.Reply.Err}
	}
}

// stop saves the state and answers the pending calls.
func (d *Driver) stop() {
	d.save()
	d.state.close()
	d.mu.Lock()
	defer d.mu.Unlock()
	for op, reply := range d.pending {
		delete(d.pending, op)
		reply <- answer{err: newFailure(hypervisor.ErrTimeout, "the driver was closed")}
	}
}
