package oar_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/cluster/calendar"
	"vjob/oar"
	"vjob/queue/quota"
	"vjob/scheduler"
)

// scenario is a schedule of OAR 3. The jobs of a line are submitted together:
// "toto: -l nodes=2,walltime=0:1:0". After a pass each expectation must hold: the number of the line
// from 1, and "starts S", "never starts", "refused", "on N nodes", "beside M" (starts when M does) or
// "not beside M".
type scenario struct {
	nodes  []cluster.Node
	gap    time.Duration
	quotas []quota.Quota
	jobs   []string
	expect []string
}

// scenarios are the schedules of OAR 3 that apply. OAR's resources are processors here, and jobs that have
// been placed there are reservations here.
var scenarios = map[string]scenario{
	"k002": {thirtyTwo, 0, nil, []string{"u: -l nodes=2,walltime=0:1:0", "u: -l nodes=2,walltime=0:1:0", "u: -l nodes=4,walltime=0:0:40"}, []string{"1 starts 0", "1 on 2 nodes", "2 starts 0", "3 starts 60"}},
	"k004": {gpus, 0, nil, []string{"u: -l nodes=2+gpu=2,walltime=0:1:0", "u: -l nodes=4,walltime=0:1:0"}, []string{"1 refused", "2 starts 0"}},
	"k005": {thirtyTwo, 20 * time.Second, nil, []string{"u: -l nodes=2,walltime=0:0:40", "u: -l nodes=2,walltime=0:0:40", "u: -l nodes=4,walltime=0:0:40"}, []string{"1 starts 0", "1 on 2 nodes", "2 starts 0", "3 starts 60"}},
	"k007": {thirtyTwo, 0, nil, []string{"u: -l nodes=2,walltime=0:20:0 -t container", "u: -l nodes=1,walltime=0:5:0 -t inner=1"}, []string{"2 runs after 30", "2 on 1 nodes"}},
	"k008": {thirtyTwo, 0, nil, []string{
		"u: -l {network_address_IN_('n01','n02')}/nodes=2,walltime=0:20:0 -t container", "u: -l {network_address='n04'}/nodes=1,walltime=0:5:0 -t inner=1",
	}, []string{"1 runs after 30", "2 never starts"}},
	"k010": {thirtyTwo, 0, nil, []string{"u: -l nodes=2,walltime=0:1:0 -t container", "u: -l nodes=1,walltime=0:1:10 -t inner=1"}, []string{"1 runs after 30", "2 never starts"}},
	"k011": {thirtyTwo, 0, nil, []string{"u: -r +200 -l nodes=3,walltime=0:2:30 -t container", "u: -l nodes=1,walltime=0:0:30 -t inner=1"}, []string{"1 starts 200", "2 never starts", "2 runs after 210", "2 on 1 nodes"}},
	"h001": {blocks("a-4 x a-4 b-8 x-2 c-11"), 0, nil, []string{"u: -l block=3,walltime=1"}, []string{"1 starts 0", "1 on 1-4 6-17 20-30"}},
	"h002": {blocks("a-4 x b-4 x a-8 x b-4 x-2 c-6"), 0, nil, []string{"u: -l block=2,walltime=1"}, []string{"1 starts 0", "1 on 1-4 6-9 11-18 20-23"}},
	"h004": {thirtyTwo, 0, nil, []string{"u: -l {network_address='n01'}/core=1,walltime=1", "u: -l nodes=ALL,walltime=1"}, []string{"1 starts 0", "2 starts 3600"}},
	"h005": {thirtyTwo, 0, nil, []string{"u: -l {network_address='n01'}/core=1,walltime=1", "u later: -l nodes=BEST,walltime=1"}, []string{"1 starts 0", "2 on 2-4"}},
	"h007": {tree, 0, nil, []string{"u: -l half=2,walltime=1"}, []string{"1 starts 0", "1 on 1-8"}},
	"h008": {tree, 0, nil, []string{"u: -l half=2/quarter=1,walltime=1"}, []string{"1 starts 0", "1 on 4 nodes", "1 in a quarter of each half"}},
	"h010": {tree, 0, nil, []string{"u: -l half=2/quarter=1/nodes=1,walltime=1"}, []string{"1 starts 0", "1 on 2 nodes", "1 in a quarter of each half"}},
	"h011": {tree, 0, nil, []string{"u: -l half=2/quarter=2/nodes=1,walltime=1"}, []string{"1 starts 0", "1 on 4 nodes", "1 in two quarters of each half"}},
	"q003": {thirtyTwo, 20 * time.Second, each(1), []string{"toto: -l nodes=2,walltime=0:1:0"}, []string{"1 never starts"}},
	"q004": {thirtyTwo, 20 * time.Second, each(16), []string{"toto: -l nodes=2,walltime=0:1:0"}, []string{"1 starts 0", "1 on 2 nodes"}},
	"q007": {
		thirtyTwo, 20 * time.Second, slices.Concat(of("toto", 1), of("john", 150)),
		[]string{"toto: -l nodes=2,walltime=0:1:0", "tutu: -l nodes=2,walltime=0:1:0"},
		[]string{"1 never starts", "2 starts 0", "2 on 2 nodes"},
	},
	"tq06": {thirtyTwo, 0, each(16), []string{"john: -l core=20,walltime=24"}, []string{"1 never starts"}},
	"m002": {five, time.Minute, nil, []string{"u: -r +10 -l core=4,walltime=0:1:0"}, []string{"1 starts 10"}},
	"m003": {five, time.Minute, nil, []string{"u: -l core=6,walltime=0:1:0", "u: -r +1 -l core=4,walltime=0:1:0"}, []string{"1 refused", "2 runs after 30"}},
	"m011": {five, time.Minute, nil, []string{"u: -r +-1000 -l core=4,walltime=0:1:0"}, []string{"1 refused"}},
	"m017": {five, time.Minute, nil, []string{"u: -q besteffort -t besteffort -l core=1,walltime=0:1:40"}, []string{"1 starts 0"}},
	"m020": {one, time.Minute, nil, []string{"u: -l core=4,walltime=0:1:0"}, []string{"1 starts 0"}},
	"m021": {one, time.Minute, nil, []string{"u: -r +10 -l core=4,walltime=0:1:0"}, []string{"1 starts 10"}},
	"o001": {five, time.Minute, nil, []string{"toto: -t timesharing=user,* -l core=4,walltime=0:1:0", "titi: -t timesharing=user,* -l core=4,walltime=0:1:0"}, []string{"1 not beside 2"}},
	"o002": {five, time.Minute, nil, []string{"toto: -t timesharing=*,* -l resource_id=4,walltime=0:1:0", "titi: -t timesharing=*,* -l resource_id=4,walltime=0:1:0"}, []string{"1 beside 2"}},
	"o004": {five, time.Minute, nil, []string{"u: -l {network_address='n02'}/core=2,walltime=0:1:0", "u: -l {network_address='n02'}/core=2,walltime=0:1:0"}, []string{"1 not beside 2"}},
	"o005": {five, time.Minute, nil, []string{"u: -p network_address='n01' -l core=2,walltime=0:1:0", "u: -p network_address='n02' -l core=2,walltime=0:1:0"}, []string{"1 beside 2"}},
	"o007": {five, time.Minute, nil, []string{"u: -l core=3,walltime=0:1:0", "u: -l core=4,walltime=0:1:0 -l core=3,walltime=0:1:10"}, []string{"1 not beside 2"}},
	"o008": {five, time.Minute, nil, []string{"u: -l core=3,walltime=0:1:0", "u: -l core=4,walltime=0:1:0 -l core=2,walltime=0:1:10"}, []string{"1 beside 2"}},
	"f001": {one, time.Minute, nil, slices.Repeat([]string{"u: -l core=2,walltime=0:1:0"}, 5), []string{"1 starts 0", "2 starts 0", "3 starts 120", "4 starts 120", "5 starts 240"}},
	"f002": {five, time.Minute, nil, slices.Repeat([]string{"u: -l network_address=1,walltime=0:1:0"}, 5), []string{"1 starts 0", "2 starts 0", "3 starts 0", "4 starts 120", "5 starts 120"}},
}

