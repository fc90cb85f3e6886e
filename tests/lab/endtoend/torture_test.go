//go:build libvirt_dlopen

package endtoend

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/daemon/settings"
	"vjob/tests/lab"
)

var (
	tortureSwitches = flag.Int("switches", 20, "how many switches TestTorture makes at least")
	tortureSeed     = flag.Uint64("seed", 1, "which orders and faults TestTorture draws")
	tortureLanes    = flag.Int("lanes", 1, "in how many labs side by side")
)

// shortTorture is the number of switches up to which no guest is large. Beyond it there is one
// in the first lane, which counts slowly: it reads much memory for each count.
const shortTorture = 100

// Gangs of guests that count are suspended, resumed and migrated by orders, and in each
// round one fault strikes: no guest is lost, runs twice or comes back with other memory, no
// gang is left half running, and no image is deleted that is still needed.
//
// The same seed gives the same orders and faults in the same order; when exactly a fault
// meets a switch is up to the machine.
func TestTorture(t *testing.T) {
	all := &torments{faults: map[string]int{}, holds: map[string]int{}}
	t.Run("lanes", func(t *testing.T) {
		for lane := range *tortureLanes {
			t.Run(fmt.Sprint(lane), func(t *testing.T) {
				t.Parallel()
				newTorture(t, lane, all).run((*tortureSwitches + *tortureLanes - 1) / *tortureLanes)
			})
		}
	})
	t.Logf("MEASURED: seed %d: %s", *tortureSeed, all)
	for _, name := range slices.Sorted(maps.Keys(all.faults)) {
		t.Logf("MEASURED: %d times %s", all.faults[name], name)
	}
	for _, reason := range slices.Sorted(maps.Keys(all.holds)) {
		t.Logf("held %d times: %s", all.holds[reason], reason)
	}
}

// torments are the totals of all lanes.
type torments struct {
	mu                                  sync.Mutex
	rounds, suspends, resumes, migrates int
	faults, holds                       map[string]int
	violations                          []string
}

// String returns the totals as text.
func (y *torments) String() string {
	y.mu.Lock()
	defer y.mu.Unlock()
	return fmt.Sprintf("%d switches (%d suspends, %d resumes, %d migrations) in %d rounds, %d violations",
		y.suspends+y.resumes+y.migrates, y.suspends, y.resumes, y.migrates, y.rounds, len(y.violations))
}

func (y *torments) change(f func()) {
	y.mu.Lock()
	defer y.mu.Unlock()
	f()
}

// torture is one lab and its gangs.
type torture struct {
	systemTest
	lane   int
	all    *torments
	random *rand.Rand
	faults []fault // those that are still to be drawn before all come again
	gangs  []*victim
	clock  *lab.Clock

	round, switches int
}

// victim is a gang that is switched.
type victim struct {
	gang
	id     int64
	rests  bool              // it is suspended
	images map[string]string // of the suspended gang, with their sums
	told   int               // the last event that was looked at
}

func newTorture(t *testing.T, lane int, all *torments) *torture {
	t.Helper()
	opts := lab.Options{Locks: true, SlowImages: true, ImageDiskMiB: 512}
	gangs := []gang{
		{name: "pair", vms: 2, mib: 40, words: "fill=12", rules: "continuous spread($VMS);"},
		{name: "trio", vms: 3, mib: 32, words: "fill=8"},
		{name: "four", vms: 4, mib: 32, words: "fill=4"},
	}
	if *tortureSwitches > shortTorture && lane == 0 {
		opts.ImageDiskMiB = 2560
		gangs = append(gangs, gang{name: "large", vms: 1, mib: 1100, words: "tick=1000 fill=1024"})
	}
	l := lab.Start(t, opts)
	d := newDaemon(t, l)
	d.configure(l, func(s *settings.Settings) {
		s.Limits.StoreLag.Duration = 5 * time.Second
		s.Libvirt.Emulator = l.Config().Emulator
		for i := range s.Nodes {
			s.Nodes[i].Memory.MiB = 2048
		}
	})
	tt := &torture{
		systemTest: systemTest{t, l, d, watch(t, l)}, lane: lane, all: all,
		random: rand.New(rand.NewPCG(*tortureSeed, uint64(lane))),
	}
	tt.startDaemon()
	tt.begin(gangs)
	return tt
}

