package simulated_test

import (
	"errors"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/hypervisor"
	"vjob/hypervisor/simulated"
)

func TestFailedSaves(t *testing.T) {
	id := vm(1, 0)
	full := hypervisor.ErrNoSpace
	for _, tt := range []struct {
		name  string
		live  bool
		fault simulated.Fault
		abort bool
		want  map[cluster.NodeID]string
		file  bool
		err   error
	}{
		{
			name: "6a running, daemon killed", live: true, want: on("n1", "running"), file: true,
			fault: simulated.Fault{Kind: simulated.DaemonKilled, Node: "n1", For: time.Second}, err: hypervisor.ErrUnreachable,
		},
		{
			name: "6b paused, daemon killed", want: on("n1", "paused"), file: true,
			fault: simulated.Fault{Kind: simulated.DaemonKilled, Node: "n1", For: time.Second}, err: hypervisor.ErrUnreachable,
		},
		{
			name: "6c QEMU killed", want: on(),
			fault: simulated.Fault{Kind: simulated.GuestCrashed, VM: id}, err: hypervisor.ErrNoSuchVM,
		},
		{
			name: "6d disk full, paused", want: on("n1", "paused"),
			fault: simulated.Fault{Kind: simulated.DiskFull, Node: "n1"}, err: full,
		},
		{
			name: "6d disk full, running", live: true, want: on("n1", "running"),
			fault: simulated.Fault{Kind: simulated.DiskFull, Node: "n1"}, err: full,
		},
		{name: "6f aborted, paused", abort: true, want: on("n1", "paused"), err: hypervisor.ErrRefused},
		{name: "aborted, running", live: true, abort: true, want: on("n1", "running"), file: true, err: hypervisor.ErrRefused},
		{
			name: "host killed", want: on(), file: true,
			fault: simulated.Fault{Kind: simulated.PowerLoss, Node: "n1"}, err: hypervisor.ErrUnreachable,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newManualCluster(t, nil)
			b.boot(id, "n1", machine(cluster.GiB, 1))
			if !tt.live {
				b.do(call(hypervisor.Pause, id, "n1"), nil)
			}
			op := b.start(call(hypervisor.Save, id, "n1"))
			b.wait(10 * time.Second)
			b.want(id, on("n1", "paused/saving"))
			if tt.abort {
				b.do(call(hypervisor.Abort, id, "n1"), nil)
			} else {
				b.inject(tt.fault)
			}
			r := b.reply(op, time.Minute)
			if r == nil || !errors.Is(r.Err, tt.err) {
				t.Fatalf("answer %+v, want error %v", r, tt.err)
			}
			b.wait(time.Minute)
			b.want(id, tt.want)
			i, file := b.image(id)
			if file != tt.file || i.Complete {
				t.Fatalf("image %+v, exists: %t; want a partial file: %t", i, file, tt.file)
			}
		})
	}
}

func TestSaveNeverOverwritesAndContinuesDuringAPartition(t *testing.T) {
	b := newManualCluster(t, nil)
	id := vm(1, 0)
	sum := b.saved(id)
	b.do(restore(id, "n1", sum, 1), nil)
	b.do(call(hypervisor.Save, id, "n1"), hypervisor.ErrRefused) // the name is used
	if again := b.do(call(hypervisor.Seal, id, "n1"), nil); again.Receipt.Checksum != sum {
		t.Fatal("the old image changed")
	}
	second := call(hypervisor.Save, id, "n1")
	second.Image = hypervisor.ImageID{VM: id, Generation: 2, Attempt: 1}
	op := b.start(second)
	b.wait(time.Second)
	b.inject(simulated.Fault{Kind: simulated.Partition, Node: "n1"}) // row 6e
	if r := b.reply(op, time.Minute); r == nil || !errors.Is(r.Err, hypervisor.ErrUnreachable) {
		t.Fatalf("answer %+v", r)
	}
	b.wait(time.Minute)
	b.want(id, on())
	b.EndFault(b.now, "n1", simulated.Partition)
	store, err := b.LookStore(b.now)
	if i, ok := store.Find(second.Image); err != nil || !ok || !i.Complete {
		t.Fatalf("store %+v, error %v", store, err)
	}
}

