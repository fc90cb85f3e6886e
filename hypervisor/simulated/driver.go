package simulated

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"vjob/cluster"
	"vjob/hypervisor"
)

// hintsKept is how many hints wait for a slow reader; further ones are dropped.
const hintsKept = 256

// Settings of a [Driver].
type Settings struct {
	Config
	// Speed is how many seconds of virtual time pass in one real second; 0 is 1.
	Speed float64
	// StateFile keeps the cluster over restarts; "" keeps nothing. No call is
	// answered before what it did is in the file.
	StateFile string
	// Rehearsals are faults that come by themselves.
	Rehearsals []Rehearsal
}

// Driver puts a [Cluster] behind the seam, on the process's clock. Inside a
// testing/synctest bubble that clock is the bubble's.
type Driver struct {
	speed float64
	file  string

	mu      sync.Mutex // guards what follows, the cluster above all
	cluster *Cluster
	real    time.Time // when virtual time was origin
	origin  time.Time
	serial  hypervisor.OpID
	waiting map[hypervisor.OpID]chan answer
	closed  bool
	broken  error       // the state file cannot be written
	ahead   []Rehearsal // those that have not happened yet, in order
	// attached are the lines on which somebody may type.
	attached map[cluster.VMID]net.Conn

	saved time.Time // when the state file was written; the engine's goroutine owns it
	stale bool      // something happened since; likewise

	lines sync.WaitGroup // goroutines that serve lines
	hints chan cluster.NodeID
	nudge chan struct{} // the agenda may have changed
	quit  chan struct{}
	done  chan struct{}
}

// answer is how a call ended.
type answer struct {
	receipt hypervisor.Receipt
	err     error
}

var _ hypervisor.Driver = (*Driver)(nil)

// Open starts a simulated cluster, or goes on with the one in the state file: it
// has lived on while nobody looked, as real nodes do. Without a start of its own
// virtual time begins now.
func Open(s Settings) (*Driver, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	if s.Speed < 0 || s.Speed > 1e9 || s.Speed != s.Speed {
		return nil, cluster.BadField("speed", s.Speed, "between 0 and 1e9; 0 is 1")
	}
	d := &Driver{
		speed: s.Speed, file: s.StateFile, real: time.Now(),
		waiting: map[hypervisor.OpID]chan answer{}, attached: map[cluster.VMID]net.Conn{},
		hints: make(chan cluster.NodeID, hintsKept),
		nudge: make(chan struct{}, 1),
		quit:  make(chan struct{}),
		done:  make(chan struct{}),
	}
	var err error
	if d.ahead, err = rehearsed(&s); err != nil {
		return nil, err
	}
	if d.speed == 0 {
		d.speed = 1
	}
	if s.Start.IsZero() {
		s.Start = d.real.UTC().Round(0)
	}
	if err := d.load(s.Config); err != nil {
		return nil, err
	}
	go d.live()
	return d, nil
}

// Now is the virtual time.
func (d *Driver) Now() time.Time {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.virtual()
}

// virtual is the virtual time; mu is held.
func (d *Driver) virtual() time.Time {
	return d.origin.Add(time.Duration(float64(time.Since(d.real)) * d.speed))
}

// Actual is the real time that a duration of virtual time takes.
func (d *Driver) Actual(virtual time.Duration) time.Duration {
	return time.Duration(float64(virtual) / d.speed)
}

// Do carries out one call. When the context ends first the call goes on.
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
		delete(d.waiting, op)
		d.mu.Unlock()
		return hypervisor.Receipt{}, late(ctx, call)
	}
}

// late says that nobody waits for the answer any more.
func late(ctx context.Context, call hypervisor.Call) error {
	return fmt.Errorf("%s %s on %s: %w (%w)", call.Verb, call.VM, call.Node, hypervisor.ErrTimeout, context.Cause(ctx))
}

// begin sends the call to its node.
func (d *Driver) begin(ctx context.Context, call hypervisor.Call) (hypervisor.OpID, chan answer, error) {
	if ctx.Err() != nil {
		return 0, nil, late(ctx, call)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return 0, nil, failed(hypervisor.ErrUnreachable, "%s %s: the driver is closed", call.Verb, call.VM)
	}
	d.serial++ // answers are told apart by a number of ours: calls may repeat theirs
	call.Op = d.serial
	reply := make(chan answer, 1)
	d.waiting[call.Op] = reply
	d.cluster.Begin(d.virtual(), call)
	d.poke()
	return call.Op, reply, nil
}