// begin submits the gangs and waits until all their guests count.
func (tt *torture) begin(gangs []gang) {
	tt.Helper()
	tt.gangs = nil
	for _, g := range gangs {
		tt.gangs = append(tt.gangs, &victim{gang: g, id: tt.submit(g)})
	}
	for _, v := range tt.gangs {
		tt.state(v.id, "running")
		tt.more(v.id, 3)
	}
}

// startDaemon starts the daemon with a clock of its own, which is right.
func (tt *torture) startDaemon() {
	tt.Helper()
	tt.d.start()
	var err error
	tt.clock, err = lab.OwnClock(tt.d.cmd.Process.Pid)
	tt.must(err)
}

// run makes rounds until the number of switches is reached.
func (tt *torture) run(switches int) {
	tt.Helper()
	defer func() {
		if tt.Failed() {
			tt.Logf("vjobd:\n%s", tt.d.tail())
		}
	}()
	for tt.switches < switches {
		begun := time.Now()
		done := tt.one()
		tt.Logf("lane %d round %d: %s; %.1f s; %s", tt.lane, tt.round, done, time.Since(begun).Seconds(), tt.all)
	}
}

// one makes one round: orders, one fault, recovery and a check at rest.
func (tt *torture) one() string {
	tt.Helper()
	tt.round++
	orders := tt.drawOrders()
	f, node, early, length := tt.drawFault()
	delay := time.Duration(tt.random.IntN(2500)) * time.Millisecond
	if early && !f.daemon {
		f.strike(tt, node)
		tt.give(orders)
	} else {
		tt.give(orders)
		time.Sleep(delay)
		f.strike(tt, node)
	}
	time.Sleep(length)
	f.heal(tt, node)
	tt.all.change(func() { tt.all.rounds++; tt.all.faults[f.name]++ })
	rested := tt.rest(orders)
	for _, v := range tt.gangs {
		if broken := tt.check(v); broken != "" {
			tt.violate(v, fmt.Sprintf("after %s on %s: %s", f.name, node, broken))
			rested = false
		}
	}
	if !rested {
		tt.replace()
	}
	return fmt.Sprintf("%s: %s on %s for %s", orders, f.name, node, length)
}

// orders are the orders of one round.
type orders struct {
	suspend, resume []*victim
	drain           cluster.NodeID // "": none
	homes           map[int64]string
}

// String returns the orders as text.
func (o orders) String() string {
	names := func(list []*victim) string {
		var s []string
		for _, v := range list {
			s = append(s, v.name)
		}
		return strings.Join(s, " ")
	}
	return fmt.Sprintf("suspend [%s] resume [%s] drain [%s]", names(o.suspend), names(o.resume), o.drain)
}

// drawOrders draws what is done with each gang.
func (tt *torture) drawOrders() orders {
	o := orders{homes: map[int64]string{}}
	turned := tt.random.IntN(len(tt.gangs)) // this one at least is switched
	for i, v := range tt.gangs {
		switch change := tt.random.IntN(2) == 0 || v.rests; {
		case !change && i != turned:
		case v.rests:
			o.resume = append(o.resume, v)
		default:
			o.suspend = append(o.suspend, v)
		}
	}
	hosts := tt.lab.Hosts()
	host := hosts[tt.random.IntN(len(hosts))]
	if tt.random.IntN(4) > 0 {
		o.drain = host
	}
	return o
}

// give gives the orders, again and again until the daemon has taken them.
func (tt *torture) give(o orders) {
	tt.Helper()
	for _, v := range tt.gangs {
		o.homes[v.id] = tt.home(v)
	}
	if o.drain != "" {
		tt.drain(o.drain)
	}
	for _, v := range o.suspend {
		_, err := tt.d.client.Suspend(tt.Context(), v.id)
		tt.must(err)
		v.rests = true
	}
	for _, v := range o.resume {
		_, err := tt.d.client.Resume(tt.Context(), v.id)
		tt.must(err)
		v.rests = false
		v.images = nil
	}
}

// home is where the members of a gang are.
func (tt *torture) home(v *victim) string {
	var nodes []string
	for _, m := range tt.job(v.id).VMs {
		nodes = append(nodes, m.Node)
	}
	return strings.Join(nodes, " ")
}

func (tt *torture) violate(v *victim, what string) {
	tt.Helper()
	tt.all.change(func() { tt.all.violations = append(tt.all.violations, what) })
	tt.Errorf("VIOLATION in lane %d, round %d: %s, vjob %d: %s\n%s", tt.lane, tt.round, v.name, v.id, what, story(tt.job(v.id)))
}