// The platforms of OAR 3's tests.
var (
	thirtyTwo = equalNodes(4, 8)
	one       = equalNodes(1, 5)
	five      = sizedNodes(2, 2, 1)
	gpus      = func() []cluster.Node {
		nodes := equalNodes(4, 8)
		nodes[3].Labels["gpu"] = "1"
		return nodes
	}()
	// tree is eight nodes of four processors, in quarters of halves.
	tree = func() []cluster.Node {
		nodes := equalNodes(8, 4)
		for i := range nodes {
			nodes[i].Labels = map[string]string{"half": fmt.Sprint(i / 4), "quarter": fmt.Sprint(i / 2)}
		}
		return nodes
	}()
)

func sizedNodes(cpus ...int64) (nodes []cluster.Node) {
	nodes = equalNodes(len(cpus), 1)
	for i, n := range cpus {
		nodes[i].Capacity = equalNodes(1, n)[0].Capacity
	}
	return nodes
}

// blocks returns nodes of one processor: "a-4 x b" is four nodes of block a, one without a block and
// one of block b.
func blocks(text string) (nodes []cluster.Node) {
	var names []string
	for part := range strings.FieldsSeq(text) {
		name, n := part[:1], 1
		_, _ = fmt.Sscanf(part[1:], "-%d", &n)
		names = append(names, slices.Repeat([]string{name}, n)...)
	}
	nodes = equalNodes(len(names), 1)
	for i, name := range names {
		if name != "x" {
			nodes[i].Labels["block"] = name
		}
	}
	return nodes
}

