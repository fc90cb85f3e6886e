// Package drs simulates the power management experiment of Ajay Gulati, Anne Holler, Minwen Ji,
// Ganesha Shanmuganathan, Carl Waldspurger and Xiaoyun Zhu, "VMware Distributed Resource
// Management: Design, Implementation, and Lessons Learned" (2012), table 3: days and nights of a
// cluster with and without switching hosts off.
//
// The demand of VMs is high by day and low by night, and package scheduler/balance moves them every
// few minutes. A VM is only a demand, without vjobs, queues and gangs. Its migration takes time, and CPU at both ends.
package drs

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"vjob/cluster"
	"vjob/energy"
	"vjob/energy/dpm"
	"vjob/energy/price"
	"vjob/scheduler/balance"
	"vjob/scheduler/balance/whatif"
)

// Config is what is simulated. A thousandth of a processor stands for 1 MHz, as the
// paper counts.
type Config struct {
	Hosts, VMs int
	Host       cluster.Resources // of each host
	Memory     cluster.MiB       // of each VM
	Power      energy.Power      // of each host
	Half       time.Duration     // of a day, and of a night
	Length     time.Duration     // of the whole; it begins with a day
	Every      time.Duration     // between two rounds of balancing and deciding
	Manage     *dpm.Settings     // nil: all hosts stay on
	Seed       uint64
	Start      time.Time     // when it begins; zero: some day at 8 o'clock
	Since      time.Duration // how much of a day, or of a day and a night, is over then
	Prices     *price.Series // of energy; nil if unknown
	Batch      Batch
}

// Paper is the configuration of the paper's experiment: 32 hosts, 200 VMs, 1200 to 2200 MHz by day,
// 500 to 1000 by night, rounds of five minutes. Other values are not in the paper and are common
// ones: hosts of 16 processors of 3 GHz and 96 GiB that draw 60 % of their full power when idle
// (§4.4 says "exceeds 60 %") and boot in three minutes.
var Paper = Config{
	Hosts: 32, VMs: 200, Host: cluster.Resources{CPU: 48_000, Memory: 96 * cluster.GiB}, Memory: 2 * cluster.GiB,
	Power: energy.Power{
		Idle: 180, Full: 300, Standby: 6,
		On:  energy.Switch{Time: 3 * time.Minute, Energy: energy.Watts(200).Over(3 * time.Minute)},
		Off: energy.Switch{Time: time.Minute, Energy: energy.Watts(180).Over(time.Minute)},
	},
	Half: 12 * time.Hour, Length: 48 * time.Hour, Every: 5 * time.Minute,
}

// Check says what is wrong with a configuration. The error names the field.
func (c *Config) Check() error {
	switch {
	case c.Hosts < 1 || c.Hosts > 10_000:
		return cluster.BadField("nodes", c.Hosts, "from 1 to 10000")
	case c.VMs < 1 || c.VMs > 100_000:
		return cluster.BadField("vms", c.VMs, "from 1 to 100000")
	case c.Host.CPU <= 0:
		return cluster.BadField("mhz", int64(c.Host.CPU), "more than 0")
	case cluster.MiB(c.VMs)*c.Memory > cluster.MiB(c.Hosts)*c.Host.Memory:
		return cluster.BadField("vms", c.VMs, fmt.Sprintf("at most %d: for more there is no memory", int64(cluster.MiB(c.Hosts)*c.Host.Memory/max(c.Memory, 1))))
	case c.Half < time.Hour || c.Length < c.Half || c.Length > 1000*time.Hour:
		return cluster.BadField("hours", c.Length, "at least half a day, and at most 1000 hours")
	case c.Every < time.Minute:
		return cluster.BadField("every", c.Every, "at least a minute")
	case c.Since < 0:
		return cluster.BadField("since", c.Since, "a time from 0s on")
	}
	if c.Prices != nil && !c.Prices.Covers(c.Start, c.Start.Add(c.Length)) {
		return cluster.BadField("hours", c.Length, "a time for which all prices are known")
	}
	if err := c.Batch.check(c); err != nil {
		return err
	}
	if field, value, want := c.Power.Fault(); field != "" {
		return cluster.BadField(field, value, want)
	}
	return nil
}

// Result is how it went.
type Result struct {
	Energy energy.Joules
	Cost   float64       // in what the unit of the prices counts
	Jobs   int           // of the batch that have run
	Waited time.Duration // by them all
	// Demand and Delivered are MHz·s: what the VMs needed, and got.
	Demand, Delivered float64
	Short             time.Duration // for how long any host could not give what was needed
	Migrations        int
	Offs, Ons         int
	HostHours         float64 // of hosts that were on
	Minutes           []Minute
}

// Minute is the cluster at one minute.
type Minute struct {
	At                time.Duration
	On                int     // hosts that run, or boot
	Demand, Delivered float64 // MHz
	Power             energy.Watts
}

// host is one host, and until when it is between off and on.
type host struct {
	dpm.Host
	ready time.Time // of Coming: when it answers; of Off: since when it draws its least
	// leaving hosts go off once their VMs have left.
	leaving bool
}

