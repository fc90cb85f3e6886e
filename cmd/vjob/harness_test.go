package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"vjob/api/wire"
	"vjob/cluster"
	"vjob/cmd/vjob/cli"
	"vjob/cmd/vjob/display"
	"vjob/daemon/output/writer"
	"vjob/tests/golden"
)

func TestMain(m *testing.M) {
	writer.Main()
	if os.Getenv(asProgram) != "" {
		main()
	}
	time.Local = time.UTC
	os.Exit(m.Run())
}

// noon is the present of the tests.
var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// shell runs vjob with an environment and an input of its own.
type shell struct {
	t     testing.TB
	env   map[string]string
	input string
	width int
	asks  bool // the user can be asked
}

// result is what a command line came to.
type result struct {
	code     int
	out, err string
}

func (s *shell) run(args ...string) result {
	s.t.Helper()
	var out, errs bytes.Buffer
	code := run(s.t.Context(), cli.Streams{
		In: strings.NewReader(s.input), Out: &out, Err: &errs, Now: func() time.Time { return noon },
		Getenv: func(k string) string { return s.env[k] }, Width: func() int { return s.width }, Interactive: func() bool { return s.asks },
	}, args)
	return result{code, out.String(), errs.String()}
}

// ok runs a command that must succeed and returns what it printed.
func (s *shell) ok(args ...string) string {
	s.t.Helper()
	r := s.run(args...)
	if r.code != cli.ExitOK {
		s.t.Fatalf("vjob %s: exit %d: %s", strings.Join(args, " "), r.code, r.err)
	}
	return r.out
}

// fake answers each path with a value, and keeps the last submission.
type fake struct {
	answers   map[string]any
	submitted wire.Submission
	key       string
	pool      string // the last one that was stated, as sent
	question  string // the last what-if, as sent
	query     string // of the last request
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPost && r.URL.Path == "/v1/vjobs" {
		f.key = r.Header.Get(wire.KeyHeader)
		d := json.NewDecoder(r.Body)
		d.DisallowUnknownFields()
		f.submitted = wire.Submission{}
		if err := d.Decode(&f.submitted); err != nil {
			panic(err)
		}
		w.WriteHeader(http.StatusCreated)
		_ = json.NewEncoder(w).Encode(wire.VJob{ID: 7, State: "waiting"})
		return
	}
	if r.Method == http.MethodPut && strings.HasPrefix(r.URL.Path, "/v1/pools/") {
		body, _ := io.ReadAll(r.Body)
		f.pool = strings.TrimSpace(string(body))
		w.WriteHeader(http.StatusNoContent)
		return
	}
	if r.URL.Path == "/v1/what-if" {
		body, _ := io.ReadAll(r.Body)
		f.question = string(body)
	}
	f.query = r.URL.RawQuery
	answer, ok := f.answers[r.URL.Path]
	if !ok {
		w.WriteHeader(http.StatusNotFound)
		answer = wire.Error{Error: wire.ErrorBody{Code: wire.CodeNotFound, Message: r.URL.Path + ": not found"}}
	}
	if list, ok := answer.(wire.EventList); ok && r.URL.Query().Has("kind") {
		list.Events = slices.DeleteFunc(slices.Clone(list.Events), func(e wire.Event) bool { return !slices.Contains(r.URL.Query()["kind"], e.Kind) })
		answer = list
	}
	if text, ok := answer.(string); ok {
		_, _ = io.WriteString(w, text)
		return
	}
	if list, ok := answer.(wire.VJobList); ok && r.Header.Get("Accept") == wire.MediaLines {
		streamList(w, list)
		return
	}
	_ = json.NewEncoder(w).Encode(answer)
}

// streamList answers with a list as lines.
func streamList(w http.ResponseWriter, list wire.VJobList) {
	w.Header().Set("Content-Type", wire.MediaLines)
	w.Header().Set(wire.TotalHeader, strconv.Itoa(list.Total))
	lines := json.NewEncoder(w)
	for i := range list.VJobs {
		_ = lines.Encode(&list.VJobs[i])
	}
}

// against starts a server that gives canned answers, and a shell that uses it.
func against(tb testing.TB, answers map[string]any) (*shell, *fake) {
	tb.Helper()
	f := &fake{answers: answers}
	server := httptest.NewServer(f)
	tb.Cleanup(server.Close)
	return &shell{t: tb, env: map[string]string{"VJOB_SERVER": server.URL, "HOME": tb.TempDir()}}, f
}

