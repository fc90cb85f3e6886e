package scheduler_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"vjob/cluster"
	"vjob/hypervisor"
	"vjob/hypervisor/simulated"
	"vjob/scheduler"
	"vjob/scheduler/admission"
	"vjob/tests/simstore"
)

// plant is a whole loop over a simulated cluster, on the clock of a synctest
// bubble.
type plant struct {
	t      *testing.T
	loop   *scheduler.Loop
	store  *simstore.Store
	driver *simulated.Driver
	calls  func(hypervisor.Call) time.Duration // sees each call, and says how long its reply takes
	fail   atomic.Pointer[error]               // what the next write comes to
	full   atomic.Bool                         // nothing can be written
	stop   context.CancelFunc
	done   chan error
}

func build(t *testing.T, set scheduler.Settings) *plant {
	t.Helper()
	p := &plant{t: t, store: simstore.Open(t), done: make(chan error, 1)}
	p.store.FailNext = func() error {
		if p.full.Load() {
			return errors.New("disk full")
		}
		if err := p.fail.Swap(nil); err != nil {
			return *err
		}
		return nil
	}
	var err error
	p.driver, err = simulated.Open(simulated.Settings{Config: simulated.Config{
		Profile: simulated.Lab, Nodes: []simulated.Node{
			{ID: "n1", Capacity: cluster.Resources{CPU: 2000, Memory: 2048}},
			{ID: "n2", Capacity: cluster.Resources{CPU: 2000, Memory: 2048}},
		},
	}})
	if err != nil {
		t.Fatal(err)
	}
	nodes := []cluster.Node{
		{ID: "n1", Capacity: cluster.Resources{CPU: 2000, Memory: 2048}},
		{ID: "n2", Capacity: cluster.Resources{CPU: 2000, Memory: 2048}},
	}
	if _, err := p.store.SaveNodes(p.t.Context(), nodes); err != nil {
		t.Fatal(err)
	}
	p.start(set, p.store)
	return p
}

// start runs a loop over a store.
func (p *plant) start(set scheduler.Settings, store scheduler.Store) {
	p.loop = scheduler.NewLoop(scheduler.LoopConfig{
		LoopSettings: scheduler.LoopSettings{Settings: set, Limits: admission.Limits{VMs: 4}, Tick: time.Second},
		Store:        store, Driver: slowed{p.driver, p}, Log: slog.New(slog.DiscardHandler), Now: time.Now,
	})
	ctx, stop := context.WithCancel(context.Background())
	p.stop = stop
	go func() { p.done <- p.loop.Run(ctx) }()
	synctest.Wait()
}

// slowed is the driver of a plant.
type slowed struct {
	*simulated.Driver
	plant *plant
}

// Do makes a call; the reply may come after its deadline.
func (d slowed) Do(ctx context.Context, call hypervisor.Call) (hypervisor.Receipt, error) {
	wait := time.Duration(0)
	if d.plant.calls != nil {
		wait = d.plant.calls(call)
	}
	receipt, err := d.Driver.Do(ctx, call)
	time.Sleep(wait)
	return receipt, err
}

// restart goes on with another view of the store.
func (p *plant) restart(store scheduler.Store) {
	p.t.Helper()
	p.stop()
	if err := <-p.done; err != nil {
		p.t.Errorf("the loop ended with %v", err)
	}
	p.start(settings(), store)
}

// close stops the loop and joins everything: a goroutine that is left would fail
// the bubble.
func (p *plant) close() {
	p.t.Helper()
	p.stop()
	if err := <-p.done; err != nil {
		p.t.Errorf("the loop ended with %v", err)
	}
	if err := p.driver.Close(); err != nil {
		p.t.Error(err)
	}
}

// submit submits a vjob of one VM that computes for a minute.
func (p *plant) submit(key string) (*cluster.VJob, bool, error) {
	return p.loop.Requests.Submit(p.t.Context(), admission.Submission{
		Owner: "u", Key: key, VMs: []cluster.VM{{
			Reserved: cluster.Resources{CPU: 1000, Memory: 512},
			Payload: &cluster.Payload{Image: "simulated", Program: &cluster.Program{
				Steps: []cluster.Step{{CPU: 1000, Duration: time.Minute}},
			}},
		}},
	})
}

// state is that of a vjob as it is kept.
func (p *plant) state(id cluster.VJobID) cluster.State {
	kept, _ := p.store.VJob(id)
	return kept.State
}

// in runs a test on a plant, and stops it.
func in(t *testing.T, test func(p *plant)) {
	t.Helper()
	with(t, settings(), test)
}

func with(t *testing.T, set scheduler.Settings, test func(p *plant)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		p := build(t, set)
		defer p.close()
		test(p)
	})
}

