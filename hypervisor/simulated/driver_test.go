package simulated_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"vjob/cluster"
	"vjob/hypervisor"
	"vjob/hypervisor/simulated"
)

func settings() simulated.Settings {
	s := simulated.Settings{Config: simulated.Config{Profile: simulated.Thesis, Seed: 1}, Speed: 60}
	for _, id := range []cluster.NodeID{"n1", "n2"} {
		s.Nodes = append(s.Nodes, simulated.Node{ID: id, Capacity: cluster.Resources{CPU: 2000, Memory: 4096}})
	}
	return s
}

func open(t *testing.T, s simulated.Settings) *simulated.Driver {
	t.Helper()
	d, err := simulated.Open(s)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func closing(t *testing.T, d *simulated.Driver) {
	t.Helper()
	if err := d.Close(); err != nil {
		t.Error(err)
	}
}

func do(t *testing.T, d *simulated.Driver, c hypervisor.Call) hypervisor.Receipt {
	t.Helper()
	r, err := d.Do(t.Context(), c)
	if err != nil {
		t.Fatalf("%s %s: %v", c.Verb, c.VM, err)
	}
	return r
}

func booting(id cluster.VMID, node cluster.NodeID) hypervisor.Call {
	c := call(hypervisor.Boot, id, node)
	c.Machine, c.Stamp = machine(1024, 1), hypervisor.Stamp{Incarnation: 1, Epoch: 3}
	return c
}

// The driver counts what a guest sends in real time, in which rates are measured.
func TestTrafficInRealTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := open(t, settings())
		defer closing(t, d)
		c := booting(vm(1, 0), "n1")
		c.Machine = machine(1024, 1, cluster.Step{CPU: 1000, Duration: time.Hour, Network: 600})
		do(t, d, c)
		time.Sleep(10 * time.Second)
		view, err := d.Look(t.Context(), "n1")
		if err != nil {
			t.Fatal(err)
		}
		if sent := view.Copies[0].Traffic.Sent; sent < 5990 || sent > 6000 {
			t.Errorf("at 600 B/s it has sent %d bytes in 10 s", sent)
		}
	})
}

func TestDriverScalesTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := open(t, settings())
		from, start := time.Now(), d.Now()
		do(t, d, booting(vm(1, 0), "n1"))
		if took := time.Since(from); took < 100*time.Millisecond || took > 101*time.Millisecond {
			t.Errorf("6 s at speed 60 took %s", took)
		}
		if hint := <-d.Hints(); hint != "n1" {
			t.Errorf("hint %q", hint)
		}
		time.Sleep(time.Second)
		console, err := d.Console(t.Context(), vm(1, 0))
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(console)
		if passed := d.Now().Sub(start); !strings.HasSuffix(string(text), "\n[    6.000000] booted\n") || passed < 66*time.Second || passed > 67*time.Second {
			t.Errorf("after %s: console %q", passed, text)
		}
		if _, err := d.Console(t.Context(), vm(9, 9)); !errors.Is(err, cluster.ErrNotFound) {
			t.Errorf("console of an unknown VM: %v", err)
		}
		closing(t, d)
		if _, err := d.Do(t.Context(), booting(vm(2, 0), "n1")); !errors.Is(err, hypervisor.ErrUnreachable) {
			t.Errorf("a call after Close: %v", err)
		}
	})
}

func TestCallContinuesAfterItsContextEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := open(t, settings())
		defer closing(t, d)
		do(t, d, booting(vm(1, 0), "n1"))
		do(t, d, call(hypervisor.Pause, vm(1, 0), "n1"))
		save := call(hypervisor.Save, vm(1, 0), "n1")
		save.Image = imageOf(vm(1, 0))
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		_, err := d.Do(ctx, save)
		if !errors.Is(err, hypervisor.ErrTimeout) || !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("error %v", err)
		}
		time.Sleep(time.Second)
		store, err := d.LookStore(t.Context())
		if i, ok := store.Find(save.Image); err != nil || !ok || !i.Complete {
			t.Fatalf("store %+v, error %v", store, err)
		}
		if _, err := d.Do(ctx, save); !errors.Is(err, hypervisor.ErrTimeout) {
			t.Fatalf("a call with an expired context: %v", err)
		}
	})
}