func at(minutes int) *time.Time {
	t := noon.Add(time.Duration(minutes) * time.Minute)
	return &t
}

// busyCluster returns the answers of a cluster in the middle of a context switch. One name
// tries to take over the terminal.
func busyCluster() map[string]any {
	jobs := []wire.VJob{
		{
			ID: 12, Name: "climate", Owner: "ada", State: "suspending", Reason: "context switch 4: saves", VMCount: 9, CPUMilli: 18000,
			MemoryMiB: 18432, RanSeconds: 4521, PowerWatts: 260.5, WalltimeSeconds: 7200, Submitted: *at(-90), Started: at(-85),
			Queue: "batch", Project: "physics", Rank: &wire.Rank{Points: 803, Parts: []wire.RankPart{
				{Name: "queue", Points: 250}, {Name: "as submitted", Points: -10}, {Name: "age", Points: 563},
			}},
		},
		{
			ID: 13, Name: "evil\x1b[2J\u202e", Owner: "bob", State: "running", Reason: "runs", VMCount: 2, CPUMilli: 1500,
			MemoryMiB: 1024, RanSeconds: 61, Priority: 10, Submitted: *at(-3), Started: at(-2),
			Queue: "urgent", Rank: &wire.Rank{Points: 1010, Parts: []wire.RankPart{{Name: "queue", Points: 1000}, {Name: "as submitted", Points: 10}}},
		},
		{
			ID: 14, Owner: "ada", State: "waiting", Held: true, Reason: "waits: needs 6 CPU more; third in line behind 12 and 15", QueuePlace: 3,
			VMCount: 1, CPUMilli: 500, MemoryMiB: 512, Submitted: *at(-1),
		},
	}
	nodes := []wire.Node{
		{
			Name: "n1", State: "online", CPUMilli: 4000, MemoryMiB: 8192, UsedCPUMilli: 2500, UsedMemoryMiB: 4096, VMs: []string{"12.0", "12.1"},
			Labels: map[string]string{"rack": "r1"}, Power: &wire.NodePower{Watts: 141.5, MostWatts: 180, EnergyJoules: 5_400_000},
		},
		{
			Name: "n2", State: "draining", CPUMilli: 4000, MemoryMiB: 8192, UsedCPUMilli: 6000, UsedMemoryMiB: 8192, VMs: []string{"12.2"},
			Labels: map[string]string{"rack": "r2"}, Warnings: []string{"VMs migrate to it in the clear"}, Power: &wire.NodePower{Watts: 180, MostWatts: 180, EnergyJoules: 7_200_000},
		},
		{Name: "n3", State: "online", Silent: true, Problem: "n3: node unreachable", Since: *at(-5), CPUMilli: 4000, MemoryMiB: 8192, VMs: []string{}},
	}
	events := []wire.Event{
		{Seq: 40, At: *at(-2), Kind: "state", VJob: 13, State: "running", Text: "vjob 13 is running: runs"},
		{Seq: 41, At: *at(-1), Kind: "alarm", Node: "n3", Text: "node n3 is silent"},
		{Seq: 42, At: *at(0), Kind: "plan", Plan: 4, Text: "context switch 4 begins: 9 actions on 1 vjob"},
	}
	began := noon.Add(-20 * time.Second)
	ended := noon.Add(-8 * time.Second)
	plan := wire.Plan{
		ID: 4, State: "running", Policy: "firstfit", Began: began, CostMiB: 18432, MakespanSeconds: 50, ActionCount: 2,
	}
	earlier := wire.Plan{
		ID: 3, State: "done", Policy: "firstfit", Began: *at(-10), Ended: at(-8), CostMiB: 4096, MakespanSeconds: 100, TookSeconds: 120, Ratio: 1.2, ActionCount: 4,
	}
	slow := wire.NodeDetail{Node: nodes[0]}
	slow.Platforms = []wire.NodePlatform{{Type: "kvm", Arch: "x86_64", CPUModel: "EPYC-Rome", CPUFeatures: []string{"svm", "npt"}, MachineTypes: []string{"pc-q35-8.2"}}}
	slow.Durations = []wire.NodeDuration{
		{Kind: "boot", Source: "settings", ConstantSeconds: 6},
		{Kind: "stop", Source: "settings", ConstantSeconds: 25, Observations: 1},
		{Kind: "suspend", Source: "node", ConstantSeconds: 1.25, PerGiBSeconds: 150, Observations: 32, Spread: 0.083},
		{Kind: "migrate", Source: "cluster", PerGiBSeconds: 13.5},
	}
	detail := plan
	detail.Actions = []wire.Action{
		{ID: 0, Kind: "suspend", VM: "12.0", From: "n1", EndSec: 50, CostMiB: 2048, State: "running", Began: &began},
		{
			ID: 1, Kind: "migrate", VM: "13.1", From: "n2", To: "n1", Live: true, After: []int{0}, StartSec: 50, EndSec: 62, CostMiB: 512,
			State: "done", Began: &began, Ended: &ended, Note: "as planned",
		},
	}
	detail.Gangs = []wire.Gang{{VJob: 12, Kind: "suspend", Why: "to make room for 15 storm (bob): 6 CPU short"}, {VJob: 13, Kind: "migrate"}}
	detail.Skews = []wire.Skew{{VJob: 12, Kind: "pause", Seconds: 0.09}}
	return map[string]any{
		"/v1/vjobs": wire.VJobList{VJobs: jobs, Total: 3},
		"/v1/vjobs/12": wire.VJobDetail{
			VJob: jobs[0], Origin: cluster.Origin{From: "192.0.2.7", Token: "laptop"}, Phase: "saving", Generation: 1, CPUSeconds: 40000, CPUWantedSeconds: 50000, MemoryMiBSeconds: 9 << 30, EnergyJoules: 900_000,
			VMs:   []wire.VM{{ID: "12.0", Node: "n1", CPUMilli: 2000, MemoryMiB: 2048, Image: "simulated"}, {ID: "12.1", Ended: true, CPUMilli: 2000, MemoryMiB: 2048}},
			Rules: "spread({VM0, VM1});\nban($VMS, n3);\n", Events: events[:1],
			Refusals: []wire.Refusal{{VM: "12.1", Node: "n2", At: *at(-4), Why: "refused by the hypervisor: Machine type received is 'pc-i440fx-7.2' and local is 'pc-i440fx-6.2'"}},
		},
		"/v1/vjobs/12/submission": wire.Submission{
			Name: "sim-run", Count: 2, Template: &wire.VMSpec{
				CPUMilli: 1000, MemoryMiB: 512, Image: "default", Script: "#!/bin/sh\necho hello\n", Env: map[string]string{"MODE": "fast"},
			},
		},
		"/v1/vjobs/12/logs": "booted\r\n\x1b[31mred\x1b[0m\tx\n",
		"/v1/nodes":         wire.NodeList{Nodes: nodes},
		"/v1/plans":         wire.PlanList{Plans: []wire.Plan{plan, earlier}},
		"/v1/nodes/n1":      slow,
		"/v1/balance": wire.Balance{
			Enabled: true, Placement: "spread", At: at(-2), NextAt: at(3), Imbalance: 0.42, ImbalanceAfter: 0.11, VMsMoved: 7,
			Why: "no move lowers the imbalance of 0.110 by 0.0015 and is possible and worth its cost",
			Nodes: []wire.NodeLoad{
				{Node: "n1", CPU: 1.25, CPUAfter: 0.75, Memory: 0.5, MemoryAfter: 0.25, Network: new(0.96), NetworkAfter: new(0.48), Held: "1 fixed: it holds no lock, and would have to be paused (12.0)"},
				{Node: "n2", CPU: 0.25, CPUAfter: 0.75, Memory: 0.125, MemoryAfter: 0.375},
			},
			Moves: []wire.BalanceMove{{Move: wire.Move{VM: "13.1", From: "n1", To: "n2"}, Gain: 0.31, BenefitSeconds: 900, CostSeconds: 12, Reason: "n1 is over its capacity"}},
			Waiting: []wire.BalanceMove{
				{Move: wire.Move{VM: "14.0", From: "n2", To: "n3"}, Gain: -0.02, BenefitSeconds: 0, CostSeconds: 9, Reason: "CPU load of n2 75 → 25 %, of n3 10 → 60 %"},
				{Move: wire.Move{VM: "12.0", From: "n1", To: "n2"}, Gain: 0.09, BenefitSeconds: 400, CostSeconds: 12, Reason: "CPU load of n1 75 → 25 %, of n2 25 → 75 %", After: []int{0}},
			},
		},
		"/v1/recommendations": wire.RecommendationList{Recommendations: []wire.Recommendation{
			{
				ID: 5, Kind: "balance", State: "pending", At: *at(-1), Expires: *at(59), Changes: "moves 13.1 from n1 to n2", Reason: "n1 is over its capacity",
				Moves: []wire.Move{{VM: "13.1", From: "n1", To: "n2"}}, ImbalanceBefore: 0.42, ImbalanceAfter: 0.11, BenefitSeconds: 900, CostSeconds: 12,
			},
			{ID: 4, Kind: "power", State: "pending", At: *at(-9), Expires: *at(51), Changes: "switches n4 off", Reason: "hosts are idle", Off: []string{"n4"}, WattsBefore: 310, WattsAfter: 110},
		}},
		"/v1/recommendations/6": wire.Recommendation{
			ID: 6, Kind: "balance", State: "pending", At: *at(-1), Expires: *at(59), Changes: "moves 14.0 from n2 to n3, 12.0 from n1 to n2", Reason: "CPU load of n1 75 → 25 %, of n2 25 → 75 %",
			Moves:           []wire.Move{{VM: "14.0", From: "n2", To: "n3"}, {VM: "12.0", From: "n1", To: "n2"}},
			ImbalanceBefore: 0.11, ImbalanceAfter: 0.04, BenefitSeconds: 400, CostSeconds: 21, DependsOn: []int64{5},
			Prerequisites: []wire.Prerequisite{{VM: "12.0", Change: "12.0", After: "14.0 from n2 to n3"}, {Plan: 4, Change: "all", After: "context switch 4"}},
		},
		"/v1/plans/3": earlier,
		"/v1/plans/4": detail,
		"/healthz":    wire.Health{Ready: true, Reason: "ready"},
		"/v1/alarms":  wire.AlarmList{Alarms: []wire.Alarm{}},
		"/v1/events":  wire.EventList{Events: events, Last: 42},
		"/v1/images":  wire.ImageList{Images: []wire.Image{{ID: "debian", Kind: "disk", Description: "Debian 13", Default: true}}},
		"/v1/images/orphans": wire.OrphanList{Orphans: []wire.Orphan{
			{
				Image: "7.0.g2.a1", VJob: 7, Owner: "ada", Generation: 2, Node: "n1", Bytes: 1 << 30, Complete: true, Written: at(-300),
				Why: "7.1 was on n2, which is down", Until: at(9000), Restorable: true,
			},
			{Image: "9.0.g1.a2", VJob: 9, Generation: 1, Node: "n3", Bytes: 5 << 20, Written: at(-300), Why: "vjob 9 is not known, or has ended"},
		}},
		"/v1/users": wire.UserList{Users: []wire.User{
			{Name: "ada", Role: "admin"},
			{Name: "bob", Role: "user", Local: true, UID: new(uint32(1001)), Created: at(-100)},
			{Name: "carol", Role: "user", Disabled: true, Groups: &[]string{"physics", "staff"}, Created: at(-50)},
			{Name: "dan", Role: "user", Groups: &[]string{}},
		}},
		"/v1/audit": wire.AuditList{Entries: []wire.AuditEntry{
			{ID: 12, At: *at(-1), From: "192.0.2.7", Action: "login.failed", Text: "a token that is not valid"},
			{ID: 11, At: *at(-2), By: "ada", From: "uid 1000", Action: "user.change", Object: "carol", Text: "disabled"},
			{ID: 9, At: *at(-3), By: "root", From: "uid 0", Action: "rules", Text: "ban($ALL_VMS, n1);\nspread($VMS);"},
		}},
		"/v1/users/ada/tokens": wire.TokenList{Tokens: []wire.TokenInfo{
			{ID: 1, User: "ada", Created: *at(-100), Revoked: true},
			{ID: 2, User: "ada", Created: *at(-100), Expires: at(-1)},
			{ID: 3, User: "ada", Name: "laptop", Created: *at(-100), Expires: at(60), Used: at(-5)},
		}},
		"/v1/queues": wire.QueueList{Queues: []wire.Queue{
			{Name: "urgent", Priority: 40, Policy: "firstfit", MostVMs: 16, MostCPUMilli: 8500, MostMemoryMiB: 65536, WalltimeSeconds: 7200, Running: 1},
			{Name: "batch", Priority: 10, Policy: "easy", Default: true, Running: 1, Waiting: 1},
		}},
		"/v1/pools":         wire.PoolList{Divided: true, Pools: busyPools()},
		"/v1/pools/physics": wire.PoolDetail{Pool: busyPools()[1], Members: []wire.PoolVJob{}},
		"/v1/pools/theory": wire.PoolDetail{Pool: busyPools()[2], Members: []wire.PoolVJob{
			{ID: 12, Owner: "ada", State: "running", VMs: []wire.PoolVM{
				{ID: "12.0", Node: "n1", Entitlement: wire.Entitlement{CPUDemand: 1000, CPU: 250, CPUWeight: 250, CPUCap: 250, Memory: 512}},
			}},
			{ID: 13, Owner: "bob", State: "waiting", VMs: []wire.PoolVM{}},
		}},
		"/v1/quotas": wire.QuotaList{Quotas: []wire.Quota{
			{
				Name: "cpus", Window: "night", Until: at(600), User: "ada", Queue: "batch",
				CPUMilli: &wire.Measure{Used: 18000, Limit: 40000}, MemoryMiB: &wire.Measure{Used: 18432, Limit: 32768},
			},
			{Name: "most", VMs: &wire.Measure{Used: 12, Limit: 100}},
			{Name: "month", Project: "physics", CPUSeconds: &wire.Measure{Used: 453600, Limit: 36_000_000}, WithinSeconds: 2_592_000},
		}},
		"/v1/shares": wire.ShareList{HalfLifeSeconds: 604800, Shares: []wire.Share{
			{Account: "bob", Factor: 1},
			{Account: "physics", Share: 2, Part: 1, Used: 1_080_000, Taken: 1, Factor: 0.5},
			{Account: "physics/ada", Share: 1, Part: 1, Used: 1_080_000, Taken: 1, Factor: 0.5},
		}},
		"/v1/budgets": wire.Budgets{
			Settings: []wire.Budget{{Watts: 12_000}},
			Stated:   []wire.Budget{{Watts: 6000, When: "Mo-Fr 18:00-08:00"}, {Watts: 3000, Group: "rack=r1"}},
			StatedBy: "ada", StatedAt: at(-30),
			Limits: []wire.Limit{
				{Budget: wire.Budget{Watts: 12_000}, DrawnWatts: 321.5, MostWatts: 360, Nodes: 3, UnknownNodes: 1},
				{Budget: wire.Budget{Watts: 3000, Group: "rack=r1"}, DrawnWatts: 3141.5, MostWatts: 3180, Nodes: 2, ShortWatts: 100},
			},
			Changes: []wire.BudgetChange{{
				At: *at(360), From: *at(355), Limits: []wire.Budget{{Watts: 6000, When: "Mo-Fr 18:00-08:00"}, {Watts: 3000, Group: "rack=r1"}},
				Stops: []int64{12, 13},
			}},
			Waits: []int64{14},
		},
		"/v1/whoami": wire.Identity{Name: "ada", Role: "admin", Via: "socket"},
		"/v1/status": wire.Status{
			At: noon, Ready: true, Policy: "firstfit", Nodes: nodes, VJobs: jobs,
			Running: []wire.ActiveAction{
				{Plan: 4, VM: "12.0", Kind: "suspend", Phase: "saving", From: "n1", Began: began, ExpectedSeconds: 50},
				{Plan: 4, VM: "13.1", Kind: "migrate", Phase: "shifting", From: "n2", To: "n1", Began: began, ExpectedSeconds: 12},
			},
		},
	}
}