// run is a run in the making.
type run struct {
	Config
	chance  *rand.Rand // of demands: the same whatever is decided
	wear    *rand.Rand // which of equal hosts comes on
	start   time.Time
	now     time.Time
	hosts   []host
	where   dpm.Placement
	memory  map[cluster.VMID]cluster.MiB
	ids     []cluster.VMID
	needs   []float64
	jobs    [][]job // of the VMs that are jobs, which are the first ones
	past    *dpm.History
	flights []flight
	moving  map[cluster.NodeID]float64 // MHz·s of migrations in this minute
	Result
}

// Run simulates, in steps of a minute.
func Run(c Config) (Result, error) {
	if err := c.Check(); err != nil {
		return Result{}, err
	}
	if c.Manage != nil {
		if err := c.Manage.Check(); err != nil {
			return Result{}, err
		}
	}
	r := newRun(c)
	for r.now.Sub(r.start) < c.Length {
		at := r.now.Sub(r.start)
		if at%beat == 0 {
			r.draw()
		}
		r.settle()
		r.land()
		r.note()
		if at%c.Every == 0 && at > 0 {
			r.round()
		}
		r.migrate()
		r.account()
		r.now = r.now.Add(time.Minute)
	}
	return r.Result, nil
}

func newRun(c Config) *run {
	start := c.Start
	if start.IsZero() {
		start = time.Date(2026, time.January, 1, 8, 0, 0, 0, time.UTC)
	}
	r := &run{
		Config: c, chance: rand.New(rand.NewPCG(c.Seed, 0xd4)), wear: rand.New(rand.NewPCG(c.Seed, 0x3a)), start: start, now: start, where: dpm.Placement{},
		memory: map[cluster.VMID]cluster.MiB{}, past: dpm.NewHistory(dpm.Default.RiskWindow), moving: map[cluster.NodeID]float64{},
	}
	if c.Manage != nil {
		r.past = dpm.NewHistory(c.Manage.RiskWindow)
	}
	for i := range c.Hosts {
		r.hosts = append(r.hosts, host{Host: dpm.Host{
			ID: cluster.NodeID(fmt.Sprintf("n%04d", i+1)), Capacity: c.Host, Power: c.Power, Since: start.Add(-24 * time.Hour),
		}})
	}
	for i := range c.VMs {
		id := cluster.VMID{VJob: cluster.VJobID(i + 1)}
		r.ids, r.where[id], r.memory[id] = append(r.ids, id), r.hosts[i%c.Hosts].ID, c.Memory
	}
	r.needs = make([]float64, c.VMs)
	r.jobs = r.batch()
	return r
}

// draw gives every VM a new demand: by day evenly from 1200 to 2200 MHz, by night
// normally around 750 MHz, from 500 to 1000. Jobs need as much as by day, or nothing.
func (r *run) draw() {
	night := (r.now.Sub(r.start)+r.Since)/r.Half%2 == 1
	for i := range r.needs {
		r.needs[i] = 1200 + 1000*r.chance.Float64()
		if night && i >= len(r.jobs) {
			r.needs[i] = min(max(750+125*r.chance.NormFloat64(), 500), 1000)
		}
		if !r.working(i) {
			r.needs[i] = 0
		}
	}
}

// settle completes the starts of hosts that are due.
func (r *run) settle() {
	for i := range r.hosts {
		if h := &r.hosts[i]; h.State == dpm.Coming && !r.now.Before(h.ready) {
			h.State, h.Since = dpm.On, r.now
		}
	}
}

func (r *run) note() {
	samples := make([]dpm.Sample, len(r.ids))
	for i, id := range r.ids {
		samples[i] = dpm.Sample{VM: id, Node: r.where[id], CPU: cluster.MilliCPU(r.needs[i])}
	}
	r.past.Add(r.now, samples)
}

// round decides, and balances the VMs over the hosts that answer.
func (r *run) round() {
	c := dpm.Cluster{Now: r.now, Where: r.where, Memory: r.memory, History: r.past}
	for i := range r.hosts {
		h := r.hosts[i].Host
		if r.hosts[i].leaving {
			h.State, h.FixedReason = dpm.Off, "it is being emptied"
		}
		c.Hosts = append(c.Hosts, h)
	}
	set := dpm.Default
	if r.Manage != nil {
		set = *r.Manage
		advice := set.Decide(&c, whatif.Rebalance(balancing, &set, &c), r.wear)
		for _, change := range advice.On {
			h := r.host(change.Host)
			h.State, h.ready = dpm.Coming, r.now.Add(h.Power.On.Time)
			r.Ons++
		}
		for _, change := range advice.Off {
			r.host(change.Host).leaving = true
			r.Offs++
		}
	}
	r.balance(set.Demands(&c))
}

func (r *run) host(id cluster.NodeID) *host {
	return &r.hosts[slices.IndexFunc(r.hosts, func(h host) bool { return h.ID == id })]
}

