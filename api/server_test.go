package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"vjob/api"
	"vjob/api/wire"
	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/ctxswitch/execute"
	"vjob/ctxswitch/journal"
	"vjob/ctxswitch/placement"
	"vjob/db"
	"vjob/energy/budget"
	"vjob/energy/power/cycle"
	"vjob/energy/price"
	"vjob/hypervisor"
	"vjob/queue/forecast"
	"vjob/queue/pool"
	"vjob/scheduler"
	"vjob/scheduler/admission"
	"vjob/scheduler/entitlement"
)

// fakeScheduler stands in for the scheduler: submissions are kept for real, orders are
// recorded.
type fakeScheduler struct {
	*db.DB
	mu     sync.Mutex
	orders []string
	fail   error
	snap   *scheduler.Snapshot
	asked  scheduler.WhatIf // the last question
}

func (l *fakeScheduler) Submit(ctx context.Context, s admission.Submission) (*cluster.VJob, bool, error) {
	if l.fail != nil {
		return nil, false, l.fail
	}
	return l.DB.Submit(ctx, s)
}

func (l *fakeScheduler) record(format string, args ...any) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.orders = append(l.orders, fmt.Sprintf(format, args...))
	return l.fail
}

func (l *fakeScheduler) recorded() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.orders
}

func (l *fakeScheduler) SetWalltime(_ context.Context, s scheduler.WalltimeChange) error {
	return l.record("walltime %s of %s by %s, administrator: %v", s.Walltime, s.VJob, s.By, s.Admin)
}

func (l *fakeScheduler) OrderArray(_ context.Context, array cluster.VJobID, order scheduler.Order, by string) error {
	return l.record("%s array %s by %s", order, array, by)
}

func (l *fakeScheduler) Order(_ context.Context, id cluster.VJobID, order scheduler.Order, by string) error {
	return l.record("%s %s by %s", order, id, by)
}

func (l *fakeScheduler) SetNodes(_ context.Context, nodes []cluster.NodeID, state cluster.NodeState, act journal.Audit) error {
	var names []string
	for _, node := range nodes {
		if node != "n1" && node != "n2" {
			return fmt.Errorf("node %s: %w", node, cluster.ErrNotFound)
		}
		names = append(names, string(node))
	}
	return l.record("%s %s by %s", strings.Join(names, ","), state, act.By)
}

func (l *fakeScheduler) Maintain(_ context.Context, nodes []cluster.NodeID, reason string, act journal.Audit) error {
	return l.record("%s maintenance (%s) by %s", nodes, reason, act.By)
}

func (l *fakeScheduler) Ready(_ context.Context, nodes []cluster.NodeID, act journal.Audit) error {
	return l.record("%s ready by %s", nodes, act.By)
}

func (l *fakeScheduler) Orphans(context.Context) ([]scheduler.Orphan, error) {
	image := hypervisor.Image{
		ID:   hypervisor.ImageID{VM: cluster.VMID{VJob: 1, Rank: 1}, Generation: 2, Attempt: 1},
		Node: "n1", Bytes: 3 << 20, Complete: true, Written: time.Date(2026, time.March, 1, 8, 0, 0, 0, time.UTC),
	}
	return []scheduler.Orphan{{Image: image, Why: "node n1 is down", Restorable: true}}, nil
}

func (l *fakeScheduler) DiscardImage(_ context.Context, name, by string) error {
	return l.record("image %s deleted by %s", name, by)
}

func (l *fakeScheduler) Restore(_ context.Context, id cluster.VJobID, generation int, by string) error {
	return l.record("%s restored from generation %d by %s", id, generation, by)
}

func (l *fakeScheduler) SetPower(_ context.Context, node cluster.NodeID, want cycle.Want, act journal.Audit) error {
	return l.record("%s power %s by %s", node, want, act.By)
}

func (l *fakeScheduler) SetRules(ctx context.Context, text string, act journal.Audit) error {
	if err := l.CheckRules(ctx, text); err != nil {
		return err
	}
	return l.record("rules %q by %s", text, act.By)
}

