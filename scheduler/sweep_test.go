package scheduler_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"vjob/cluster"
	"vjob/hypervisor"
	"vjob/scheduler"
	"vjob/scheduler/admission"
	"vjob/tests/simstore"
)

// sweptDriver is a cluster of empty nodes that is asked to sweep.
type sweptDriver struct {
	hypervisor.Driver
	err    error
	takes  time.Duration
	sweeps []swept
}

// swept is one sweep: when it came, and which of the vjobs up to 4 were live.
type swept struct {
	after time.Duration
	live  []cluster.VJobID
	cut   bool // it was cut off by its context
}

var started time.Time

func (d *sweptDriver) Sweep(ctx context.Context, live func(cluster.VJobID) bool, keep time.Duration) error {
	s := swept{after: time.Since(started)}
	for id := range cluster.VJobID(5) {
		if live(id) {
			s.live = append(s.live, id)
		}
	}
	if keep != 3*time.Hour {
		return errors.New("consoles are kept otherwise")
	}
	select {
	case <-time.After(d.takes):
	case <-ctx.Done():
		s.cut = true
	}
	d.sweeps = append(d.sweeps, s)
	return d.err
}

func (d *sweptDriver) Look(_ context.Context, node cluster.NodeID, _ ...hypervisor.Guest) (hypervisor.View, error) {
	return hypervisor.View{Node: node}, nil
}

func (d *sweptDriver) LookStore(context.Context) (hypervisor.Store, error) {
	return hypervisor.Store{}, nil
}
func (d *sweptDriver) Hints() <-chan cluster.NodeID { return nil }

// sweeping runs a loop over two vjobs, held both, for some time.
func sweeping(t *testing.T, d *sweptDriver, every time.Duration, f func(*scheduler.Loop)) {
	t.Helper()
	started = time.Now()
	store := simstore.Open(t)
	if _, err := store.SaveNodes(t.Context(), []cluster.Node{{ID: "n1", Capacity: cluster.Resources{CPU: 1000, Memory: 100}}}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "b"} {
		s := waiting(name)
		s.At = time.Now()
		if _, _, err := store.Submit(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	l := scheduler.NewLoop(scheduler.LoopConfig{
		LoopSettings: scheduler.LoopSettings{
			Settings: settings(), Limits: admission.Limits{VMs: 10, Images: []string{"i"}}, Tick: time.Minute, KeepConsoles: 3 * time.Hour,
		},
		Store: store, Driver: d, Log: slog.New(slog.DiscardHandler), Now: time.Now, SweepEvery: every,
	})
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- l.Run(ctx) }()
	f(l)
	stop()
	if err := <-ended; err != nil && !errors.Is(err, context.Canceled) {
		t.Errorf("the loop ended with %v", err)
	}
}

func waiting(name string) admission.Submission {
	return admission.Submission{
		Owner: "u", Name: name, Held: true,
		VMs: []cluster.VM{{Reserved: cluster.Resources{CPU: 1000, Memory: 100}, Payload: &cluster.Payload{Image: "i"}}},
	}
}

// A driver that fails is asked again; vjobs that end are live no more, and those
// that come are.
func TestSweeps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &sweptDriver{err: errors.New("a file cannot be removed")}
		sweeping(t, d, time.Hour, func(l *scheduler.Loop) {
			time.Sleep(10 * time.Minute)
			if err := l.Requests.Order(t.Context(), 1, scheduler.OrderDelete, "u"); err != nil {
				t.Fatal(err)
			}
			if _, _, err := l.Requests.Submit(t.Context(), waiting("c")); err != nil {
				t.Fatal(err)
			}
			time.Sleep(2 * time.Hour)
		})
		want := []swept{
			{after: 5 * time.Minute, live: []cluster.VJobID{1, 2}},
			{after: time.Hour, live: []cluster.VJobID{2, 3}},
			{after: 2 * time.Hour, live: []cluster.VJobID{2, 3}},
		}
		if !slices.EqualFunc(d.sweeps, want, func(a, b swept) bool {
			return a.after == b.after && slices.Equal(a.live, b.live) && a.cut == b.cut
		}) {
			t.Errorf("sweeps %+v\nwant   %+v", d.sweeps, want)
		}
	})
}

// A sweep that takes long holds up neither the loop nor its end, and no second one
// runs beside it.
func TestSweepThatTakesLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &sweptDriver{takes: 8 * time.Minute}
		sweeping(t, d, time.Minute, func(l *scheduler.Loop) {
			time.Sleep(5 * time.Minute)
			if err := l.Requests.Order(t.Context(), 1, scheduler.OrderDelete, "u"); err != nil {
				t.Error(err)
			}
			time.Sleep(7 * time.Minute)
		})
		if len(d.sweeps) != 2 || d.sweeps[0].cut || !d.sweeps[1].cut {
			t.Errorf("sweeps %+v", d.sweeps)
		}
	})
}

func TestNoSweep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &sweptDriver{}
		sweeping(t, d, 0, func(*scheduler.Loop) { time.Sleep(24 * time.Hour) })
		if len(d.sweeps) > 0 {
			t.Errorf("sweeps %+v", d.sweeps)
		}
	})
}