// busyPools are a cluster of which physics, with theory in it, has a reservation.
func busyPools() []wire.Pool {
	all, memory, one := int64(8000), int64(16384), int64(1000)
	return []wire.Pool{
		{
			Name: "cluster", VJobs: 3, VMs: 2, CPU: wire.PoolCPU{Reserved: 2000, Limit: &all, Shares: 1, Demand: 3500, Entitlement: 3500, Used: 1400},
			Memory: wire.PoolMemory{Reserved: 1536, Limit: &memory, Shares: 1, Demand: 1536, Entitlement: 1536, Used: 1536},
		},
		{
			Name: "physics", Parent: "cluster", Depth: 1, VJobs: 2, VMs: 1,
			CPU:    wire.PoolCPU{Reservation: 2000, Reserved: 2000, Shares: 2000, Demand: 2000, Entitlement: 2000, Used: 250},
			Memory: wire.PoolMemory{Reserved: 512, Shares: 1000, Demand: 512, Entitlement: 512, Used: 512},
		},
		{
			Name: "theory", Parent: "physics", Depth: 2, Stated: true, VJobs: 2, VMs: 1,
			CPU:    wire.PoolCPU{Limit: &one, Shares: 500, Demand: 1000, Entitlement: 1000, Used: 250},
			Memory: wire.PoolMemory{Reserved: 512, Shares: 1000, Demand: 512, Entitlement: 512, Used: 512},
		},
	}
}

