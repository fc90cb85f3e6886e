package conformance

import (
	"context"
	"errors"
	"slices"
	"strings"

	"vjob/cluster"
	"vjob/hypervisor"
)

var platformCases = []caseOf{
	{name: "a look tells what the node offers and what its VMs have", note: "DRS §3.3", run: tellsHardware},
	{
		name: "hardware survives save and restore", note: "DRS §3.3",
		run: hardwareStays,
	},
	{
		name:  "a node refuses a VM with hardware that it lacks",
		needs: func(h *Harness) bool { return h.Lacking != "" }, run: refusesHardware,
	},
}

func (b *caseRun) platforms(node cluster.NodeID) []hypervisor.Platform { return b.look(node).Platforms }

// hardware is the hardware of the copy of rank 0 on a node.
func (b *caseRun) hardware(node int) *hypervisor.Hardware {
	b.Helper()
	c, _ := lookFor(b, node)
	if c.Hardware == nil {
		b.Fatalf("the look at %s does not tell the hardware of %s", b.node(node), b.vm(0))
	}
	return c.Hardware
}

func tellsHardware(b *caseRun) {
	b.boot(0, 0)
	h, offers := b.hardware(0), b.platforms(b.node(0))
	at := slices.IndexFunc(offers, func(p hypervisor.Platform) bool { return p.Type == h.Type && p.Arch == h.Arch })
	if at < 0 {
		b.Fatalf("%s is of the domain type %s on %s, node %s offers %+v", b.vm(0), h.Type, h.Arch, b.node(0), offers)
	}
	if !slices.Contains(offers[at].MachineTypes, h.MachineType) || !strings.ContainsAny(h.MachineType, "0123456789") {
		b.Errorf("machine type %q, want the full name of one of %q", h.MachineType, offers[at].MachineTypes)
	}
	if lacks := h.Missing(offers, offers); lacks != "" {
		b.Errorf("%s runs on %s, which is said to lack %s", b.vm(0), b.node(0), lacks)
	}
	if lacks := h.Missing(offers, b.platforms(b.node(1))); lacks != "" {
		b.Errorf("%s is said to lack %s: the suite needs nodes that are alike", b.node(1), lacks)
	}
}

func hardwareStays(b *caseRun) {
	b.boot(0, 0)
	booted := *b.hardware(0)
	same := func(when string, now *hypervisor.Hardware) {
		b.Helper()
		if now == nil || now.Type != booted.Type || now.MachineType != booted.MachineType || now.CPUModel != booted.CPUModel ||
			!slices.Equal(now.Features, booted.Features) {
			b.Errorf("%s: hardware %+v, booted with %+v", when, now, booted)
		}
	}
	b.pause(0, 0)
	b.must(b.call(hypervisor.Save, 0, b.node(0)))
	b.becomes(0, "")
	sum := b.seal(0, 0)
	ctx, cancel := context.WithTimeout(context.Background(), b.h.CallTimeout)
	defer cancel()
	store, err := b.h.Driver.LookStore(ctx)
	if err != nil {
		b.Fatalf("look at the store: %v", err)
	}
	image, _ := store.Find(b.image(0))
	same("image", image.Hardware)
	b.must(b.restoring(0, 1, sum, 1))
	b.becomes(0, b.at(1, hypervisor.CopyPaused))
	same("restored", b.hardware(1))
}

// refusesHardware: the scheduler does not make such calls. If it decides on outdated knowledge, the
// hypervisor refuses them, and the VM stays where it is.
func refusesHardware(b *caseRun) {
	b.boot(0, 0)
	if b.hardware(0).Missing(b.platforms(b.node(0)), b.platforms(b.h.Lacking)) == "" {
		b.Fatalf("%s lacks nothing of %+v", b.h.Lacking, b.hardware(0))
	}
	refused := func(c hypervisor.Call) {
		b.Helper()
		if _, err := b.do(c); !errors.Is(err, hypervisor.ErrRefused) {
			b.Errorf("%s to %s: %v, want %v", c.Verb, b.h.Lacking, err, hypervisor.ErrRefused)
		}
	}
	move := b.call(hypervisor.Migrate, 0, b.node(0))
	move.To = b.h.Lacking
	refused(move)
	b.becomes(0, b.at(0, hypervisor.CopyRunning))
	b.pause(0, 0)
	b.must(b.call(hypervisor.Save, 0, b.node(0)))
	b.becomes(0, "")
	restore := b.call(hypervisor.Restore, 0, b.h.Lacking)
	restore.Checksum = b.seal(0, 0)
	refused(restore)
	restore.Node, restore.Attempt = b.node(1), 2
	b.must(restore)
	b.becomes(0, b.at(1, hypervisor.CopyPaused))
}