// The running time goes on while nothing happens, for which the loop takes no step.
func TestTimesGoOnBetweenSteps(t *testing.T) {
	in(t, func(p *plant) {
		job, _, err := p.submit("")
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Second)
		for range 20 {
			before := p.loop.Requests.Snapshot().VJob(job.ID)
			time.Sleep(70 * time.Millisecond)
			if after := p.loop.Requests.Snapshot().VJob(job.ID); before.State != cluster.Running || after.Ran != before.Ran+70*time.Millisecond {
				t.Fatalf("%s: it ran %s, 70 ms later %s", before.State, before.Ran, after.Ran)
			}
		}
	})
}

// A stop of the daemon writes the accounts up to then.
func TestStopWritesAccounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := build(t, settings())
		job, _, err := p.submit("")
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(20 * time.Second)
		ran := p.loop.Requests.Snapshot().VJob(job.ID).Ran
		p.close()
		if kept, _ := p.store.VJob(job.ID); ran < 10*time.Second || kept.Account.Running < ran {
			t.Errorf("it ran %s, its account has %s", ran, kept.Account.Running)
		}
		loaded, err := p.store.Load(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var charged int64 // in ms of CPU
		for _, c := range loaded.Charges {
			charged += c.CPUTime
		}
		if want := ran.Milliseconds() * int64(job.Reserved().CPU) / 1000; charged < want {
			t.Errorf("it ran %s, the charges of fair share are %d ms of CPU, want at least %d ms", ran, charged, want)
		}
	})
}