func (l *fakeScheduler) SetBudgets(ctx context.Context, lines []budget.Budget, act journal.Audit) error {
	if err := l.CheckBudgets(ctx, lines); err != nil {
		return err
	}
	return l.record("budgets %v by %s", lines, act.By)
}

func (l *fakeScheduler) Disown(_ context.Context, user, former string) error {
	return l.record("%s is %s", user, former)
}

func (l *fakeScheduler) CheckBudgets(_ context.Context, lines []budget.Budget) error {
	_, err := budget.New(time.UTC, lines)
	return err
}

func (l *fakeScheduler) SetPrices(ctx context.Context, text string, act journal.Audit) error {
	if err := l.CheckPrices(ctx, text); err != nil {
		return err
	}
	return l.record("prices %q by %s", text, act.By)
}

func (l *fakeScheduler) CheckPrices(_ context.Context, text string) error {
	if text == "" {
		return nil
	}
	_, err := price.Parse(text)
	return err
}

func (l *fakeScheduler) CheckRules(_ context.Context, text string) error {
	return placement.Check(text, []cluster.Node{{ID: "n1"}}, nil)
}

func (l *fakeScheduler) Forecast(context.Context) (scheduler.QueueForecast, error) {
	total := cluster.Resources{CPU: 4000, Memory: 4096}
	jobs := []forecast.Job{
		{ID: 1, Need: cluster.Resources{CPU: 1000}, Reason: "waits: needs 1 CPU more"},
		{ID: 2, Need: cluster.Resources{CPU: 4000}, Reason: "runs", Runs: true, Left: time.Hour, Ends: true},
	}
	return scheduler.QueueForecast{
		At: l.snap.At, Total: total, Nodes: 1, VJobs: []*cluster.VJob{{ID: 1, Owner: "alice", Terms: &cluster.Terms{}}, {ID: 2, Owner: "bob", Terms: &cluster.Terms{}}}, Jobs: jobs,
		Schedule: forecast.Compute(&forecast.Scene{Now: l.snap.At, Total: total, Jobs: jobs}),
	}, nil
}

func (l *fakeScheduler) Snapshot() *scheduler.Snapshot { return l.snap }

// statuses returns those of the snapshot, for changes.
func (l *fakeScheduler) statuses() scheduler.Statuses {
	return l.snap.VJobs.(scheduler.Statuses) //nolint:forcetypeassert // the fixture makes it
}

// fixture is a server over a real database, with accounts for every role.
type fixture struct {
	*api.Server
	tb        testing.TB
	scheduler *fakeScheduler
	tokens    map[string]string // by account; "" has none
}

var epoch = time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)

func newFixture(tb testing.TB, change ...func(*api.Config)) *fixture {
	tb.Helper()
	store, err := db.Open(filepath.Join(tb.TempDir(), "vjob.db"))
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = store.Close() })
	b := &fixture{tb: tb, tokens: map[string]string{}, scheduler: &fakeScheduler{DB: store, snap: &scheduler.Snapshot{
		At: epoch, Ready: true, Policy: "firstfit",
		Nodes: []*scheduler.NodeStatus{{
			NodeReport: &execute.NodeReport{
				Node: cluster.Node{ID: "n1", Capacity: cluster.Resources{CPU: 4000, Memory: 8192}},
				Used: cluster.Resources{CPU: 1000, Memory: 512},
				VMs:  []cluster.VMID{{VJob: 1}, {VJob: 2}}, Since: epoch, Warnings: []string{"not confined"},
			},
			Problem: "cable",
		}},
		VJobs: scheduler.Statuses{1: {Reason: "first in line", Place: 1}},
		Pools: scheduler.PoolsStatus{Pools: []scheduler.PoolStatus{
			{Pool: entitlement.Pool{Member: pool.Member{Name: "cluster", Parent: -1, Settings: pool.Settings{CPU: pool.Controls{Limit: 4000, Shares: 1}}}}},
			{Pool: entitlement.Pool{Member: pool.Member{Name: "physics", Depth: 1, Settings: pool.Settings{
				CPU: pool.Controls{Reservation: 1000, Limit: pool.Unlimited, Shares: 2000}, Memory: pool.Controls{Limit: 4096, Shares: 1000},
			}}}, Stated: true, VJobs: 2},
		}},
		Running: []scheduler.ActionStatus{
			{Plan: 1, VM: cluster.VMID{VJob: 1}, What: "boot", Phase: "creating", To: "n1", Began: epoch, Expected: 6 * time.Second},
			{Plan: 1, VM: cluster.VMID{VJob: 2}, What: "boot", Phase: "creating", To: "n1", Began: epoch, Expected: 6 * time.Second},
		},
	}}}
	cfg := api.Config{
		Scheduler: b.scheduler, Reader: store, Accounts: store, Console: console{},
		Copier: store, Operator: &operator{}, Scratch: tb.TempDir(),
		Catalogue: catalogue{{ID: "sim", Kind: "simulated", Description: "a guest", Default: true}},
		Logger:    slog.New(slog.DiscardHandler),
	}
	for _, f := range change {
		f(&cfg)
	}
	if b.Server, err = api.New(cfg); err != nil {
		tb.Fatal(err)
	}
	for _, name := range []string{"alice", "bob", "root"} {
		role := journal.RoleUser
		if name == "root" {
			role = journal.RoleAdmin
		}
		b.must(store.CreateUser(tb.Context(), journal.User{Name: name, Role: role}, journal.Audit{}))
		b.tokens[name] = b.token(name, time.Time{})
	}
	return b
}

