//go:build libvirt_dlopen && cgo

package libvirt

import (
	"context"
	"errors"
	"maps"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"vjob/cluster"
	"vjob/hypervisor"
)

// A sweep spares each VM that any node holds, also under a mark that is not ours, and
// knows when a node did not answer.
func TestHeld(t *testing.T) {
	vm := func(job cluster.VJobID) cluster.VMID { return cluster.VMID{VJob: job} }
	views := map[cluster.NodeID]hypervisor.View{
		"h1": {Copies: []hypervisor.Copy{{VM: vm(1)}, {VM: vm(2)}}},
		"h2": {Copies: []hypervisor.Copy{{VM: vm(3)}}, Unmanaged: []string{"mail", "vjob-4-0", "vjob-05-0", "vjob-6-0"}},
	}
	look := func(_ context.Context, node cluster.NodeID, _ ...hypervisor.Guest) (hypervisor.View, error) {
		view, answers := views[node]
		if !answers {
			return view, hypervisor.ErrUnreachable
		}
		return view, nil
	}
	want := map[cluster.VMID]bool{vm(1): true, vm(2): true, vm(3): true, vm(4): true, vm(6): true}
	if got, err := listHeld(t.Context(), []cluster.NodeID{"h1", "h2"}, look); err != nil || !maps.Equal(got, want) {
		t.Errorf("held are %v, %v; want %v", got, err, want)
	}
	if got, err := listHeld(t.Context(), []cluster.NodeID{"h1", "h3", "h2"}, look); !errors.Is(err, hypervisor.ErrUnreachable) || !maps.Equal(got, want) {
		t.Errorf("while h3 is silent, held are %v, %v; want %v", got, err, want)
	}
}

// While a node is silent, only consoles are swept; a sweep waits half a minute for it.
func TestSweepOfADriver(t *testing.T) {
	for _, silent := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			b := newSweep(t)
			for _, name := range []string{"consoles/2.0.console", "seeds/2.0.i1.qcow2", "leases/vjob-2-0", "consoles/1.0.console", "seeds/1.0.i1.qcow2"} {
				b.file(name, time.Hour)
			}
			b.file("consoles/3.0.console", 9*time.Minute)
			b.file("consoles/4.0.console", 20*time.Minute)
			d := &Driver{cfg: b.cfg, store: *b.store, nodes: map[cluster.NodeID]*node{}}
			d.files = newFileOps(1, &d.running)
			if silent {
				d.nodes["h1"] = &node{driver: d, listPool: newConnPool("test:///default", 0, Timeouts{}, &d.running)}
			}
			began := time.Now()
			err := d.Sweep(t.Context(), b.live, 30*time.Minute)
			waited := time.Since(began)
			if silent && (!errors.Is(err, hypervisor.ErrUnreachable) || !strings.Contains(err.Error(), "disks, seeds and leases are kept")) ||
				!silent && err != nil {
				t.Errorf("silent %t: %v", silent, err)
			}
			if silent && waited != 30*time.Second || !silent && waited != 0 {
				t.Errorf("silent %t: it waited %s", silent, waited)
			}
			for name, stays := range map[string]bool{
				"consoles/2.0.console": false, "seeds/2.0.i1.qcow2": silent, "leases/vjob-2-0": silent,
				"consoles/1.0.console": true, "seeds/1.0.i1.qcow2": true, "consoles/3.0.console": true, "consoles/4.0.console": true,
			} {
				b.expect(name, stays)
			}
			d.running.Wait()
		})
	}
}

// The files of a VM that a node holds stay, whatever the caller knows of its vjob.
func TestSweepSparesWhatNodesHold(t *testing.T) {
	b := newSweep(t)
	for _, name := range []string{"seeds/2.0.i1.qcow2", "seeds/2.1.i1.qcow2", "leases/vjob-2-0"} {
		b.file(name, time.Hour)
	}
	d := &Driver{cfg: b.cfg, store: *b.store, nodes: map[cluster.NodeID]*node{"h1": nil}}
	d.files = newFileOps(1, &d.running)
	look := func(_ context.Context, node cluster.NodeID, _ ...hypervisor.Guest) (hypervisor.View, error) {
		return hypervisor.View{Node: node, Copies: []hypervisor.Copy{{VM: cluster.VMID{VJob: 2}}}}, nil
	}
	if err := d.sweep(t.Context(), look, b.live, week); err != nil {
		t.Error(err)
	}
	b.expect("seeds/2.0.i1.qcow2", true)
	b.expect("leases/vjob-2-0", true)
	b.expect("seeds/2.1.i1.qcow2", false)
}

// What a sweep finds wrong is reported, also where each node has answered.
func TestSweepReports(t *testing.T) {
	b := newSweep(t)
	b.cfg.ConsoleDir += "-missing"
	d := &Driver{cfg: b.cfg, store: *b.store}
	d.files = newFileOps(1, &d.running)
	if err := d.Sweep(t.Context(), b.live, week); err == nil || strings.Contains(err.Error(), "are kept") {
		t.Errorf("a sweep without its folder of consoles: %v", err)
	}
}
