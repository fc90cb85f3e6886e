package execute_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/gang"
	"vjob/hypervisor"
)

// pair is two vjobs of three VMs on a node of 4 CPU, the first with a walltime of ten
// minutes.
func pair(t *testing.T, change ...func(*cluster.VJob)) *harness {
	t.Helper()
	l := world(job(1, 3, cluster.Running), job(2, 3, cluster.Running))
	l.VJobs[0].Walltime = 10 * time.Minute
	for _, f := range change {
		f(l.VJobs[0])
	}
	l.Gangs = append(l.Gangs, at(1, gang.Active, "a", "a", "a"), at(2, gang.Active, "a", "a", "a"))
	d := newHarness(t, settings(), l)
	d.settle()
	return d
}

// needs has the VMs of both vjobs need so much, in their order, as a look shows at once.
func (d *harness) needs(cpu ...cluster.MilliCPU) {
	d.t.Helper()
	for i := range d.copies["a"] {
		d.copies["a"][i].CPU = cpu[i]
	}
	d.exec.Hint(d.now, "a")
	d.settle()
}

// ran is what counts of the running time of vjob 1, and what does not.
func (d *harness) ran() (counts, crowded time.Duration) {
	r, _ := d.exec.Job(1)
	return r.Ran, r.Crowded
}

func TestAWalltimeStandsStillOnCrowdedNodes(t *testing.T) {
	for _, c := range []struct {
		name  string
		needs []cluster.MilliCPU
		stays bool // the walltime does
	}{
		{"all want more than there is", []cluster.MilliCPU{1000, 1000, 1000, 1000, 1000, 0}, true},
		{"there is enough", []cluster.MilliCPU{1000, 1000, 0, 1000, 0, 0}, false},
		{"all CPU is used by the VMs that have reserved it", []cluster.MilliCPU{1000, 1000, 0, 1000, 1000, 0}, false},
		{"next to all is used by more than have reserved it", []cluster.MilliCPU{800, 800, 800, 800, 790, 0}, true},
		{"98 of 100 is next to all", []cluster.MilliCPU{784, 784, 784, 784, 784, 0}, true},
		{"less is not", []cluster.MilliCPU{784, 784, 784, 784, 783, 0}, false},
		{"all that is there is reserved, and more is wanted", []cluster.MilliCPU{2000, 1000, 1000, 1000, 0, 0}, true},
		{"some idle", []cluster.MilliCPU{1000, 1000, 950, 950, 50, 50}, false},
		{"only others want more", []cluster.MilliCPU{0, 95, 0, 1500, 1500, 1500}, false},
		{"a tenth of what is reserved is wanted", []cluster.MilliCPU{0, 100, 0, 1500, 1500, 1500}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := pair(t)
			d.needs(c.needs...)
			d.pass(time.Minute)
			counts, crowded := d.ran()
			if stays := crowded > 0; stays != c.stays || counts+crowded != time.Minute || counts > 0 == stays {
				t.Errorf("%s count, %s do not", counts, crowded)
			}
		})
	}
}

// A vjob on crowded nodes ends at twice its walltime or ten minutes late at the latest, and a
// vjob with a reservation at the end of that.
func TestHowLongAWalltimeStandsStill(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*cluster.VJob)
		ends   time.Duration
	}{
		{"any", func(*cluster.VJob) {}, 20 * time.Minute},
		{"a short one", func(j *cluster.VJob) { j.Walltime = time.Minute }, 11 * time.Minute},
		{"with a reservation", func(j *cluster.VJob) { j.Reservation = start }, 10 * time.Minute},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := pair(t, c.change)
			d.needs(1000, 1000, 1000, 1000, 1000, 1000)
			if got := d.exec.Walltimes.Next().Sub(start); got != c.ends {
				t.Errorf("it is to end after %s, want %s", got, c.ends)
			}
			d.pass(c.ends - time.Second)
			if over := d.exec.Walltimes.Overdue(); len(over) > 0 {
				t.Error("it is over a second too soon")
			}
			d.pass(time.Second)
			if over := d.exec.Walltimes.Overdue(); len(over) != 1 {
				t.Errorf("over are %v", over)
			}
		})
	}
}

// Whatever the VMs need, each second of running either counts or does not, the end is
// known beforehand, and what is written down is what a restart goes on from.
func TestCrowdsComeAndGo(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	for range 100 {
		d := pair(t)
		var counts, crowded time.Duration
		for counts < 10*time.Minute {
			var needs []cluster.MilliCPU
			var first, all cluster.MilliCPU
			for rank := range 6 {
				need := cluster.MilliCPU(1000 * rng.IntN(2))
				needs, all = append(needs, need), all+need
				if rank < 3 {
					first += need
				}
			}
			d.needs(needs...)
			span, stays := time.Duration(1+rng.IntN(90))*time.Second, first > 0 && all > 4000
			still := min(span, 10*time.Minute-crowded)
			if !stays {
				still = 0
			}
			end := d.now.Add(10*time.Minute - counts)
			if stays {
				end = end.Add(10*time.Minute - crowded)
			}
			if got := d.exec.Walltimes.Next(); !got.Equal(end) {
				t.Fatalf("it is to end at %s, want %s", got, end)
			}
			d.pass(span)
			counts, crowded = counts+span-still, crowded+still
			if c, s := d.ran(); c != counts || s != crowded {
				t.Fatalf("%s count and %s do not, want %s and %s", c, s, counts, crowded)
			}
		}
		if over := d.exec.Walltimes.Overdue(); len(over) != 1 {
			t.Fatalf("over are %v", over)
		}
		if err := d.exec.Clear(d.now, 1, gang.ThenExpire, cluster.Because("over")); err != nil {
			t.Fatal(err)
		}
		d.settle()
		if u := d.usage(); u.Crowded != crowded || u.Running != counts+crowded {
			t.Fatalf("written are %s of %s, want %s of %s", u.Crowded, u.Running, crowded, counts+crowded)
		}
	}
}

