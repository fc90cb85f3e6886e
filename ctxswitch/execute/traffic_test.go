package execute_test

import (
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/gang"
	"vjob/hypervisor"
)

// The traffic of a VM is the rate of the busier direction between two looks a second or more apart. Counters that went
// back begin anew, and until then the rate stays.
func TestTraffic(t *testing.T) {
	l := world(job(1, 1, cluster.Running))
	l.Gangs = append(l.Gangs, at(1, gang.Active, "a"))
	d := newHarness(t, settings(), l)
	d.copies["a"][0].Traffic = hypervisor.Traffic{Received: 5_000_000}
	d.settle()
	vm := cluster.VMID{VJob: 1}
	if rate, known := d.exec.VMs.Traffic(vm); known {
		t.Errorf("after one look the rate is %d", rate)
	}
	for i, step := range []struct {
		after          time.Duration
		received, sent int64 // since the last step; -1: the counters begin anew
		want           cluster.Rate
	}{
		{10 * time.Second, 1000, 0, 100},
		{10 * time.Second, 1000, 4000, 400},
		{10 * time.Second, 0, 0, 0},
		{20 * time.Second, 500, 100, 25},
		{10 * time.Second, -1, -1, 25},
		{10 * time.Second, 70, 300, 30},
	} {
		c := &d.copies["a"][0].Traffic
		if c.Received, c.Sent = c.Received+step.received, c.Sent+step.sent; step.received < 0 {
			*c = hypervisor.Traffic{}
		}
		d.now = d.now.Add(step.after)
		d.exec.Hint(d.now, "a")
		d.settle()
		d.now = d.now.Add(time.Millisecond)
		c.Sent += 50 // right after a look
		d.exec.Hint(d.now, "a")
		d.settle()
		c.Sent -= 50
		if rate, known := d.exec.VMs.Traffic(vm); rate != step.want || !known {
			t.Errorf("step %d: %d, %t; want %d", i, rate, known, step.want)
		}
	}
	for _, unknown := range []cluster.VMID{{VJob: 9}, {VJob: 1, Rank: 7}} {
		if rate, known := d.exec.VMs.Traffic(unknown); known {
			t.Errorf("the rate of %s is %d", unknown, rate)
		}
	}
}