// poke makes the engine's goroutine look at the agenda again.
func (d *Driver) poke() {
	select {
	case d.nudge <- struct{}{}:
	default:
	}
}

// Look lists what a node holds. On a frozen node it waits as long as a real
// connection does before it is given up.
func (d *Driver) Look(ctx context.Context, node cluster.NodeID) (hypervisor.View, error) {
	v, err := d.look(node)
	if !errors.Is(err, hypervisor.ErrTimeout) {
		return v, err
	}
	timer := time.NewTimer(d.Actual(keepalive))
	defer timer.Stop()
	select {
	case <-timer.C:
		return d.look(node)
	case <-ctx.Done():
		return v, err
	}
}

func (d *Driver) look(node cluster.NodeID) (hypervisor.View, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	defer d.poke()
	return d.cluster.Look(d.virtual(), node)
}

// LookStore lists the images that can be read.
func (d *Driver) LookStore(context.Context) (hypervisor.Store, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	defer d.poke()
	return d.cluster.LookStore(d.virtual())
}

// Hints names nodes on which something changed.
func (d *Driver) Hints() <-chan cluster.NodeID { return d.hints }

// Console opens what the guest of a VM has printed.
func (d *Driver) Console(_ context.Context, vm cluster.VMID) (io.ReadCloser, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	defer d.poke()
	text, err := d.cluster.Console(d.virtual(), vm)
	if err != nil {
		return nil, err
	}
	return io.NopCloser(bytes.NewReader(text)), nil
}

// Inject lets a fault happen now.
func (d *Driver) Inject(f Fault) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	defer d.poke()
	return d.cluster.Inject(d.virtual(), f)
}

// Mend ends a lasting fault of a node now.
func (d *Driver) Mend(node cluster.NodeID, k FaultKind) {
	d.mu.Lock()
	defer d.mu.Unlock()
	defer d.poke()
	d.cluster.Mend(d.virtual(), node, k)
}

// Truth tells what is, also on nodes that do not answer.
func (d *Driver) Truth() Truth {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.cluster.run(d.virtual())
	return d.cluster.Truth()
}

// Close stops the clock, writes the state file and joins the engine's goroutine.
// Whoever waits in Do is told that there is no answer; what they asked for goes on
// with the cluster, when that is opened again.
func (d *Driver) Close() error {
	d.mu.Lock()
	first := !d.closed
	d.closed = true
	for _, line := range d.attached {
		_ = line.Close()
	}
	d.mu.Unlock()
	if first {
		close(d.quit)
	}
	<-d.done
	d.lines.Wait()
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.broken
}

// live is the goroutine that lets virtual time pass: it sleeps until the next
// event, and hands out what happened.
func (d *Driver) live() {
	defer close(d.done)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		wait := d.turn()
		timer.Reset(wait)
		select {
		case <-d.quit:
			d.farewell()
			return
		case <-d.nudge:
		case <-timer.C:
		}
	}
}

// idle is the longest sleep of the engine's goroutine.
const idle = time.Hour

// turn brings the cluster up to the present and returns the time until its next
// event.
func (d *Driver) turn() time.Duration {
	d.mu.Lock()
	wait := d.rehearse()
	happened := d.cluster.Advance(d.virtual())
	if next, ok := d.cluster.Next(); ok {
		wait = min(wait, max(0, d.Actual(next.Sub(d.virtual()))+1))
	}
	d.mu.Unlock()
	wait = min(wait, d.keep(happened))
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, h := range happened {
		d.deliver(h)
	}
	return wait
}

// deliver hands one happening to whoever waits for it.
func (d *Driver) deliver(h Happening) {
	if h.Reply == nil {
		select {
		case d.hints <- h.Hint:
		default: // a hint may get lost
		}
		return
	}
	if reply, ok := d.waiting[h.Reply.Op]; ok {
		delete(d.waiting, h.Reply.Op)
		reply <- answer{h.Reply.Receipt, h.Reply.Err}
	}
}

// farewell ends the driver's life.
func (d *Driver) farewell() {
	d.save()
	d.mu.Lock()
	defer d.mu.Unlock()
	for op, reply := range d.waiting {
		delete(d.waiting, op)
		reply <- answer{err: failed(hypervisor.ErrTimeout, "the driver was closed")}
	}
}