// TestTables holds what people see.
func TestTables(t *testing.T) {
	s, _ := against(t, busyCluster())
	for name, line := range map[string]string{
		"list": "list", "balance": "balance", "recommendations": "recommendations", "recommendation": "recommendations show 6", "show": "show 12", "nodes": "nodes", "node": "nodes show n1", "plan-done": "plans show 3", "energy-now": "energy now", "budget": "budget show", "plans": "plans", "plan": "plans show 4", "events": "events",
		"alarms": "events --kind alarm", "images": "images", "orphans": "images orphans", "accounts": "accounts", "tokens": "token list --user ada", "audit": "audit", "audit-json": "audit -o json", "whoami": "whoami",
		"queues": "queues", "pools": "pools", "pools-show": "pools show theory", "quotas": "quotas", "shares": "shares", "list-priority": "list --priority",
		"logs": "logs 12", "watch": "watch --once", "watch-nodes": "watch nodes --once", "watch-plans": "watch plans --once", "watch-events": "watch events --once", "list-json": "list -o json", "logs-raw": "logs 12 --raw",
	} {
		t.Run(name, func(t *testing.T) {
			s := *s
			s.t = t
			golden.Same(t, "testdata/"+name+".golden", s.ok(strings.Fields(line)...))
		})
	}
}