// each limits the processors of each user.
func each(cpus int64) []quota.Quota { return of(quota.Each, cpus) }

func of(user string, cpus int64) []quota.Quota {
	return []quota.Quota{{Name: "of " + user, User: user, Limits: calendar.Always(quota.Limits{quota.CPU: cpus * int64(cluster.CPU)})}}
}

// skippedScenarios are the schedules of OAR 3 that do not apply, with the reason.
var skippedScenarios = map[string]string{
	"k013": "differs: no container is inside another", "k014": "judged by TestNamedContainers", "w003": noRequests,
	"k016": "judged by TestAfter", "k017": "judged by TestAfter",
	"m014": "judged by TestLateReservation", "m015": "judged by TestLateReservation",
	"m023": "judged by TestRoomForReservation", "m024": "judged by TestRoomForReservation", "m027": "judged by TestThreeReservations",
	"tq07": "judged by TestQuotasByTheClock", "tq01": "judged by TestQuotasByTheClock", "tq03": "judged by TestQuotasByTheClock",
	"k001": slots, "sl01": slots, "sl03": slots, "sl04": slots, "sl06": slots, "sl07": slots,
	"k019": "differs: placeholder and allowed have no effect", "k020": "differs: placeholder and allowed have no effect",
	"h013": "differs: its levels overlap each other; a node has one value of a label",
	"q001": "differs: quotas are written in the settings, in numbers and not in parts of the cluster",
	"q006": present, "tq12": present, "tq13": present,
	"q009": "differs: quotas are for users, projects and queues, not for types of jobs",
	"m008": "differs: there is no type no_quotas", "tq10": "differs: there is no type no_quotas",
	"m005": "differs: quotas are on VMs, processors, memory and hours, not on the number of jobs",
	"m006": ofReservations, "m009": ofReservations,
	"tq04": exception, "tq09": exception,
	"m012": "differs: a reservation cannot be moved into the past",
	"m026": "differs: schedulers are not separate programs, so none can be missing",
	"f004": "differs: each pass considers all waiting jobs", "f005": "differs: each pass considers all waiting jobs",
	"f007": "differs: the case fails with OAR itself; fair share is judged in queue/fairshare",
	"w001": noRequests,
	"e001": wakes, "e003": wakes, "e004": wakes,
}

