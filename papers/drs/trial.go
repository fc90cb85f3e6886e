package drs

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"vjob/cluster"
	"vjob/energy/dpm"
	"vjob/scheduler/balance"
	"vjob/scheduler/balance/whatif"
)

// trial is a cluster in which VMs are balanced, in steps of [stride]: the experiments of tables 1 and 2 and of figures 8
// to 13. A thousand of CPU is one processor, and memory is in MiB.
type trial struct {
	hosts    []balance.Node
	guests   []guest
	pools    []share // of the guests; empty if all guests are alike
	length   time.Duration
	first    time.Duration // the first round
	demand   func(at time.Duration, vm int) int64
	settings *balance.Settings // nil: nothing moves
	power    *dpm.Settings     // nil: all hosts stay on
	seed     uint64
}

// guest is a VM.
type guest struct {
	host, pool   int
	memory, size int64 // its demand, constant, and what is copied
}

// share is a pool.
type share struct {
	name   string
	shares int64
}

const (
	stride   = 10 * time.Second
	interval = 5 * time.Minute // between two rounds
	bootTime = 3 * time.Minute
)

// outcome is what came of a trial.
type outcome struct {
	migrations  int
	cpu, memory float64 // payload (eq. 7), in percent
	rounds      []roundSample
	samples     []sample
}

// roundSample is one round of balancing.
type roundSample struct {
	at     time.Duration
	before balance.Imbalance
	moves  int
}

// sample is the cluster at an instant.
type sample struct {
	at                time.Duration
	cpu, memory       []float64 // load of each host
	imbalance         balance.Imbalance
	happiness, happy  []float64 // by pool: mean part of the entitlement that is received; part of the VMs with 95 % of it
	payCPU, payMemory float64
}

// transfer is a migration.
type transfer struct {
	vm, to     int
	begin, end time.Duration
}

// trialRun is a trial under way.
type trialRun struct {
	*trial
	now       time.Duration
	where     []int
	need      []int64
	past      [][]int64 // demand of each VM by minute, latest last
	transfers []transfer
	visits    [][]visit
	state     []hostState
	history   *dpm.History
	wear      *rand.Rand
	outcome
}

type visit struct {
	host int
	at   time.Duration
}

// hostState is whether a host is on.
type hostState struct {
	off, leaving bool
	ready        time.Duration // when a host that comes on answers
}

// dpmStart is the instant at which a trial begins, for package dpm.
var dpmStart = time.Date(2026, time.January, 1, 8, 0, 0, 0, time.UTC)

func (t *trial) run() outcome {
	r := &trialRun{
		trial: t, need: make([]int64, len(t.guests)), past: make([][]int64, len(t.guests)), visits: make([][]visit, len(t.guests)),
		state: make([]hostState, len(t.hosts)), history: dpm.NewHistory(time.Hour), wear: rand.New(rand.NewPCG(t.seed, 0x3a)),
	}
	for i := range t.guests {
		r.where = append(r.where, t.guests[i].host)
	}
	steps := 0.0
	for ; r.now < t.length; r.now += stride {
		for i := range r.need {
			r.need[i] = t.demand(r.now, i)
		}
		r.land()
		if r.now%time.Minute == 0 {
			r.note()
		}
		if r.now >= t.first && (r.now-t.first)%interval == 0 {
			r.round()
		}
		r.account()
		steps++
	}
	last := &r.outcome
	last.cpu, last.memory = 100*last.cpu/steps, 100*last.memory/steps
	return *last
}

// note keeps the demands of the last hour.
func (r *trialRun) note() {
	samples := make([]dpm.Sample, len(r.need))
	for i, need := range r.need {
		r.past[i] = append(r.past[i], need)
		r.past[i] = r.past[i][max(0, len(r.past[i])-60):]
		samples[i] = dpm.Sample{VM: vmID(i), Node: hostID(r.where[i]), CPU: cluster.MilliCPU(need)}
	}
	r.history.Add(dpmStart.Add(r.now), samples)
}

func vmID(i int) cluster.VMID     { return cluster.VMID{VJob: cluster.VJobID(i + 1)} }
func hostID(i int) cluster.NodeID { return cluster.NodeID(fmt.Sprintf("h%03d", i)) }

// land completes migrations and switches off hosts that are empty.
func (r *trialRun) land() {
	r.transfers = slices.DeleteFunc(r.transfers, func(t transfer) bool {
		if r.now < t.end {
			return false
		}
		r.visits[t.vm] = append(r.visits[t.vm], visit{r.where[t.vm], r.now})
		r.where[t.vm] = t.to
		return true
	})
	for i := range r.state {
		if s := &r.state[i]; s.leaving && !slices.Contains(r.where, i) && !slices.ContainsFunc(r.transfers, func(t transfer) bool { return t.to == i }) {
			s.leaving, s.off = false, true
		}
	}
}

