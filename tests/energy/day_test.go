package energy_test

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/ctxswitch/execute"
	"vjob/ctxswitch/journal"
	"vjob/daemon/settings"
	"vjob/energy"
	"vjob/energy/budget"
	"vjob/energy/price"
	"vjob/hypervisor/simulated"
	"vjob/queue"
	"vjob/scheduler"
	"vjob/scheduler/admission"
	"vjob/scheduler/decide"
	"vjob/sim/simclock"
	"vjob/sim/swf"
	"vjob/tests/simstore"
)

// The day is the busiest of a part of the log KTH-SP2: 100 processors, here 25 nodes of
// four, each job a gang of VMs of one processor and 256 MiB. Its owner is content with
// six tenths of the CPU.
const (
	dayNodes  = 25
	dayLog    = "../traces/testdata/swf/KTH-SP2.swf.gz"
	dayMemory = 256
	dayFloor  = 0.6
	dayMargin = 10 * time.Minute // of walltimes, for booting
)

var dayPower = energy.Power{Idle: 60, Full: 300}

// day is one run.
type day struct {
	t        *testing.T
	cluster  *simulated.Cluster
	shell    *simclock.Shell
	store    *simstore.Store
	book     *budget.Schedule
	prices   *price.Series                   // stated as the day begins; nil: none
	flexible time.Duration                   // of every vjob
	power    map[cluster.NodeID]energy.Power // of nodes that differ from dayPower

	most          energy.Watts // drawn at any instant
	joules        energy.Joules
	since         time.Time
	watts         energy.Watts
	above         int
	switches      int
	suspensions   int
	capped        int
	got, wanted   time.Duration
	energyOfVJobs int64
}

// busiest returns the jobs of the day with the most work, by the time of submission.
func busiest(t *testing.T) []swf.Job {
	t.Helper()
	return dayOf(t, 0)
}

// dayOf returns the jobs of the day with a rank among the days by work; 0 is the busiest.
func dayOf(t *testing.T, rank int) []swf.Job {
	t.Helper()
	in, err := os.Open(dayLog)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = in.Close() }()
	log, err := swf.Read(in, 0)
	if err != nil {
		t.Fatal(err)
	}
	const long = 24 * 60 * 60
	work := map[int64]int64{}
	for _, j := range log.Jobs {
		work[j.Submit/long] += min(j.Run, long) * j.Processors
	}
	days := slices.SortedFunc(maps.Keys(work), func(a, b int64) int { return cmp.Or(cmp.Compare(work[b], work[a]), cmp.Compare(a, b)) })
	best := days[rank]
	var jobs []swf.Job
	for _, j := range log.Jobs {
		if j.Submit/long == best {
			j.Submit -= best * long
			jobs = append(jobs, j)
		}
	}
	return jobs
}

