package oar_test

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"vjob/api"
	"vjob/api/oarapi"
	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/ctxswitch/execute"
	"vjob/hypervisor/simulated"
	"vjob/oar"
	oaradmission "vjob/oar/admission"
	"vjob/oar/request"
	"vjob/oar/script"
	"vjob/queue"
	"vjob/queue/fairshare"
	"vjob/queue/multifactor"
	"vjob/queue/ordering"
	"vjob/queue/quota"
	"vjob/scheduler"
	"vjob/scheduler/admission"
	"vjob/scheduler/decide"
	"vjob/sim/simclock"
	"vjob/tests/simstore"
)

// simulation is the scheduler of the daemon in virtual time, with submissions by oarsub's options. Its
// schedule is reproducible to the second.
type simulation struct {
	t     *testing.T
	nodes []cluster.Node
	shell *simclock.Shell
	store *labelled
	site  oaradmission.Site
	began time.Time
	jobs  map[cluster.VJobID]*cluster.VJob
}

// labelled is a store with the labels of the nodes, which the simulated cluster lacks.
type labelled struct {
	*simstore.Store
	nodes []cluster.Node
}

// SaveNodes stores the nodes with their labels.
func (s *labelled) SaveNodes(ctx context.Context, _ []cluster.Node) ([]cluster.NodeID, error) {
	return s.Store.SaveNodes(ctx, s.nodes)
}

// job returns a stored vjob.
func (s *labelled) job(id cluster.VJobID) *cluster.VJob {
	kept, _ := s.VJob(id)
	return kept.VJob
}

// pause is the time between two passes. The first pass is over when the plant is ready, so the next
// considers all submissions until then together, as OAR does.
const pause = 10 * time.Millisecond

// newSimulation starts a scheduler that leaves a gap after each job.
func newSimulation(t *testing.T, nodes []cluster.Node, gap time.Duration, quotas ...quota.Quota) *simulation {
	t.Helper()
	policy, err := oaradmission.Compile(oaradmission.ForVMs())
	if err != nil {
		t.Fatal(err)
	}
	p := &simulation{t: t, nodes: nodes, jobs: map[cluster.VJobID]*cluster.VJob{}, site: oaradmission.Site{
		Request: request.DefaultConfig(), Policy: policy,
		Queues: []string{"admin"}, Image: "simulated", Images: map[string]string{"simulated": "simulated"},
	}}
	p.store = &labelled{simstore.Open(t), nodes}
	rules := oarOrdering(t, quotas)
	config := simulated.Config{Profile: simulated.Lab}
	for _, n := range nodes {
		config.Nodes = append(config.Nodes, simulated.Node{ID: n.ID, Capacity: n.Capacity})
	}
	p.shell, err = simclock.New(simclock.Config{
		Settings: scheduler.Settings{
			Settings: decide.Settings{
				Execute: execute.DefaultSettings, Policy: queue.WithGap{Policy: rules.Policy(), Gap: gap}, Ordering: &rules,
				Reservations: decide.ReservationSettings{Horizon: 365 * 24 * time.Hour, Margin: time.Minute},
				Planner:      ctxswitch.Repacker{}, Backoff: 5 * time.Second,
			},
			Rest: pause,
		},
		Cluster: simulated.New(config), Store: p.store,
	})
	if err != nil {
		t.Fatal(err)
	}
	p.began = p.shell.Now()
	return p
}

// oarOrdering returns the queues of OAR, with conservative backfilling, in the order of queue priority and
// submission.
func oarOrdering(t *testing.T, quotas []quota.Quota) ordering.Settings {
	t.Helper()
	list, err := ordering.NewQueues([]ordering.Queue{{Name: "default", Policy: queue.Conservative{}}, {Name: "admin", Priority: 10, Policy: queue.Conservative{}}}, "default")
	if err != nil {
		t.Fatal(err)
	}
	book, err := quota.New(quotas, list.Names())
	if err != nil {
		t.Fatal(err)
	}
	return ordering.Settings{
		Queues: list, Quotas: book, Rank: multifactor.Settings{Weights: multifactor.Weights{Queue: 1}, OldAge: time.Hour, Horizon: time.Hour},
		Shares:   fairshare.Settings{HalfLife: 24 * time.Hour, CPU: 1, Share: 1},
		Projects: ordering.Projects{{Name: "yop", Users: []string{"each"}}, {Name: "projA", Users: []string{"each"}}},
	}
}