func TestLookAtAFrozenNodeEndsWithItsKeepalive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := open(t, settings())
		defer closing(t, d)
		if err := d.Inject(simulated.Fault{Kind: simulated.Freeze, Node: "n1"}); err != nil {
			t.Fatal(err)
		}
		from := time.Now()
		if _, err := d.Look(t.Context(), "n1"); !errors.Is(err, hypervisor.ErrTimeout) {
			t.Fatalf("a look: %v", err)
		}
		if took := time.Since(from); took < 60*time.Millisecond {
			t.Errorf("the look ended after %s", took)
		}
		d.EndFault("n1", simulated.Freeze)
		if _, err := d.Look(t.Context(), "n1"); err != nil {
			t.Fatal(err)
		}
	})
}

func TestCloseAnswersPendingCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := open(t, settings())
		silent := simulated.Fault{Kind: simulated.CallSilent}
		if err := d.Inject(silent); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error)
		go func() {
			_, err := d.Do(context.Background(), booting(vm(1, 0), "n1"))
			ended <- err
		}()
		synctest.Wait()
		if err := d.Close(); err != nil {
			t.Error(err)
		}
		if err := <-ended; !errors.Is(err, hypervisor.ErrTimeout) {
			t.Errorf("the pending call returned %v", err)
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestStateFileSurvivesRestartsAndKills(t *testing.T) {
	s := settings()
	s.StateFile = filepath.Join(t.TempDir(), "cluster.json")
	synctest.Test(t, func(t *testing.T) {
		d := open(t, s)
		do(t, d, booting(vm(1, 0), "n1"))
		do(t, d, booting(vm(2, 0), "n2"))
		do(t, d, call(hypervisor.Pause, vm(1, 0), "n1"))
		killed, err := os.ReadFile(s.StateFile) // what kill -9 would leave
		if err != nil {
			t.Fatal(err)
		}
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(s.StateFile, killed, 0o600); err != nil {
			t.Fatal(err)
		}
		before := d.Now()
		time.Sleep(time.Minute)
		d = open(t, s)
		defer closing(t, d)
		if away := d.Now().Sub(before); away < time.Hour {
			t.Errorf("virtual time advanced by %s, want an hour", away)
		}
		view, err := d.Look(t.Context(), "n1")
		if err != nil || len(view.Copies) != 1 || view.Copies[0].State != hypervisor.CopyPaused || view.Copies[0].Stamp.Epoch != 3 {
			t.Fatalf("view %+v, error %v", view, err)
		}
		do(t, d, call(hypervisor.Unpause, vm(1, 0), "n1"))
		for _, c := range d.Truth().Copies {
			if c.VM == vm(2, 0) && c.Ran < time.Hour {
				t.Errorf("a guest ran for %s while the driver was closed, want an hour", c.Ran)
			}
		}
	})
}

func TestOpenRefusesBadStateAndSettings(t *testing.T) {
	s := settings()
	s.StateFile = filepath.Join(t.TempDir(), "cluster.json")
	d := open(t, s)
	do(t, d, booting(vm(1, 0), "n2"))
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	fewer := s
	fewer.Nodes = s.Nodes[:1]
	if _, err := simulated.Open(fewer); !errors.Is(err, cluster.ErrConflict) {
		t.Errorf("a node with a VM is missing: %v", err)
	}
	if err := os.WriteFile(s.StateFile, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := simulated.Open(s); err == nil {
		t.Error("a broken state file was accepted")
	}
	for _, bad := range []simulated.Settings{{}, {Config: s.Config, Speed: -1}} {
		if _, err := simulated.Open(bad); !errors.Is(err, cluster.ErrInvalid) {
			t.Errorf("settings %+v: %v", bad, err)
		}
	}
}