func (b *fixture) must(err error) {
	b.tb.Helper()
	if err != nil {
		b.tb.Fatal(err)
	}
}

func (b *fixture) token(user string, expires time.Time) string {
	secret := api.NewSecret()
	_, err := b.scheduler.CreateToken(b.tb.Context(), journal.NewToken{User: user, Hash: api.HashSecret(secret), Expires: expires}, journal.Audit{At: epoch})
	b.must(err)
	return secret
}

// submissionOf is a vjob of one VM.
func submissionOf(owner string) admission.Submission {
	return admission.Submission{
		Owner: owner, Name: "sim", At: epoch,
		VMs: []cluster.VM{{Reserved: cluster.Resources{CPU: 500, Memory: 256}, Payload: &cluster.Payload{Image: "sim"}}},
	}
}

// populate gives alice vjob 1 and bob vjob 2, and one plan that boots both.
func (b *fixture) populate() {
	b.tb.Helper()
	for _, owner := range []string{"alice", "bob"} {
		_, _, err := b.scheduler.DB.Submit(b.tb.Context(), submissionOf(owner))
		b.must(err)
	}
	_, err := b.scheduler.Load(b.tb.Context())
	b.must(err)
	boot := func(id ctxswitch.ActionID, job cluster.VJobID) ctxswitch.Action {
		return ctxswitch.Action{ID: id, Kind: cluster.Boot, VM: cluster.VMID{VJob: job}, To: "n1", End: 6 * time.Second, Cost: 256}
	}
	second := boot(1, 2)
	second.After = []ctxswitch.ActionID{0}
	b.must(b.scheduler.Commit(b.tb.Context(), journal.Step{
		Nodes: []cluster.Node{b.scheduler.snap.Nodes[0].Node},
		Plans: []journal.Plan{{ID: 1, At: epoch, Policy: "firstfit", State: journal.PlanRunning, Plan: ctxswitch.Plan{
			Actions: []ctxswitch.Action{boot(0, 1), second}, Cost: 512, Makespan: 6 * time.Second,
		}}},
		Actions: []journal.ActionChange{{Plan: 1, Action: 1, State: journal.PlanDropped, At: epoch, Note: "boot of VM 1.0, which it waited for, was given up"}},
		Recommendations: []journal.Recommendation{
			{
				ID: 1, Kind: journal.RecommendBalance, At: epoch, Expires: epoch.Add(time.Hour), Reason: "n1 is full", State: journal.RecommendationPending,
				Moves:  []cluster.Move{{VM: cluster.VMID{VJob: 1}, From: "n1", To: "n2"}},
				Before: journal.Measure{Imbalance: 0.5}, After: journal.Measure{Imbalance: 0.125}, Benefit: 300, Cost: 12,
				Prerequisites: []journal.Prerequisite{
					{VM: cluster.VMID{VJob: 1}, Moves: []cluster.Move{{VM: cluster.VMID{VJob: 2}, From: "n2", To: "n3"}}, Leave: []cluster.VJobID{3}}, {Off: "n1", Plan: 1},
				},
			},
			{ID: 2, Kind: journal.RecommendPower, At: epoch, Off: []cluster.NodeID{"n3"}, State: journal.RecommendationSuperseded, Note: "a later search does not propose it any more"},
		},
		Closed: []journal.PlanChange{{ID: 1, State: journal.PlanDone, Ended: epoch.Add(7 * time.Second), Note: "secret"}},
		Events: []journal.Event{
			{At: epoch, Kind: journal.EventPlan, Plan: 1, Text: "plan 1 began"},
			{At: epoch, Kind: journal.EventNode, Node: "n1", Text: "n1 is silent"},
			{At: epoch, Kind: journal.EventState, VJob: 1, State: "booting", Text: "vjob 1 boots"},
			{At: epoch, Kind: journal.EventState, VJob: 2, State: "booting", Text: "vjob 2 boots"},
		},
	}))
}

