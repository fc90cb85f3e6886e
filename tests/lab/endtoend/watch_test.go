//go:build libvirt_dlopen

package endtoend

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/hypervisor"
	"vjob/hypervisor/libvirt"
	"vjob/tests/lab"
)

// watchPause is how long the watcher rests between two rounds. Its looks cost a tenth of a
// processor; what runs twice for less is found on the console, where both copies count.
const watchPause = 200 * time.Millisecond

// watcher looks at all hosts again and again, with a driver of its own, and
// reports what must never be.
type watcher struct {
	eyes     *libvirt.Driver
	hosts    []cluster.NodeID
	stranger string // runs on the first host
	running  sync.WaitGroup
	mu       sync.Mutex
	off      cluster.NodeID // a host without power, of which nothing is expected
	rounds   int
	broken   []string
}

// watch starts a machine that is not vjob's, on the first host, and a watcher.
// When the test ends, the watcher reports what it has seen.
func watch(t *testing.T, l *lab.Lab) *watcher {
	t.Helper()
	w := &watcher{eyes: l.Driver(nil), hosts: l.Hosts()}
	w.stranger = l.Strange(w.hosts[0])
	ctx, cancel := context.WithCancel(context.Background())
	w.running.Go(func() {
		for ctx.Err() == nil {
			w.round(ctx)
			select {
			case <-ctx.Done():
			case <-time.After(watchPause):
			}
		}
	})
	t.Cleanup(func() {
		cancel()
		w.running.Wait()
		t.Logf("the watcher looked at all hosts %d times", w.rounds)
		for _, b := range w.broken {
			t.Errorf("watcher: %s", b)
		}
	})
	return w
}

// round looks at every host once. Hosts that do not answer show nothing.
func (w *watcher) round(ctx context.Context) {
	runs := map[cluster.VMID][]cluster.NodeID{}
	for _, host := range w.hosts {
		view, err := w.look(ctx, host)
		if err != nil {
			continue
		}
		for _, c := range view.Copies {
			if c.State == hypervisor.CopyRunning {
				runs[c.VM] = append(runs[c.VM], host)
			}
		}
		if host == w.hosts[0] && !slices.Contains(view.Unmanaged, w.stranger) {
			w.report(fmt.Sprintf("the stranger on %s is gone", host))
		}
	}
	for vm, hosts := range runs {
		if len(hosts) > 1 && w.twice(ctx, vm, hosts) {
			w.report(fmt.Sprintf("%s runs on %v at once", vm, hosts))
		}
	}
	w.mu.Lock()
	w.rounds++
	w.mu.Unlock()
}

// twice makes sure that a VM which was seen on several hosts, one after another,
// has not just moved from one to the next: it is still seen on all of them.
func (w *watcher) twice(ctx context.Context, vm cluster.VMID, hosts []cluster.NodeID) bool {
	for range 2 {
		for _, host := range hosts {
			view, err := w.look(ctx, host)
			if c, ok := view.Copy(vm); err != nil || !ok || c.State != hypervisor.CopyRunning {
				return false
			}
		}
	}
	return true
}

// look looks at a host that may be dead.
func (w *watcher) look(ctx context.Context, host cluster.NodeID) (hypervisor.View, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	return w.eyes.Look(ctx, host)
}

// surely looks at a host that has to answer, perhaps after a while.
func (w *watcher) surely(ctx context.Context, host cluster.NodeID) (hypervisor.View, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		view, err := w.eyes.Look(ctx, host)
		if err == nil {
			return view, nil
		}
		select {
		case <-ctx.Done():
			return view, err
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func (w *watcher) report(what string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !slices.Contains(w.broken, what) {
		w.broken = append(w.broken, what)
	}
}

// copies are the copies of a vjob on all hosts: "1.0" on "h2" is "running".
func (w *watcher) copies(ctx context.Context, vjob cluster.VJobID) (map[cluster.VMID]map[cluster.NodeID]string, error) {
	found := map[cluster.VMID]map[cluster.NodeID]string{}
	w.mu.Lock()
	off := w.off
	w.mu.Unlock()
	for _, host := range w.hosts {
		if host == off {
			continue
		}
		view, err := w.surely(ctx, host)
		if err != nil {
			return nil, err
		}
		for _, c := range view.Copies {
			if c.VM.VJob != vjob {
				continue
			}
			if found[c.VM] == nil {
				found[c.VM] = map[cluster.NodeID]string{}
			}
			found[c.VM][host] = c.State.String()
		}
	}
	return found, nil
}

// without sets the host that has no power, or "" if all have.
func (w *watcher) without(host cluster.NodeID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.off = host
}

// incoming reports whether a host is taking a VM in.
func (w *watcher) incoming(ctx context.Context, host cluster.NodeID) bool {
	view, err := w.look(ctx, host)
	return err == nil && slices.ContainsFunc(view.Copies, func(c hypervisor.Copy) bool { return c.Job == hypervisor.JobIncoming })
}