// cluster is the cluster as a round sees it, with the indices of its nodes.
func (r *trialRun) cluster() (c *balance.Cluster, index []int) {
	c, index = &balance.Cluster{}, make([]int, len(r.hosts))
	for i := range r.hosts {
		index[i] = -1
		if s := r.state[i]; !s.off && r.now >= s.ready {
			index[i] = len(c.Nodes)
			n := r.hosts[i]
			n.Leaving = s.leaving
			c.Nodes = append(c.Nodes, n)
		}
	}
	entitled := r.entitlements()
	for i := range r.guests {
		g := &r.guests[i]
		v := balance.VM{
			Name: vmID(i).String(), Node: index[r.where[i]], Size: g.size, Stable: r.stable(i),
			Demand: balance.Amounts{r.need[i], g.memory, 0}, Entitlement: balance.Amounts{entitled[i], g.memory, 0},
		}
		v.Least, v.Most = v.Demand, v.Demand
		for _, p := range r.past[i] {
			v.Least[0], v.Most[0] = min(v.Least[0], p), max(v.Most[0], p)
		}
		for _, l := range r.visits[i] {
			if at := index[l.host]; at >= 0 {
				v.Left = append(v.Left, balance.Visit{Node: at, Ago: r.now - l.at})
			}
		}
		c.VMs = append(c.VMs, v)
	}
	for _, t := range r.transfers {
		c.Flights = append(c.Flights, balance.Flight{VM: t.vm, To: index[t.to]})
	}
	return c, index
}

// stable is how long the demand of a VM is expected to stay: as long as it has been within a quarter of what it is, in
// minutes, but at least one and at most an hour.
func (r *trialRun) stable(vm int) time.Duration {
	past, now := r.past[vm], float64(r.need[vm])
	n := 0
	for n < len(past) {
		if p := float64(past[len(past)-1-n]); p < 0.75*now-20 || p > 1.25*now+20 {
			break
		}
		n++
	}
	return time.Duration(max(1, n)) * time.Minute
}

// round switches hosts and balances VMs.
func (r *trialRun) round() {
	if r.settings == nil {
		return
	}
	if r.power != nil {
		r.switchHosts()
	}
	c, index := r.cluster()
	round, err := r.settings.Round(c)
	if err != nil {
		panic(err) // the input is made above
	}
	var hosts []int
	for i, at := range index {
		if at >= 0 {
			hosts = append(hosts, i)
		}
	}
	ends := make([]time.Duration, len(round.Moves))
	free := make([]time.Duration, len(r.hosts))
	for k := range round.Moves {
		m := &round.Moves[k]
		from, to := hosts[m.From], hosts[m.To]
		begin := max(r.now, free[from], free[to])
		for _, before := range m.After {
			begin = max(begin, ends[before])
		}
		ends[k] = begin + m.Takes
		free[from], free[to] = ends[k], ends[k]
		r.transfers = append(r.transfers, transfer{m.VMs[0], to, begin, ends[k]})
	}
	r.migrations += len(round.Moves)
	r.rounds = append(r.rounds, roundSample{r.now, round.Before, len(round.Moves)})
}

// switchHosts lets power management switch hosts.
func (r *trialRun) switchHosts() {
	c := &dpm.Cluster{Now: dpmStart.Add(r.now), Where: dpm.Placement{}, Memory: map[cluster.VMID]cluster.MiB{}, History: r.history}
	for i, n := range r.hosts {
		h := dpm.Host{ID: hostID(i), Capacity: cluster.Resources{CPU: cluster.MilliCPU(n.Capacity[0]), Memory: cluster.MiB(n.Capacity[1])}, Since: dpmStart.Add(-time.Hour)}
		switch s := r.state[i]; {
		case s.off:
			h.State = dpm.Off
		case s.leaving:
			h.State, h.FixedReason = dpm.Off, "it is being emptied"
		case r.now < s.ready:
			h.State = dpm.Coming
		case s.ready > 0:
			h.Since = dpmStart.Add(s.ready)
		}
		h.Power.On.Time, h.Power.Off.Time = bootTime, time.Minute
		c.Hosts = append(c.Hosts, h)
	}
	for i, at := range r.where {
		c.Where[vmID(i)], c.Memory[vmID(i)] = hostID(at), cluster.MiB(r.guests[i].memory)
	}
	advice := r.power.Decide(c, whatif.Rebalance(*r.settings, r.power, c), r.wear)
	at := func(id cluster.NodeID) *hostState {
		return &r.state[slices.IndexFunc(c.Hosts, func(h dpm.Host) bool { return h.ID == id })]
	}
	for _, change := range advice.On {
		*at(change.Host) = hostState{ready: r.now + bootTime}
	}
	for _, change := range advice.Off {
		at(change.Host).leaving = true
	}
}