// Reasons that several of them share.
const (
	slots          = "differs: asks for the free cores by their numbers; ours are counted, and package queue/availability is judged by brute force"
	present        = "differs: a quota bounds what there is at a time, not what a job could meet while it lasts"
	ofReservations = "differs: a reservation is bounded by quotas when it is submitted, where it is refused, and not marked as an error later"
	exception      = "differs: windows of a quota do not overlap: that of a week in which some days are otherwise is written apart"
	wakes          = "judged by TestIdleNodesGoOffAndComeBackForWaitingVJobs of sim/simclock: nodes go off while nothing waits, and as many as are needed come back"
)

// The schedules of OAR 3 that apply have the same results here.
func TestPlayed(t *testing.T) {
	known := map[string]bool{}
	for _, c := range load(t).Tests {
		known[c.ID] = true
		if _, why := skippedScenarios[c.ID]; why == (scenarios[c.ID].jobs != nil) {
			t.Errorf("%s is neither played nor has a reason, or both", c.ID)
		}
	}
	for id := range skippedScenarios {
		if !known[id] {
			t.Errorf("there is no case %s", id)
		}
	}
	for id, g := range scenarios {
		if !known[id] {
			t.Errorf("there is no case %s", id)
		}
		t.Run(id, func(t *testing.T) { g.play(t) })
	}
}

func (g *scenario) play(t *testing.T) {
	t.Helper()
	p := newSimulation(t, g.nodes, g.gap, g.quotas...)
	ids, refused := make([]cluster.VJobID, len(g.jobs)), make([]error, len(g.jobs))
	for i, line := range g.jobs {
		who, what, _ := strings.Cut(line, ": ")
		user, later := strings.CutSuffix(who, " later")
		if later {
			p.run(10 * time.Minute)
		}
		words := strings.Fields(what)
		for k, w := range words {
			words[k] = strings.ReplaceAll(w, "_IN_", " IN ")
			if after, ok := strings.CutPrefix(w, "+"); ok && words[k-1] == "-r" {
				d, _ := time.ParseDuration(after + "s")
				words[k] = p.shell.Now().Add(d).Format(time.DateTime)
			}
		}
		ids[i], refused[i] = p.submit(user, append(words, "sleep 100000")...)
	}
	p.run(2 * pause)
	for _, e := range g.expect {
		var i int
		_, _ = fmt.Sscan(e, &i)
		_, want, _ := strings.Cut(e, " ")
		p.checkExpectation(want, ids, ids[i-1], refused[i-1])
	}
}

// checkExpectation checks an expectation.
func (p *simulation) checkExpectation(want string, ids []cluster.VJobID, id cluster.VJobID, refused error) {
	p.t.Helper()
	var n int
	ok, got := false, jobSchedule{Start: -1}
	if refused == nil {
		got = p.schedule(id)
	}
	switch {
	case want == "refused":
		ok = refused != nil
	case want == "never starts": // refused or waiting
		ok = refused != nil || got.State == oar.StateWaiting && got.Start < 0
	case refused != nil:
	case scan(want, "starts %d", &n):
		ok = got.Start == int64(n)
	case scan(want, "runs after %d", &n):
		p.run(time.Duration(n) * time.Second)
		got = p.schedule(id)
		ok = got.State == oar.StateRunning
	case scan(want, "on %d nodes", &n) && strings.HasSuffix(want, "nodes"):
		ok = len(got.Nodes) == n
	case scan(want, "beside %d", &n):
		ok = got.Start == p.schedule(ids[n-1]).Start && got.Start >= 0
	case scan(want, "not beside %d", &n):
		ok = got.Start != p.schedule(ids[n-1]).Start
	case want == "in a quarter of each half":
		ok = p.halves(got.Nodes) == "0:1 1:1"
	case want == "in two quarters of each half":
		ok = p.halves(got.Nodes) == "0:2 1:2"
	default:
		ok = strings.Join(got.Nodes, " ") == nodeNames(strings.TrimPrefix(want, "on "))
	}
	if !ok {
		p.t.Errorf("job %d: %s (%v), want %s", id, got, refused, want)
	}
}