func TestDamagedImagesAreRefused(t *testing.T) {
	b := newManualCluster(t, nil)
	id := vm(1, 0)
	sum := b.saved(id)
	b.do(restore(id, "n2", "", 1), hypervisor.ErrBadImage)
	b.inject(simulated.Fault{Kind: simulated.ImageRot, Image: imageOf(id)})
	b.do(restore(id, "n2", sum, 2), hypervisor.ErrBadImage) // E5b, with a checksum of our own
	b.do(call(hypervisor.Seal, id, "n1"), hypervisor.ErrBadImage)
	b.want(id, on())
	b.do(call(hypervisor.Discard, id, "n1"), nil)
	b.do(call(hypervisor.Discard, id, "n1"), nil)
	b.do(restore(id, "n2", sum, 3), hypervisor.ErrNoImage)
}

func TestPowerLossMayTearUnsealedImages(t *testing.T) {
	torn := 0
	for seed := range uint64(40) {
		b := newManualCluster(t, func(c *simulated.Config) { c.Seed = seed })
		b.paused(vm(1, 0))
		b.do(call(hypervisor.Save, vm(1, 0), "n1"), nil)
		b.saved(vm(2, 0))
		b.inject(simulated.Fault{Kind: simulated.PowerLoss, Node: "n1"})
		if i, _ := b.image(vm(1, 0)); !i.Complete {
			torn++
		}
		if i, _ := b.image(vm(2, 0)); i.Corrupt || !i.Durable || !i.Complete {
			t.Fatalf("a sealed image is torn: %+v", i)
		}
	}
	if torn < 5 || torn > 35 {
		t.Fatalf("%d of 40 unsealed images are torn", torn)
	}
}

func TestOneImageIsRestoredTwiceUnlessTheAttemptIsRevoked(t *testing.T) {
	b := newManualCluster(t, nil)
	id := vm(1, 0)
	sum := b.saved(id)
	b.do(restore(id, "n1", sum, 1), nil)
	b.do(restore(id, "n1", sum, 1), hypervisor.ErrExists)
	b.do(restore(id, "n2", sum, 1), nil) // E4, 7h
	b.want(id, on("n1", "paused", "n2", "paused"))
	b.do(call(hypervisor.Destroy, id, "n1"), nil)
	b.do(call(hypervisor.Destroy, id, "n2"), nil)

	// The first restore has opened its image and continues. The second waits on a frozen node and must fail.
	under := b.start(restore(id, "n2", sum, 2))
	b.inject(simulated.Fault{Kind: simulated.Freeze, Node: "n3"})
	queued := b.start(restore(id, "n3", sum, 3))
	b.wait(time.Second)
	b.want(id, on("n2", "paused/restoring"))
	revoke := call(hypervisor.Revoke, id, "n1")
	revoke.Attempt = 3
	b.do(revoke, nil)
	b.do(revoke, nil)
	b.want(id, on("n2", "paused/restoring"))
	b.EndFault(b.now, "n3", simulated.Freeze)
	if r := b.reply(queued, time.Minute); r == nil || !errors.Is(r.Err, hypervisor.ErrRefused) {
		t.Fatalf("answer %+v", r)
	}
	if r := b.reply(under, 5*time.Minute); r == nil || r.Err != nil {
		t.Fatalf("answer %+v", r)
	}
	b.wait(10 * time.Minute)
	b.want(id, on("n2", "paused"))
	b.do(call(hypervisor.Destroy, id, "n2"), nil)
	b.do(restore(id, "n3", sum, 3), hypervisor.ErrRefused)
	b.do(restore(id, "n3", sum, 4), nil)
}

func TestLocalPoolsNeedTheirNode(t *testing.T) {
	b := newManualCluster(t, func(c *simulated.Config) {
		for i := range c.Nodes {
			c.Nodes[i].Pool = "disk-" + string(c.Nodes[i].ID)
		}
		c.Pools = map[string]cluster.MiB{"disk-n1": 1536}
	})
	sum := b.saved(vm(1, 0))
	b.paused(vm(2, 0))
	b.do(call(hypervisor.Save, vm(2, 0), "n1"), hypervisor.ErrNoSpace) // 1 of 1.5 GiB is used
	b.inject(simulated.Fault{Kind: simulated.PowerLoss, Node: "n1"})
	store, err := b.LookStore(b.now)
	if err != nil || len(store.Images) != 0 || len(store.Free) != 2 {
		t.Fatalf("store %+v, error %v", store, err)
	}
	b.do(restore(vm(1, 0), "n2", sum, 1), hypervisor.ErrNoImage)
	b.EndFault(b.now, "n1", simulated.PowerLoss)
	b.do(restore(vm(1, 0), "n2", sum, 2), nil)
	b.inject(simulated.Fault{Kind: simulated.StoreGone, Node: "n1"})
	if store, _ = b.LookStore(b.now); len(store.Images) != 0 {
		t.Fatalf("images %+v of a store that is not mounted", store.Images)
	}
}
