//go:build libvirt_dlopen

package endtoend

import (
	"slices"
	"strings"
	"testing"
	"time"

	"vjob/api/wire"
	"vjob/cluster"
	"vjob/daemon/settings"
	"vjob/tests/lab"
)

// Two busy VMs share the only processor of a node, beside two idle nodes. Their weights are those of their shares; the
// daemon sees that they demand two processors, moves one of them while it runs, and leaves both alone then.
func TestBusyNodeIsRelieved(t *testing.T) {
	b := setUp(t, lab.Options{Locks: true, ImageDiskMiB: 512})
	b.d.stop()
	b.d.configure(b.lab, func(s *settings.Settings) {
		for i := range s.Nodes {
			s.Nodes[i].CPU.MilliCPU = cluster.CPU
		}
		s.Balance.When, s.Balance.Every.Duration = "always", 2*time.Second
		s.Approval.Balance = "manual" // so that the test sees the weights first
	})
	b.d.start()
	h1, h2, h3 := b.lab.Hosts()[0], b.lab.Hosts()[1], b.lab.Hosts()[2]
	b.run("a busy VM leaves a busy node", func(b systemTest) {
		b.drain(h2, h3)
		high, low := b.busy("high"), b.busy("low")
		for _, id := range []int64{high, low} {
			b.state(id, "running")
			b.more(id, 3)
			b.must(b.lab.Squeeze(h1, vm(id, 0)))
		}
		b.online(h2, h3)
		b.until("both demand a processor", func() bool { return b.demand(h1) >= 1800 })
		if lab.CanCap() {
			b.until("the weights are those of the shares", func() bool { return b.weights(h1, high, low) })
		}
		move := b.proposed()
		b.Logf("recommendation %d: %s", move.ID, move.Reason)
		_, err := b.d.client.Approve(b.Context(), move.ID)
		b.must(err)
		var moved int64
		b.until("one of them leaves", func() bool {
			for _, id := range []int64{high, low} {
				if job := b.job(id); job.State == "running" && job.VMs[0].Node != string(h1) && job.VMs[0].NextNode == "" {
					moved = id
				}
			}
			return moved != 0
		})
		for _, a := range b.plan(moved, "migrate").Actions {
			if a.Kind == "migrate" && (!a.Live || a.State != "done") {
				b.Errorf("%s of %s: live %t, %s", a.Kind, a.VM, a.Live, a.State)
			}
		}
		b.runsOn(moved, h2, h3)
		b.runsOn(high+low-moved, h1)
		for _, id := range []int64{high, low} {
			b.more(id, 3)
			b.gapless(id)
		}
		b.until("the node has what its VM demands", func() bool { return b.demand(h1) <= 1200 })
		searched := *b.balanced().At
		b.until("later searches find nothing to move", func() bool { return b.balanced().At.After(searched.Add(5 * time.Second)) })
		if open := b.open(); len(open) > 0 {
			b.Errorf("later searches found %+v", open)
		}
	})
	b.d.stop()
}

// busy submits a vjob of one VM that is always busy, with half a processor reserved.
func (b systemTest) busy(shares string) int64 {
	b.Helper()
	job, _, err := b.d.client.Submit(b.Context(), wire.Submission{
		Name: shares, Terms: wire.Terms{Terms: cluster.Terms{Shares: shares}},
		VMs: []wire.VMSpec{{CPUMilli: 500, MemoryMiB: 32, Command: strings.Fields("tick=200 spin=1")}},
	}, "")
	b.must(err)
	return job.ID
}

// demand is what the VMs of a node demand, in thousandths of a processor.
func (b systemTest) demand(node cluster.NodeID) int64 {
	b.Helper()
	list, err := b.d.client.Nodes(b.Context())
	b.must(err)
	at := slices.IndexFunc(list.Nodes, func(n wire.Node) bool { return n.Name == string(node) })
	return list.Nodes[at].DemandCPUMilli
}

// weights reports whether the control group of one VM has at least twice the weight of the other.
func (b systemTest) weights(node cluster.NodeID, high, low int64) bool {
	b.Helper()
	x, errX := b.lab.Shares(node, vm(high, 0))
	y, errY := b.lab.Shares(node, vm(low, 0))
	b.Logf("weights %d and %d", x, y)
	return errX == nil && errY == nil && y > 0 && x >= 2*y
}

// open lists the recommendations that wait for approval.
func (b systemTest) open() []wire.Recommendation {
	b.Helper()
	list, err := b.d.client.Recommendations(b.Context(), "", "pending", 100)
	b.must(err)
	return list.Recommendations
}

// proposed waits for a recommendation of moves.
func (b systemTest) proposed() (found wire.Recommendation) {
	b.Helper()
	b.until("a move is recommended", func() bool {
		for _, r := range b.open() {
			found = r
		}
		return found.ID != 0
	})
	return found
}

func (b systemTest) balanced() wire.Balance {
	b.Helper()
	found, err := b.d.client.Balance(b.Context())
	b.must(err)
	return found
}