// balancing are the settings of a round. The paper does not give the imbalance that it tolerates here; without hosts that
// go off its VMs do not move at all, so that it cannot be small. Hosts over their capacity are relieved all the same.
var balancing = func() balance.Settings {
	s := balance.Paper()
	s.Threshold, s.HotNodes = 0.2, true
	return s
}()

// balance starts the migrations of a round. Those of a host take place one after the other.
func (r *run) balance(demands map[cluster.VMID]float64) {
	in, index := &balance.Cluster{}, map[cluster.NodeID]int{}
	for i := range r.hosts {
		if h := &r.hosts[i]; h.State == dpm.On {
			index[h.ID] = len(in.Nodes)
			in.Nodes = append(in.Nodes, balance.Node{
				Name: string(h.ID), Leaving: h.leaving, Capacity: balance.Amounts{int64(h.Capacity.CPU), int64(h.Capacity.Memory), 0},
			})
		}
	}
	for i, id := range r.ids {
		now := balance.Amounts{int64(r.needs[i]), int64(r.memory[id]), 0}
		high := balance.Amounts{max(now[0], int64(demands[id])), now[1], 0}
		in.VMs = append(in.VMs, balance.VM{
			Name: id.String(), Node: index[r.where[id]], Entitlement: now, Demand: now, Most: high, Least: now,
			Reserved: balance.Amounts{0, int64(r.memory[id]), 0}, Stable: r.Every,
		})
	}
	for _, f := range r.flights {
		in.Flights = append(in.Flights, balance.Flight{VM: f.vm, To: index[f.to]})
	}
	round, err := balancing.Round(in)
	if err != nil {
		panic(err) // the input is made above
	}
	free := map[int]time.Time{}
	for i := range round.Moves {
		m := &round.Moves[i]
		begin := r.now
		for _, end := range []time.Time{free[m.From], free[m.To]} {
			begin = cluster.Later(begin, end)
		}
		end := begin.Add(m.Takes)
		free[m.From], free[m.To] = end, end
		r.Migrations++
		r.flights = append(r.flights, flight{vm: m.VMs[0], to: cluster.NodeID(in.Nodes[m.To].Name), begin: begin, end: end})
	}
}

// flight is a migration.
type flight struct {
	vm         int // index of the VM
	to         cluster.NodeID
	begin, end time.Time
}

// land completes the migrations that have ended, and counts the work of the others on both ends. Hosts that are empty
// then go off if they are to.
func (r *run) land() {
	r.flights = slices.DeleteFunc(r.flights, func(f flight) bool {
		if r.now.Before(f.end) {
			return false
		}
		r.where[r.ids[f.vm]] = f.to
		return true
	})
	inUse := map[cluster.NodeID]bool{}
	for _, at := range r.where {
		inUse[at] = true
	}
	for _, f := range r.flights {
		inUse[f.to] = true
	}
	for i := range r.hosts {
		if h := &r.hosts[i]; h.leaving && !inUse[h.ID] {
			h.leaving, h.State, h.ready = false, dpm.Off, r.now.Add(h.Power.Off.Time)
		}
	}
}

// migrate counts the CPU that migrations take in this minute, on both ends.
func (r *run) migrate() {
	clear(r.moving)
	next := r.now.Add(time.Minute)
	for _, f := range r.flights {
		begin, end := cluster.Later(f.begin, r.now), f.end
		if end.After(next) {
			end = next
		}
		if work := float64(balancing.MigrateCPU) * end.Sub(begin).Seconds(); work > 0 {
			r.moving[r.where[r.ids[f.vm]]] += work
			r.moving[f.to] += work
		}
	}
}

// account adds up one minute.
func (r *run) account() {
	m := Minute{At: r.now.Sub(r.start)}
	need := map[cluster.NodeID]float64{}
	for i, id := range r.ids {
		need[r.where[id]] += r.needs[i]
		m.Demand += r.needs[i]
	}
	short := false
	for i := range r.hosts {
		h := &r.hosts[i]
		if h.State != dpm.Off {
			m.On++
		}
		capacity := float64(h.Capacity.CPU)
		got := min(need[h.ID], capacity)
		m.Delivered += got
		short = short || need[h.ID] > capacity
		m.Power += r.draws(h, got/capacity)
	}
	r.Energy += m.Power.Over(time.Minute)
	r.Cost += r.cost(m.Power.Over(time.Minute))
	r.HostHours += float64(m.On) / 60
	r.Demand += m.Demand * 60
	r.Delivered += m.Delivered * 60
	if short {
		r.Short += time.Minute
	}
	r.Minutes = append(r.Minutes, m)
}

// draws is what a host draws in this minute.
func (r *run) draws(h *host, load float64) energy.Watts {
	between := func(s energy.Switch) energy.Watts { return energy.Watts(float64(s.Energy) / s.Time.Seconds()) }
	switch {
	case h.State == dpm.On:
		return h.Power.At(min(1, load+r.moving[h.ID]/60/float64(h.Capacity.CPU)))
	case h.State == dpm.Coming && r.now.Before(h.ready):
		return between(h.Power.On)
	case r.now.Before(h.ready):
		return between(h.Power.Off)
	default:
		return h.Power.Standby
	}
}