// A restart goes on from what was written.
func TestACrowdAfterARestart(t *testing.T) {
	l := world(job(1, 3, cluster.Running), job(2, 3, cluster.Running))
	l.VJobs[0].Walltime = 10 * time.Minute
	l.Gangs = append(l.Gangs, at(1, gang.Active, "a", "a", "a"), at(2, gang.Active, "a", "a", "a"))
	l.Ran, l.Crowded = map[cluster.VJobID]time.Duration{1: 4 * time.Minute}, map[cluster.VJobID]time.Duration{1: 7 * time.Minute}
	d := newHarness(t, settings(), l)
	d.settle()
	if got := d.exec.Walltimes.Next().Sub(start); got != 9*time.Minute {
		t.Errorf("it is to end after %s: 6 min of its walltime are left, and 3 for which that may stand still", got)
	}
}

// What may not use more than its cap wants no more.
func TestCapsKeepNodesFromCrowding(t *testing.T) {
	for most, stays := range map[cluster.MilliCPU]bool{0: true, 1: false, 600: false, 900: true} {
		d := pair(t)
		for i := range d.copies["a"] {
			d.copies["a"][i].Cap = most
		}
		d.needs(1000, 1000, 1000, 1000, 1000, 1000)
		if r, _ := d.exec.Job(1); r.Short != stays {
			t.Errorf("under caps of %s its members go short: %t", most, r.Short)
		}
	}
}

// A VM that has reserved no CPU goes short when it wants any.
func TestACrowdOfVMsThatHaveReservedNothing(t *testing.T) {
	for need, stays := range map[cluster.MilliCPU]bool{0: false, 1: true} {
		d := pair(t, func(j *cluster.VJob) {
			for rank := range j.VMs {
				j.VMs[rank].Reserved.CPU = 0
			}
		})
		d.needs(0, need, 0, 1500, 1500, 1500)
		if r, _ := d.exec.Job(1); r.Short != stays {
			t.Errorf("wanting %s its members go short: %t", need, r.Short)
		}
	}
}

// The time before a node was seen to be crowded counts, and nothing is written because of it.
func TestACrowdBeginsWhenItIsSeen(t *testing.T) {
	d := pair(t)
	d.needs(1000, 0, 0, 0, 0, 0)
	d.now = d.now.Add(50 * time.Second)
	d.needs(1000, 1000, 1000, 1000, 1000, 1000)
	if counts, crowded := d.ran(); counts != 50*time.Second || crowded != 0 || d.usage().Running != 0 {
		t.Errorf("%s count, %s do not, %s are written", counts, crowded, d.usage().Running)
	}
	d.now = d.now.Add(5 * time.Second)
	d.needs(1000, 1000, 0, 0, 0, 0)
	if counts, crowded := d.ran(); counts != 50*time.Second || crowded != 5*time.Second {
		t.Errorf("%s count, %s do not", counts, crowded)
	}
}

// A vjob may end while its crowded node is off, and is missed by nothing when the node is back.
func TestACrowdThatEnds(t *testing.T) {
	d := pair(t)
	d.needs(1000, 1000, 1000, 1000, 1000, 1000)
	d.dead["a"] = true
	d.exec.Hint(d.now, "a")
	d.settle()
	if err := d.exec.Clear(d.now, 2, gang.ThenTerminate, cluster.Because("deleted")); err != nil {
		t.Fatal(err)
	}
	d.exec.PowerStates.Set(d.now, "a", time.Minute, 0)
	d.settle()
	if _, live := d.exec.Job(2); live {
		t.Fatal("vjob 2 is live")
	}
	d.dead["a"] = false
	d.needs(1000, 1000, 1000, 0, 0, 0)
	if r, _ := d.exec.Job(1); r.Short {
		t.Error("the members of vjob 1 go short on a node of their own")
	}
}

// Members that leave a crowded node, or stand still there, are not short any more.
func TestACrowdThatLeaves(t *testing.T) {
	d := pair(t)
	d.needs(1000, 1000, 1000, 1500, 1500, 1500)
	for rank := range 3 {
		d.copies["a"][rank].State = hypervisor.CopyPaused
	}
	d.exec.Hint(d.now, "a")
	d.settle()
	d.pass(time.Minute)
	if _, crowded := d.ran(); crowded > 0 {
		t.Errorf("%s do not count", crowded)
	}
}

// A node that is given more CPU is not crowded from then on, before it is looked at.
func TestACrowdOnANodeThatGrows(t *testing.T) {
	d := pair(t)
	d.needs(1000, 1000, 1000, 1000, 1000, 1000)
	n, _ := d.exec.Node("a")
	for cpu, short := range map[cluster.MilliCPU]bool{6000: false, 5000: true} {
		n.Capacity.CPU = cpu
		d.exec.SetNode(d.now, n.Node)
		if r, _ := d.exec.Job(1); r.Short != short {
			t.Errorf("with %s CPU its members go short: %t", cpu, r.Short)
		}
	}
}