func scan(text, format string, n *int) bool {
	found, err := fmt.Sscanf(text, format, n)
	return found == 1 && err == nil
}

// halves counts the quarters of each half that contain the nodes.
func (p *simulation) halves(names []string) string {
	quarters := map[string]map[string]bool{"0": {}, "1": {}}
	for _, n := range p.nodes {
		if slices.Contains(names, string(n.ID)) {
			quarters[n.Labels["half"]][n.Labels["quarter"]] = true
		}
	}
	return fmt.Sprintf("0:%d 1:%d", len(quarters["0"]), len(quarters["1"]))
}

// nodeNames expands the names of nodes, such as "1-4 6".
func nodeNames(text string) string {
	var names []string
	for part := range strings.FieldsSeq(text) {
		var from, to int
		if n, _ := fmt.Sscanf(part, "%d-%d", &from, &to); n < 2 {
			to = from
		}
		for i := from; i <= to; i++ {
			names = append(names, fmt.Sprintf("n%02d", i))
		}
	}
	return strings.Join(names, " ")
}

// A dependent job starts when the other has ended, successfully or not.
func TestAfter(t *testing.T) {
	for name, end := range map[string]func(*simulation, cluster.VJobID){
		"k016: Error": func(p *simulation, id cluster.VJobID) {
			if err := p.shell.Order(id, scheduler.OrderDelete, "u"); err != nil {
				p.t.Fatal(err)
			}
		},
		"k017: Terminated": func(p *simulation, _ cluster.VJobID) { p.run(10 * time.Minute) },
	} {
		t.Run(name, func(t *testing.T) {
			p := newSimulation(t, thirtyTwo, 20*time.Second)
			first := p.mustSubmit("u", "-l", "nodes=2,walltime=0:1:0", "sleep 10")
			end(p, first)
			second := p.mustSubmit("u", "-l", "nodes=2,walltime=0:1:20", "-a", first.String(), "sleep 10")
			p.run(2 * pause)
			if l := p.schedule(second); l.Start != 0 || len(l.Nodes) != 2 {
				t.Errorf("%s", l)
			}
		})
	}
}

// A reservation waits for nodes that are absent at its time and starts when they are back. The same
// holds for nodes that were absent before, or dead.
func TestLateReservation(t *testing.T) {
	for name, gone := range map[string]cluster.NodeState{"r003: absent": cluster.Draining, "r004: dead": cluster.Down} {
		t.Run(name, func(t *testing.T) {
			p := newSimulation(t, equalNodes(1, 2), usualGap)
			at := p.shell.Now().Add(2 * time.Hour)
			id := p.mustSubmit("u", "-r", at.Format(time.DateTime), "-l", "nodes=1,walltime=1", "sleep 100000")
			p.set("n01", gone)
			p.run(time.Minute)
			if l := p.schedule(id); l.State != oar.StateWaiting || l.Start != 7200 {
				t.Errorf("at 18:00: %s", l)
			}
			p.run(at.Sub(p.shell.Now()) - time.Minute)
			p.set("n01", cluster.Online)
			p.run(2 * time.Minute)
			if l := p.schedule(id); l.State != oar.StateRunning && l.State != oar.StateLaunching {
				t.Errorf("at 20:01: %s", l)
			}
		})
	}
	t.Run("m014 and m015", func(t *testing.T) {
		p := newSimulation(t, five, time.Minute)
		id := p.mustSubmit("u", "-r", p.shell.Now().Add(10*time.Second).Format(time.DateTime), "-l", "core=4,walltime=0:10:0", "sleep 100000")
		for _, n := range p.nodes {
			p.set(n.ID, cluster.Draining)
		}
		p.run(30 * time.Second)
		if l := p.schedule(id); l.State != oar.StateWaiting {
			t.Errorf("20 s after its start: %s", l)
		}
		p.run(330 * time.Second)
		for _, n := range p.nodes {
			p.set(n.ID, cluster.Online)
		}
		p.run(10 * time.Second)
		if l := p.schedule(id); l.Start != 0 {
			t.Errorf("350 s after its start: %s", l)
		}
	})
}