// submit submits a job as oarsub does, and returns its number; the last word is the command.
func (p *simulation) submit(user string, words ...string) (cluster.VJobID, error) {
	p.t.Helper()
	s := submissionOf(options(p.t, words[:len(words)-1]))
	s.Command = words[len(words)-1]
	inventory := request.Inventory{Nodes: slices.Clone(p.nodes), Free: map[cluster.NodeID]bool{}}
	for i, n := range p.shell.Snapshot().Nodes {
		inventory.Nodes[i].State = n.State
		inventory.Free[n.ID] = len(n.VMs) == 0 && n.Hosts()
	}
	r, err := oarapi.Translate(s, oarapi.Caller{Name: user}, &p.site, inventory, p.shell.Now())
	if err != nil {
		return 0, err
	}
	sub, err := api.Submission(&r.VJob, request.MaxVMs)
	if err != nil {
		return 0, err
	}
	sub.Owner = user
	if err := sub.Validate(admission.Limits{Images: []string{"simulated"}}, p.shell.Snapshot().Declared); err != nil {
		return 0, err
	}
	accepted, err := p.shell.Submit(sub)
	if err != nil {
		return 0, err
	}
	p.jobs[accepted.ID] = accepted
	return accepted.ID, nil
}

// submissionOf converts options of oarsub to a submission.
func submissionOf(o script.Options) *oar.Submission {
	text := func(name string) string { v, _ := o.Value(name); return v }
	number := func(name string) oar.Number { n, _ := strconv.Atoi(text(name)); return oar.Number(n) }
	given := func(name string) oar.Switch { _, ok := o.Value(name); return oar.Switch(ok) }
	return &oar.Submission{
		Resource: o.Values("resource"), Property: o.Values("property"), Type: o.Values("type"), Anterior: o.Values("anterior"),
		Command: "sleep 1", Queue: text("queue"), Reservation: text("reservation"), Name: text("name"), Project: text("project"),
		Stdout: text("stdout"), Stderr: text("stderr"), Notify: text("notify"), Interactive: given("I"), Hold: given("hold"),
		Array: number("array"), Checkpoint: number("checkpoint"), Signal: number("signal"),
	}
}

// mustSubmit submits a job that must be accepted.
func (p *simulation) mustSubmit(user string, words ...string) cluster.VJobID {
	p.t.Helper()
	id, err := p.submit(user, words...)
	if err != nil {
		p.t.Fatalf("oarsub %q: %v", words, err)
	}
	return id
}

// run advances the clock.
func (p *simulation) run(d time.Duration) {
	p.t.Helper()
	if err := p.shell.Until(p.shell.Now().Add(d)); err != nil {
		p.t.Fatal(err)
	}
}

// jobSchedule is the schedule of a job.
type jobSchedule struct {
	State oar.State
	Start int64 // seconds after the beginning, -1 if unknown
	Nodes []string
}

func (l jobSchedule) String() string {
	return fmt.Sprintf("%s from %d s on %s", l.State, l.Start, strings.Join(l.Nodes, "+"))
}

// schedule returns the schedule of a job. A job that is running at the first look has start 0.
func (p *simulation) schedule(id cluster.VJobID) jobSchedule {
	p.t.Helper()
	status, live := p.shell.Snapshot().VJobs.Get(id)
	if !live {
		return jobSchedule{State: oar.StateTerminated, Start: -1}
	}
	v := oar.JobView{VJob: p.jobs[id].Clone(), Planned: status.Promised}
	v.VJob.State, v.Held = status.State, status.Held
	l := jobSchedule{State: v.State(), Start: -1}
	seen := map[cluster.NodeID]bool{}
	for _, m := range status.Gang.Members {
		node := m.Node
		if m.Next != "" {
			node = m.Next
		}
		if node != "" && !seen[node] {
			seen[node] = true
			l.Nodes = append(l.Nodes, string(node))
		}
	}
	slices.Sort(l.Nodes)
	switch {
	case !status.State.Ready() || status.Promised:
		l.Start = 0
	case !p.jobs[id].Reservation.IsZero():
		l.Start = int64(p.jobs[id].Reservation.Sub(p.began).Seconds())
	case !status.Start.IsZero():
		l.Start = int64(status.Start.Sub(p.began).Round(time.Second).Seconds())
	}
	return l
}

// equalNodes returns nodes with equal numbers of processors: n01 and so on.
func equalNodes(n int, cpus int64) (nodes []cluster.Node) {
	for i := range n {
		nodes = append(nodes, cluster.Node{
			ID: cluster.NodeID(fmt.Sprintf("n%02d", i+1)), Capacity: cluster.Resources{CPU: cluster.MilliCPU(cpus) * cluster.CPU, Memory: cluster.MiB(cpus) * 4 * cluster.GiB},
			Labels: map[string]string{},
		})
	}
	return nodes
}