// as makes a request as a caller; headers are pairs.
func (b *fixture) as(caller, method, path, body string, headers ...string) *httptest.ResponseRecorder {
	b.tb.Helper()
	req := httptest.NewRequestWithContext(b.tb.Context(), method, path, strings.NewReader(body))
	if token := b.tokens[caller]; token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res := httptest.NewRecorder()
	b.Handler().ServeHTTP(res, req)
	return res
}

// read decodes an answer, strictly.
func read[T any](tb testing.TB, res *httptest.ResponseRecorder, status int) (out T) {
	tb.Helper()
	if res.Code != status {
		tb.Fatalf("status %d, want %d: %s", res.Code, status, res.Body)
	}
	decoder := json.NewDecoder(bytes.NewReader(res.Body.Bytes()))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&out); err != nil {
		tb.Fatalf("%v in %s", err, res.Body)
	}
	return out
}

const small = `{"name":"run","count":2,"template":{"cpu_milli":500,"memory_mib":256},"walltime_seconds":60}`

func TestSubmitAndShow(t *testing.T) {
	b := newFixture(t)
	res := b.as("alice", "POST", "/v1/vjobs", small, wire.KeyHeader, "k1")
	job := read[wire.VJob](t, res, http.StatusCreated)
	if job.Owner != "alice" || job.VMCount != 2 || job.CPUMilli != 1000 || job.MemoryMiB != 512 || job.State != "waiting" {
		t.Errorf("got %+v", job)
	}
	if at := res.Header().Get("Location"); at != fmt.Sprintf("/v1/vjobs/%d", job.ID) {
		t.Errorf("location %q", at)
	}
	again := read[wire.VJob](t, b.as("alice", "POST", "/v1/vjobs", small, wire.KeyHeader, "k1"), http.StatusOK)
	if again.ID != job.ID || again.VMCount != 2 {
		t.Errorf("the same key gave %+v", again)
	}
	if e := read[wire.Error](t, b.as("alice", "POST", "/v1/vjobs", small), http.StatusConflict); e.Error.Code != wire.CodeConflict {
		t.Errorf("a name twice gave %+v", e)
	}
	detail := read[wire.VJobDetail](t, b.as("alice", "GET", "/v1/vjobs/1", ""), http.StatusOK)
	if len(detail.VMs) != 2 || detail.VMs[1].ID != "1.1" || detail.Events == nil || detail.Phase != "absent" {
		t.Errorf("got %+v", detail)
	}
	if detail.Reason != "first in line" || detail.QueuePlace != 1 {
		t.Errorf("what the loop knows is not shown: %+v", detail.VJob)
	}
}