func (p *simulation) set(node cluster.NodeID, to cluster.NodeState) {
	p.t.Helper()
	if err := p.shell.SetNode(node, to, "root"); err != nil {
		p.t.Fatal(err)
	}
}

// A running best-effort job ends before a reservation, as early as the site has set and not earlier.
func TestRoomForReservation(t *testing.T) {
	p := newSimulation(t, one, time.Minute)
	id := p.mustSubmit("u", "-t", "besteffort", "-l", "core=4,walltime=10", "sleep 100000")
	p.run(time.Minute)
	p.mustSubmit("u", "-r", p.shell.Now().Add(3*time.Minute).Format(time.DateTime), "-l", "core=4,walltime=1", "sleep 100000")
	p.run(time.Minute)
	if l := p.schedule(id); l.State != oar.StateRunning {
		t.Errorf("two minutes before: %s", l)
	}
	p.run(80 * time.Second)
	if l := p.schedule(id); l.State == oar.StateRunning {
		t.Errorf("40 s before, where a minute is set: %s", l)
	}
}

// Of three reservations for the same time the first and the third fit beside each other; the second is
// refused.
func TestThreeReservations(t *testing.T) {
	x := open(t)
	x.env["TZ"] = "UTC"
	at := time.Now().UTC().Add(3 * time.Hour).Format(time.DateTime)
	for i, c := range []struct {
		nodes string
		exit  int
	}{{"12", 0}, {"8", 10}, {"4", 0}} {
		if r := x.run("alice", "oarsub", "-r", at, "-l", "nodes="+c.nodes+",walltime=1", "sleep 1"); r.code != c.exit {
			t.Errorf("reservation %d: exit %d, want %d: %s%s", i+1, r.code, c.exit, r.out, r.err)
		}
	}
}

// Quotas that change with the day of the week.
func TestQuotasByTheClock(t *testing.T) {
	when := func(text string) calendar.Window {
		w, err := calendar.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	limits, err := calendar.New(time.UTC, quota.Limits{quota.CPU: 24_000}, calendar.Entry[quota.Limits]{Name: "quotas_1", When: when("Mo-We"), Value: quota.Limits{quota.CPU: 16_000}})
	if err != nil {
		t.Fatal(err)
	}
	monday := time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC)
	at := monday
	for i, days := range []int{3, 4, 3, 4} { // tq01, tq03
		next, ok := limits.Next(at)
		_, name := limits.At(at)
		if !ok || next.Sub(at) != time.Duration(days)*24*time.Hour || (name == "quotas_1") != (i%2 == 0) {
			t.Errorf("from %s until %s: %q", at, next, name)
		}
		at = next
	}
	p := newSimulation(t, thirtyTwo, 20*time.Second, quota.Quota{Name: "by the day", User: quota.Each, Limits: limits})
	p.run(monday.Sub(p.shell.Now()))
	narrow := p.mustSubmit("toto", "-l", "nodes=3,walltime=0:1:0", "sleep 100000")
	if wide, err := p.submit("toto", "-l", "nodes=4,walltime=0:1:0", "sleep 100000"); err == nil {
		p.run(2 * pause)
		if l := p.schedule(wide); l.State != oar.StateWaiting || l.Start >= 0 {
			t.Errorf("4 nodes: %s", l)
		}
	}
	p.run(3*24*time.Hour - time.Minute)
	if l := p.schedule(narrow); l.State != oar.StateWaiting {
		t.Errorf("on Wednesday: %s", l)
	}
	p.run(time.Minute + 2*pause)
	if l := p.schedule(narrow); l.Start != 0 || len(l.Nodes) != 3 {
		t.Errorf("on Thursday: %s", l)
	}
}