// TestColours paints on a terminal only, and not when NO_COLOR says so.
func TestColours(t *testing.T) {
	s, _ := against(t, busyCluster())
	for _, tt := range []struct {
		width   int
		noColor string
		want    bool
	}{{0, "", false}, {80, "", true}, {80, "1", false}} {
		s.width, s.env["NO_COLOR"] = tt.width, tt.noColor
		for _, line := range []string{"list", "nodes", "watch --once"} {
			got := strings.Contains(s.ok(strings.Fields(line)...), "\x1b[3")
			if got != tt.want {
				t.Errorf("%s, width %d, NO_COLOR %q: colours %t", line, tt.width, tt.noColor, got)
			}
		}
	}
	s.width, s.env["NO_COLOR"] = 80, "1"
	for line := range strings.SplitSeq(s.ok("list"), "\n") {
		if n := len([]rune(line)); n > 80+40 { // the last column is cut; the others may need more
			t.Errorf("a line of %d: %s", n, line)
		}
	}
}

// TestNothingRaw: whatever the server says, nothing that a terminal obeys comes
// out, but for the colours of our own.
func TestNothingRaw(t *testing.T) {
	s, _ := against(t, busyCluster())
	for _, line := range []string{"list", "list -o json", "show 12", "watch --once", "watch -o json", "logs 12", "events", "show nothing\x1b[2J"} {
		r := s.run(strings.Fields(line)...)
		if i := strings.IndexFunc(r.out+r.err, func(c rune) bool { return c != '\n' && c != '\t' && display.UnsafeRune(c) }); i >= 0 {
			t.Errorf("%s: %q", line, (r.out + r.err)[i:])
		}
	}
}

func BenchmarkList(b *testing.B) {
	list := wire.VJobList{Total: 5000}
	for i := range 5000 {
		list.VJobs = append(list.VJobs, wire.VJob{ID: int64(i + 1), Name: "job", Owner: "ada", State: "waiting", Reason: "waits: needs 6 CPU more"})
	}
	s, _ := against(b, map[string]any{"/v1/vjobs": list})
	for b.Loop() {
		s.ok("list")
	}
}