func TestListPages(t *testing.T) {
	b := newFixture(t)
	for range 5 {
		read[wire.VJob](t, b.as("alice", "POST", "/v1/vjobs", strings.Replace(small, `"name":"run",`, "", 1)), http.StatusCreated)
	}
	const first = "/v1/vjobs?limit=2&newest=true&live=true&state=waiting&state=running"
	res := b.as("alice", "GET", first, "")
	page := read[wire.VJobList](t, res, 200)
	if page.Total != 5 || page.Next == "" || len(page.VJobs) != 2 || page.VJobs[0].ID != 5 {
		t.Errorf("got %+v", page)
	}
	link, _, _ := strings.Cut(strings.TrimPrefix(res.Header().Get("Link"), "<"), `>; rel="next"`)
	read[wire.VJob](t, b.as("alice", "POST", "/v1/vjobs", strings.Replace(small, `"name":"run",`, "", 1)), http.StatusCreated) // shifts no page
	second := read[wire.VJobList](t, b.as("alice", "GET", link, ""), 200)
	if len(second.VJobs) != 2 || second.VJobs[0].ID != 3 || second.VJobs[1].ID != 2 {
		t.Errorf("%s: got %+v", link, second)
	}
	last := read[wire.VJobList](t, b.as("alice", "GET", first+"&cursor="+second.Next, ""), 200)
	if last.Next != "" || len(last.VJobs) != 1 || last.VJobs[0].ID != 1 {
		t.Errorf("got %+v", last)
	}
	for _, cursor := range []string{"", "0", "-1", "x", "1.5"} {
		if e := read[wire.Error](t, b.as("alice", "GET", "/v1/vjobs?cursor="+cursor, ""), 400).Error; e.Field != "cursor" {
			t.Errorf("cursor %q: %+v", cursor, e)
		}
	}
	if none := b.as("bob", "GET", "/v1/vjobs", ""); strings.TrimSpace(none.Body.String()) != `{"vjobs":[],"total":0}` {
		t.Errorf("an empty list is %s", none.Body)
	}
}

func TestPanicAndFault(t *testing.T) {
	b := newFixture(t)
	b.populate()
	b.scheduler.fail = io.ErrUnexpectedEOF
	e := read[wire.Error](t, b.as("alice", "POST", "/v1/vjobs/1/hold", ""), http.StatusInternalServerError)
	if e.Error.Code != wire.CodeInternal || strings.Contains(e.Error.Message, "EOF") {
		t.Errorf("a fault is reported as %+v", e)
	}
	b.scheduler.DB = nil
	e = read[wire.Error](t, b.as("alice", "POST", "/v1/vjobs", small), http.StatusInternalServerError)
	if e.Error.Code != wire.CodeInternal {
		t.Errorf("got %+v", e)
	}
	b.scheduler.fail = nil // the loop panics now
	read[wire.Error](t, b.as("alice", "POST", "/v1/vjobs", small), http.StatusInternalServerError)
}

func TestHealthAndMetrics(t *testing.T) {
	b := newFixture(t)
	b.populate()
	if h := read[wire.Health](t, b.as("", "GET", "/healthz", ""), 200); !h.Ready {
		t.Errorf("got %+v", h)
	}
	b.as("alice", "POST", "/v1/vjobs", small)
	b.as("alice", "POST", "/v1/vjobs", `{"count":0}`)
	text := b.as("alice", "GET", "/metrics", "").Body.String()
	for _, want := range []string{
		`vjob_submissions_total{result="created"} 1`, `vjob_submissions_total{result="refused"} 1`,
		`vjob_http_requests_total{code="400",method="POST",route="/v1/vjobs"} 1`,
		`vjob_vjobs{state="waiting"} 1`, `vjob_nodes{state="online"} 1`, `vjob_node_cpu_milli{use="free"} 3000`,
		`vjob_actions_running{kind="boot"} 2`, "vjob_ready 1",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("metrics lack %s", want)
		}
	}
	b.scheduler.snap = &scheduler.Snapshot{VJobs: scheduler.Statuses{}, Broken: "disk full"}
	if h := read[wire.Health](t, b.as("", "GET", "/healthz", ""), 503); h.Ready || !strings.HasSuffix(h.Reason, "no decision is taken: disk full") {
		t.Errorf("got %+v", h)
	}
	b.scheduler.snap = nil
	if h := read[wire.Health](t, b.as("", "GET", "/healthz", ""), 503); h.Ready || h.Reason == "" {
		t.Errorf("got %+v", h)
	}
}