func newDay(t *testing.T, policy queue.Policy, prices *price.Series, lines ...budget.Budget) *day {
	t.Helper()
	book, err := budget.New(time.UTC, lines)
	if err != nil {
		t.Fatal(err)
	}
	d := &day{t: t, store: simstore.Open(t), book: book, prices: prices}
	config, power := simulated.Config{Profile: simulated.Thesis, Locks: true, Seed: 1}, map[cluster.NodeID]energy.Power{}
	for i := range dayNodes {
		id := cluster.NodeID(fmt.Sprintf("n%02d", i+1))
		config.Nodes = append(config.Nodes, simulated.Node{ID: id, Capacity: cluster.Resources{CPU: 4 * cluster.CPU, Memory: 4 * cluster.GiB}})
		power[id] = dayPower
	}
	d.cluster = simulated.New(config)
	e := execute.DefaultSettings
	e.Costs = settings.SimulatedCosts(simulated.Thesis)
	d.since = d.cluster.Now()
	d.shell, err = simclock.New(simclock.Config{
		Settings: scheduler.Settings{
			Settings: decide.Settings{
				Execute: e, Policy: policy, Planner: ctxswitch.Repacker{}, Backoff: 5 * time.Second, Live: true,
				Energy: decide.Energy{Power: power, ShiftSaves: 0.05},
			},
			Rest: time.Second, Budgets: book, Prices: prices,
		},
		Cluster: d.cluster, Store: d.store,
		Committed: func(_ time.Time, step journal.Step) { d.committed(&step) },
	})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func (d *day) committed(step *journal.Step) {
	d.switches += len(step.Plans)
	for _, p := range step.Plans {
		for _, g := range p.Plan.Gangs {
			if g.Kind == cluster.Suspend {
				d.suspensions++
			}
		}
	}
	for _, i := range step.Intents {
		if i.Call.Verb.String() == "tune" {
			d.capped++
		}
	}
	for _, u := range step.Usage {
		d.got, d.wanted, d.energyOfVJobs = d.got+u.CPU, d.wanted+u.Wanted, d.energyOfVJobs+u.Joules
	}
}

// look compares what the nodes truly draw with the budget.
func (d *day) look() {
	now := d.cluster.Now()
	d.joules += d.watts.Over(now.Sub(d.since))
	d.since, d.watts = now, 0
	for _, n := range d.cluster.Truth().Nodes {
		d.watts += d.draws(&n)
	}
	d.most = max(d.most, d.watts)
	for _, l := range d.book.At(now) {
		if d.watts > l.Watts+1e-6 {
			if d.above++; d.above <= 5 {
				d.t.Errorf("%s: %s are drawn, the budget is %s", now.Format("15:04:05.000"), d.watts, l.Watts)
			}
		}
	}
}

// until runs until an instant, and checks the cluster after every event.
func (d *day) until(to time.Time) {
	d.t.Helper()
	for {
		more, err := d.shell.Step(to)
		if err != nil {
			d.t.Fatal(err)
		}
		d.look()
		if !more {
			return
		}
	}
}

// run submits the jobs of a day and lets all of them come to their ends.
func (d *day) run(jobs []swf.Job) (long time.Duration) {
	d.t.Helper()
	start := d.cluster.Now()
	for i, j := range jobs {
		d.until(start.Add(time.Duration(j.Submit) * time.Second))
		sub := admission.Submission{Owner: "u", Name: fmt.Sprintf("j%d", i), VMs: make([]cluster.VM, j.Processors)}
		sub.MinShare = dayFloor
		sub.Flexible = cluster.Seconds(d.flexible)
		if d.prices != nil || d.power != nil {
			sub.Walltime = time.Duration(j.Walltime)*time.Second + dayMargin
		}
		for rank := range sub.VMs {
			sub.VMs[rank] = cluster.VM{
				Reserved: cluster.Resources{CPU: cluster.CPU, Memory: dayMemory},
				Payload: &cluster.Payload{Image: "simulated", Program: &cluster.Program{
					Steps: []cluster.Step{{CPU: cluster.CPU, Duration: time.Duration(j.Run) * time.Second}},
				}},
			}
		}
		if _, err := d.shell.Submit(sub); err != nil {
			d.t.Fatal(err)
		}
	}
	for end := start.Add(14 * 24 * time.Hour); d.shell.Snapshot().VJobs.Len() > 0; {
		now := d.cluster.Now()
		if now.After(end) {
			for id, j := range d.shell.Snapshot().VJobs.All() {
				d.t.Logf("vjob %s is %s: %s", id, j.State, j.Reason)
			}
			d.t.Fatalf("%d vjobs have not ended after %s", d.shell.Snapshot().VJobs.Len(), now.Sub(start))
		}
		d.until(now.Add(10 * time.Minute))
	}
	return d.cluster.Now().Sub(start)
}

var whole = flag.Bool("full", false, "the whole day, under several policies, with a table of figures")

// A day under a budget that halves at night: at no event more is drawn than the budget
// allows, and everything comes to its end. Without -full it is a quarter of the jobs.
func TestADayUnderABudget(t *testing.T) {
	jobs := busiest(t)
	full := energy.Watts(dayNodes) * dayPower.Full
	night := []budget.Budget{{Watts: full}, {Watts: full / 2, When: "18:00-08:00"}}
	runs := []struct {
		name   string
		policy queue.Policy
		lines  []budget.Budget
	}{
		{"firstfit", queue.FirstFit{Count: queue.Observed}, night},
		{"firstfit, no budget", queue.FirstFit{Count: queue.Observed}, nil},
		{"easy", queue.EASY{}, night},
		{"easy, no budget", queue.EASY{}, nil},
	}
	if !*whole {
		jobs, runs = jobs[:len(jobs)/4], runs[:1]
		night[1].When = "04:00-09:00,11:00-14:00" // when these run
	}
	t.Log("| policy | all jobs done | drawn at most | energy | above | context switches | suspensions | caps | yield |")
	for _, c := range runs {
		d := newDay(t, c.policy, nil, c.lines...)
		long := d.run(jobs)
		t.Logf("| %s | %s | %s | %.0f kWh | %d | %d | %d | %d | %.3f |", c.name, long.Round(time.Minute), d.most, d.joules.KWh(), d.above,
			d.switches, d.suspensions, d.capped, min(1, float64(d.got)/float64(d.wanted)))
		if c.lines != nil && (d.suspensions == 0 || d.capped == 0) {
			t.Errorf("%s: %d suspensions and %d caps: the budget was none", c.name, d.suspensions, d.capped)
		}
	}
}