func TestLoopRunsAVJobToItsEnd(t *testing.T) {
	in(t, func(p *plant) {
		job, created, err := p.submit("")
		if err != nil || !created {
			t.Fatal(created, err)
		}
		time.Sleep(10 * time.Second) // of the bubble
		if got := p.state(job.ID); got != cluster.Running {
			t.Errorf("after 10 s it is %s", got)
		}
		if err := p.loop.Requests.Order(p.t.Context(), job.ID, scheduler.OrderSuspend, "u"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(20 * time.Second)
		if got := p.state(job.ID); got != cluster.Suspended {
			t.Errorf("after it was suspended it is %s", got)
		}
		if err := p.loop.Requests.Order(p.t.Context(), job.ID, scheduler.OrderResume, "u"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Minute)
		if got := p.state(job.ID); got != cluster.Terminated {
			t.Errorf("in the end it is %s", got)
		}
		if truth := p.driver.Truth(); len(truth.Copies)+len(truth.Images) > 0 {
			t.Errorf("left: %+v", truth)
		}
	})
}

func TestSubmitTwice(t *testing.T) {
	in(t, func(p *plant) {
		first, _, err := p.submit("k")
		if err != nil {
			t.Fatal(err)
		}
		second, created, err := p.submit("k")
		if err != nil || created || second.ID != first.ID {
			t.Errorf("got %v, created %v, %v", second, created, err)
		}
		if n := len(p.store.VJobs()); n != 1 {
			t.Errorf("%d vjobs", n)
		}
	})
}

// A submission is not acknowledged if its write is lost; the loop finds out by loading anew.
func TestSubmitWhoseReplyIsLost(t *testing.T) {
	in(t, func(p *plant) {
		lost := simstore.ErrWritten
		p.fail.Store(&lost)
		if _, _, err := p.submit("k"); err == nil {
			t.Error("it was acknowledged")
		}
		time.Sleep(20 * time.Second)
		if got := p.state(1); got != cluster.Running {
			t.Errorf("it is %s", got)
		}
		if job, created, err := p.submit("k"); err != nil || created || job.ID != 1 {
			t.Errorf("repeated: %v, %v, %v", job, created, err)
		}
	})
}

// A commit that fails makes the core anew from the store: nothing was called, and
// everything goes on.
func TestFailedCommitLoadsAgain(t *testing.T) {
	for name, failure := range map[string]error{"not written": errors.New("disk full"), "written": simstore.ErrWritten} {
		t.Run(name, func(t *testing.T) {
			in(t, func(p *plant) {
				epochs := p.store.Epoch()
				job, _, err := p.submit("")
				if err != nil {
					t.Fatal(err)
				}
				p.fail.Store(&failure)
				time.Sleep(30 * time.Second)
				if p.store.Epoch() != epochs+1 {
					t.Errorf("epoch %d, want one more than %d", p.store.Epoch(), epochs)
				}
				if got := p.state(job.ID); got != cluster.Running {
					t.Errorf("it is %s", got)
				}
				boots := 0
				for _, c := range p.store.Intents() {
					if c.Call.Verb == hypervisor.Boot {
						boots++
					}
				}
				if copies := p.driver.Truth().Copies; len(copies) != 1 || boots > 2 {
					t.Errorf("%d copies after %d intents to boot", len(copies), boots)
				}
			})
		})
	}
}

// While nothing can be written the snapshot says why.
func TestNothingCanBeWritten(t *testing.T) {
	in(t, func(p *plant) {
		job, _, err := p.submit("")
		if err != nil {
			t.Fatal(err)
		}
		p.full.Store(true)
		time.Sleep(30 * time.Second)
		if s := p.loop.Requests.Snapshot(); s.Ready || !strings.Contains(s.Broken, "disk full") {
			t.Errorf("with a full disk: ready %v, %q", s.Ready, s.Broken)
		}
		if _, _, err := p.submit(""); err == nil {
			t.Error("what cannot be written was acknowledged")
		}
		p.full.Store(false)
		time.Sleep(30 * time.Second)
		if s := p.loop.Requests.Snapshot(); !s.Ready || s.Broken != "" || p.state(job.ID) != cluster.Running {
			t.Errorf("with room again: ready %v, %q, the vjob is %s", s.Ready, s.Broken, p.state(job.ID))
		}
	})
}

// An order is answered after its commit: what it changed is in the store then, and
// a commit that fails is an answer too.
func TestOrderIsAnsweredAfterItsCommit(t *testing.T) {
	in(t, func(p *plant) {
		// Three more than there is room for: the last ones wait.
		for range 5 {
			if _, _, err := p.submit(""); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(5 * time.Second)
		if err := p.loop.Requests.Order(p.t.Context(), 5, scheduler.OrderHold, "u"); err != nil {
			t.Fatal(err)
		}
		if kept, _ := p.store.VJob(5); !kept.Held {
			t.Error("the hold was answered before it was kept")
		}
		if s := p.loop.Requests.Snapshot().VJob(5); !s.Held {
			t.Error("the snapshot does not show what was answered")
		}
		failure := errors.New("disk full")
		p.fail.Store(&failure)
		if err := p.loop.Requests.Order(p.t.Context(), 5, scheduler.OrderRelease, "u"); !errors.Is(err, cluster.ErrUnavailable) {
			t.Errorf("an order that was not written: %v", err)
		}
		if err := p.loop.Requests.Order(p.t.Context(), 99, scheduler.OrderHold, "u"); !errors.Is(err, cluster.ErrNotFound) {
			t.Errorf("an order for an unknown vjob: %v", err)
		}
	})
}

// A call that ends well, but long after its deadline, does not go on with its chain: what the
// chain was for was given up meanwhile.
func TestLateRepliesEndTheirChain(t *testing.T) {
	in(t, func(p *plant) {
		var pauses atomic.Int32
		p.calls = func(call hypervisor.Call) time.Duration {
			if call.Verb != hypervisor.Pause {
				return 0
			}
			pauses.Add(1)
			return time.Hour
		}
		vm := cluster.VM{Reserved: cluster.Resources{CPU: 500, Memory: 256}, Payload: &cluster.Payload{
			Image: "simulated", Program: &cluster.Program{Steps: []cluster.Step{{CPU: 500, Duration: 10 * time.Hour}}},
		}}
		job, _, err := p.loop.Requests.Submit(p.t.Context(), admission.Submission{Owner: "u", VMs: []cluster.VM{vm, vm}})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Second)
		if err := p.loop.Requests.Order(p.t.Context(), job.ID, scheduler.OrderSuspend, "u"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Second)
		if err := p.loop.Requests.Order(p.t.Context(), job.ID, scheduler.OrderResume, "u"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Hour)
		if got := p.state(job.ID); got != cluster.Running || pauses.Load() != 1 {
			t.Errorf("it is %s, and %d VMs were told to pause; want the first only", got, pauses.Load())
		}
	})
}

// After the end of the loop requests are refused and do not hang.
func TestRequestsAfterTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := build(t, settings())
		job, _, err := p.submit("")
		if err != nil {
			t.Fatal(err)
		}
		p.close()
		if err := p.loop.Requests.Order(p.t.Context(), job.ID, scheduler.OrderDelete, "u"); !errors.Is(err, cluster.ErrUnavailable) {
			t.Errorf("got %v", err)
		}
	})
}

// Stopping in the middle of calls joins every goroutine; the next start goes on.
func TestStopInTheMiddle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := build(t, settings())
		if _, _, err := p.submit(""); err != nil {
			t.Fatal(err)
		}
		time.Sleep(50 * time.Millisecond) // the boot is under way
		p.close()
		loaded, err := p.store.Load(p.t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if len(loaded.Open) == 0 {
			t.Error("no call is open: the test stops too late, or a call was closed without a reply")
		}
	})
}
