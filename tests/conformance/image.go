package conformance

import (
	"context"
	"errors"

	"vjob/hypervisor"
)

// imageCases are about images, and about stores that fail for a while.
var imageCases = []caseOf{
	{name: "sealed again", note: "a receipt is a fact", run: sealRepeated},
	{name: "sizes of copies and times of images", note: "looks", run: sizes},
	{
		name: "sealed, revoked and deleted on a store that fails", note: "EIO, ESTALE, no inodes", run: storeFails,
		needs: func(h *Harness) bool { return h.Hooks.FailStore != nil && h.Hooks.RepairStore != nil },
	},
	{
		name: "store not mounted", note: "empty mount point", run: storeLost,
		needs: func(h *Harness) bool { return h.Hooks.LoseStore != nil && h.Hooks.RestoreStore != nil },
	},
}

func sealRepeated(b *caseRun) {
	sum, _ := b.saved()
	first := b.must(b.call(hypervisor.Seal, 0, b.node(0)))
	if again := b.must(b.call(hypervisor.Seal, 0, b.node(0))); again != first || first.Checksum != sum {
		b.Errorf("three seals of one image: %s, %+v, %+v", sum, first, again)
	}
	if first.Incarnation != 0 && first.Incarnation != stamp.Incarnation {
		b.Errorf("an image of incarnation %d is sealed as one of %d", stamp.Incarnation, first.Incarnation)
	}
}

// sizes checks that a copy has the size that it was given, or none. An image has the time of its
// last change; neither sealing nor restoring changes it.
func sizes(b *caseRun) {
	b.boot(0, 0)
	c, _ := lookFor(b, 0)
	want := b.booting(0, 0, 0).Machine.Reserved
	if c.Size.Memory != 0 && c.Size.Memory != want.Memory || c.Size.CPU != 0 && c.Size.CPU != want.CPU {
		b.Errorf("a copy of %s is shown with %s", want, c.Size)
	}
	b.pause(0, 0)
	b.must(b.call(hypervisor.Save, 0, b.node(0)))
	b.becomes(0, "")
	before, ok := stored(b)
	if !ok || before.Written.IsZero() {
		b.Fatalf("image %+v, there: %t", before, ok)
	}
	b.must(b.restoring(0, 1, b.seal(0, 0), 1))
	if after, _ := stored(b); !after.Written.Equal(before.Written) {
		b.Errorf("an image that was written at %s is shown as written at %s", before.Written, after.Written)
	}
}

// storeFails checks that a store that failed for a while still has its images, and that each call
// works again.
func storeFails(b *caseRun) {
	b.boot(0, 0)
	count := b.pause(0, 0)
	b.must(b.call(hypervisor.Save, 0, b.node(0)))
	b.becomes(0, "")
	revoke := b.call(hypervisor.Revoke, 0, b.node(0))
	for _, c := range []hypervisor.Call{b.call(hypervisor.Seal, 0, b.node(0)), revoke} {
		failing(b, c)
		b.must(c)
	}
	b.must(b.restoring(0, 1, b.seal(0, 0), 2))
	completeOrGone(b, count, nil)
	failing(b, b.call(hypervisor.Discard, 0, b.node(0)))
	b.must(b.call(hypervisor.Discard, 0, b.node(0)))
	if i, ok := stored(b); ok {
		b.Errorf("image %+v after its deletion", i)
	}
}

// failing makes a call on a store that fails until it has failed once.
func failing(b *caseRun, c hypervisor.Call) {
	b.Helper()
	b.hook("let the store fail", b.h.Hooks.FailStore(c.Node))
	var err error
	for tries := 0; err == nil; tries++ {
		if tries > 50 {
			b.Fatalf("%s %s succeeds on a store that fails", c.Verb, c.Image)
		}
		_, err = b.do(c)
	}
	b.hook("repair the store", b.h.Hooks.RepairStore(c.Node))
	b.failed(c, err, hypervisor.ErrNoImage, hypervisor.ErrNoSpace)
}

// storeLost checks that a store that is not mounted is an error, never an empty list.
func storeLost(b *caseRun) {
	sum, count := b.saved()
	b.hook("lose the store", b.h.Hooks.LoseStore(b.node(0)))
	ctx, cancel := context.WithTimeout(context.Background(), b.h.CallTimeout)
	defer cancel()
	if s, err := b.h.Driver.LookStore(ctx); err == nil {
		b.Errorf("a store that is not mounted is shown as %+v", s)
	}
	for _, v := range []hypervisor.Verb{hypervisor.Seal, hypervisor.Discard} {
		if _, err := b.do(b.call(v, 0, b.node(0))); !errors.Is(err, hypervisor.ErrNoImage) {
			b.Errorf("%s on a store that is not mounted: %v", v, err)
		}
	}
	b.fails(b.restoring(0, 0, sum, 1), hypervisor.ErrNoImage)
	b.hook("find the store", b.h.Hooks.RestoreStore(b.node(0)))
	if i, ok := stored(b); !ok || !i.Complete {
		b.Fatalf("image %+v, there: %t", i, ok)
	}
	b.must(b.restoring(0, 1, sum, 2))
	completeOrGone(b, count, nil)
}
