package simulated_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/hypervisor"
)

// What was read of a console stays as it was: readers go on after the bytes that they have.
func TestConsolesOnlyGrow(t *testing.T) {
	for name, m := range map[string]*hypervisor.Machine{
		"steps":       machine(cluster.GiB, 1, cluster.Step{CPU: 1000, Duration: 20 * time.Second}, cluster.Step{CPU: 1000, Duration: 10 * time.Second}),
		"no work":     machine(cluster.GiB, 1),
		"script":      script("for i in $(seq 50); do echo $i; sleep 1; done", 1),
		"much output": script("for i in $(seq 400); do echo "+strings.Repeat("x", 35)+"; done; sleep 10", 1),
	} {
		t.Run(name, func(t *testing.T) {
			seed := uint64(len(name))
			t.Logf("seed %d", seed)
			random := rand.New(rand.NewPCG(seed, 0))
			b := newManualCluster(t, nil)
			var seen []byte
			for range 8 {
				b.boot(vm(1, 0), "n1", m)
				for range 40 {
					b.wait(time.Duration(random.IntN(3000)) * time.Millisecond)
					text, err := b.Console(b.now, vm(1, 0))
					if errors.Is(err, cluster.ErrNotFound) {
						continue
					}
					if err != nil || !bytes.HasPrefix(text, seen) {
						t.Fatalf("%q after %q (%v)", text, seen, err)
					}
					seen = text
				}
				if view, _ := b.Look(b.now, "n1"); len(view.Copies) > 0 {
					b.do(hypervisor.Call{Verb: hypervisor.Destroy, VM: vm(1, 0), Node: "n1"}, nil)
				}
			}
			full := bytes.HasSuffix(seen, []byte("\nthe console of a simulated guest is full\n"))
			if len(seen) == 0 || len(seen) > 64<<10 || full != (name == "much output") {
				t.Errorf("%d bytes, full %t", len(seen), full)
			}
		})
	}
}

func TestErrorsApart(t *testing.T) {
	const text = "echo out; echo err >&2; no-such-command; (echo sub >&2); echo both 2>&1; echo to out 1>&2 2>&1; sleep 5; echo late >&2"
	for _, apart := range []bool{false, true} {
		b := newManualCluster(t, nil)
		m := script(text, 1)
		m.Payload.ErrorsApart = apart
		b.boot(vm(1, 0), "n1", m)
		b.wait(time.Minute)
		failed, err := b.Errors(b.now, vm(1, 0))
		out := b.output(vm(1, 0))
		if !apart {
			if !errors.Is(err, cluster.ErrNotFound) || !strings.HasPrefix(out, "out\nerr\nsh: no-such-command") || !strings.HasSuffix(out, "late\n") {
				t.Errorf("together: %q, %q, %v", out, failed, err)
			}
			continue
		}
		if out != "out\nboth\n" {
			t.Errorf("output %q", out)
		}
		want := []string{"err", "sh: no-such-command", "sub", "to out", "late"}
		lines := strings.Split(strings.TrimSuffix(string(failed), "\n"), "\n")
		for i, line := range lines {
			if len(lines) != len(want) || !strings.HasPrefix(line, want[i]) {
				t.Fatalf("errors %q, want %q", lines, want)
			}
		}
		b.restart()
		if again, err := b.Errors(b.now, vm(1, 0)); err != nil || !bytes.Equal(again, failed) {
			t.Errorf("after a restart: %q, %v", again, err)
		}
	}
}
