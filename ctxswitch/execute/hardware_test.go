package execute_test

import (
	"testing"

	"vjob/cluster"
	"vjob/ctxswitch/gang"
	"vjob/hypervisor"
)

// TestHardware has a vjob on a and one in an image that b saved.
func TestHardware(t *testing.T) {
	running, saved := job(1, 1, cluster.Running), job(2, 1, cluster.Suspended)
	l := world(running, saved)
	image := hypervisor.ImageID{VM: saved.VMs[0].ID, Generation: 1, Attempt: 1}
	asleep := at(2, gang.Saved, "b")
	asleep.Members[0].Image = &gang.Image{ID: image, Node: "b"}
	l.Gangs = []gang.Record{at(1, gang.Active, "a"), asleep}
	d := newHarness(t, settings(), l)
	h, stored := &hypervisor.Hardware{Type: "kvm"}, &hypervisor.Hardware{Type: "qemu"}
	d.copies["a"][0].Hardware = h
	d.store.Images = []hypervisor.Image{{ID: image, Node: "b", Complete: true, Hardware: stored}}
	look := func(node cluster.NodeID, offers ...hypervisor.Platform) {
		d.exec.Looked(d.now, node, hypervisor.View{Node: node, Copies: d.copies[node], Platforms: offers}, nil)
		d.settle()
	}
	d.settle()
	if got := d.exec.Hardware(); got != nil {
		t.Errorf("no node tells what it offers, and the hardware is %v", got)
	}
	look("a", hypervisor.Platform{Type: "kvm"})
	look("b", hypervisor.Platform{Type: "kvm"})
	if got := d.exec.Hardware(); got != nil {
		t.Errorf("all nodes are alike, and the hardware is %v", got)
	}
	look("b", hypervisor.Platform{Type: "kvm"}, hypervisor.Platform{Type: "qemu"})
	got := d.exec.Hardware()
	if a := got[running.VMs[0].ID]; a.Hardware != h || a.Node != "a" || a.Saved {
		t.Errorf("hardware of a VM on a: %+v", a)
	}
	if b := got[saved.VMs[0].ID]; b.Hardware != stored || b.Node != "b" || !b.Saved {
		t.Errorf("hardware of a VM in an image: %+v", b)
	}
	d.exec.Looked(d.now, "b", hypervisor.View{}, hypervisor.ErrUnreachable)
	d.settle()
	if n, _ := d.exec.Node("b"); len(n.Platforms) != 2 || n.PlatformClass == "" {
		t.Errorf("a silent node still offers what it did: %+v", n.Platforms)
	}
}

// The hardware of images counts while a node has not answered since the start, which may have saved them.
func TestHardwareBeforeAllNodesAnswer(t *testing.T) {
	saved := job(2, 1, cluster.Suspended)
	l := world(saved)
	image := hypervisor.ImageID{VM: saved.VMs[0].ID, Generation: 1, Attempt: 1}
	asleep := at(2, gang.Saved, "b")
	asleep.Members[0].Image = &gang.Image{ID: image, Node: "b"}
	l.Gangs = []gang.Record{asleep}
	d := newHarness(t, settings(), l)
	stored := &hypervisor.Hardware{Type: "kvm"}
	d.store.Images = []hypervisor.Image{{ID: image, Node: "b", Complete: true, Hardware: stored}}
	d.settle()
	d.exec.Looked(d.now, "b", hypervisor.View{}, hypervisor.ErrUnreachable)
	d.exec.Looked(d.now, "a", hypervisor.View{Node: "a", Platforms: []hypervisor.Platform{{Type: "kvm"}}}, nil)
	d.settle()
	if got := d.exec.Hardware()[saved.VMs[0].ID]; got.Hardware != stored {
		t.Errorf("hardware of a VM in an image: %+v, want that of the image", got)
	}
}

// While a VM is restored, its hardware is that of the image.
func TestHardwareDuringRestore(t *testing.T) {
	saved := job(2, 1, cluster.Suspended)
	l := world(saved)
	image := hypervisor.ImageID{VM: saved.VMs[0].ID, Generation: 1, Attempt: 1}
	coming := at(2, gang.Restoring, "")
	coming.Members[0] = gang.Member{Next: "a", Image: &gang.Image{ID: image, Node: "b"}}
	l.Gangs = []gang.Record{coming}
	d := newHarness(t, settings(), l)
	stored := &hypervisor.Hardware{Type: "kvm"}
	d.store.Images = []hypervisor.Image{{ID: image, Node: "b", Complete: true, Hardware: stored}}
	d.settle()
	for node, offer := range map[cluster.NodeID]string{"a": "kvm", "b": "qemu"} {
		d.exec.Looked(d.now, node, hypervisor.View{Node: node, Platforms: []hypervisor.Platform{{Type: offer}}}, nil)
	}
	d.settle()
	if got := d.exec.Hardware()[saved.VMs[0].ID]; got.Hardware != stored || !got.Saved {
		t.Errorf("hardware of a VM that is restored: %+v, want that of the image", got)
	}
}
