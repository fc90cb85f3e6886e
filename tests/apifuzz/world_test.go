package apifuzz_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"

	"vjob/ctxswitch/journal"
	"vjob/daemon"
	"vjob/daemon/settings"
)

// The numbers of vjobs begin where no other number is likely, so that an answer that holds
// one is found out. So many are submitted before a run.
const (
	firstVJob = 7_300_001
	started   = 24
)

// caller is one way to come to the server.
type caller struct {
	name   string // of the account; "" if the credentials are worth nothing
	admin  bool
	token  string // what is sent; "" is no header
	canary string // a word that only this caller's requests hold
}

// sign adds the credentials.
func (c *caller) sign(h http.Header) {
	if c.token != "" {
		h.Set("Authorization", "Bearer "+c.token)
	}
}

// world is a whole daemon with a simulated cluster, in this process.
type world struct {
	tb       testing.TB
	handler  http.Handler
	address  string // of the TLS listener, if there is one
	settings settings.Settings
	doc      *openapi3.T
	callers  []*caller
	root     *caller
	faults   *faults
	owners   sync.Map // of vjobs, by number
	heard    sync.Map // numbers of vjobs that callers have written, "bob 7300001"
	crowded  bool     // limits are provoked: 429 and 503 are answers
	close    func()
}

// newWorld starts a daemon with accounts and vjobs.
func newWorld(tb testing.TB, change ...func(*settings.Settings)) *world {
	tb.Helper()
	dir, err := os.MkdirTemp(memory(), "apifuzz") //nolint:usetesting // a database for many requests belongs into memory
	must(tb, err)
	w := &world{tb: tb, faults: &faults{}}
	w.settings, err = settings.Default(func(string) string { return dir })
	must(tb, err)
	s := &w.settings
	s.State, s.Listen.Socket = filepath.Join(dir, "state"), filepath.Join(dir, "s")
	s.Nodes = []settings.Node{
		{Name: "n[1-2]", CPU: settings.CPU{MilliCPU: 4000}, Memory: settings.Size{MiB: 8 << 10}, Labels: map[string]string{"rack": "r1"}},
		{Name: "n[3-4]", CPU: settings.CPU{MilliCPU: 4000}, Memory: settings.Size{MiB: 8 << 10}, Labels: map[string]string{"rack": "r2"}},
	}
	s.Simulated.Speed = 500
	s.Timing.Tick.Duration, s.Timing.Rest.Duration, s.Timing.Plan.Duration = 500*time.Millisecond, 20*time.Millisecond, time.Millisecond
	s.Limits.RequestsPerSecond, s.Limits.VMsPerVJob, s.Limits.VJobsPerArray = 0, 20, 20
	for _, f := range change {
		f(s)
	}
	store, err := daemon.OpenStore(s)
	must(tb, err)
	token := func(name string, role journal.Role, expires time.Time) string {
		act := journal.Audit{At: time.Now(), By: "root", From: "uid 0"}
		secret, err := daemon.CreateToken(tb.Context(), store, journal.NewToken{User: name, Expires: expires}, role, act)
		must(tb, err)
		return secret
	}
	w.root = &caller{name: "root", admin: true, token: token("root", journal.RoleAdmin, time.Time{}), canary: "canaryroot"}
	w.callers = []*caller{w.root}
	for _, name := range []string{"alice", "bob", "carol"} {
		w.callers = append(w.callers, &caller{name: name, token: token(name, journal.RoleUser, time.Time{}), canary: "canary" + strings.ToUpper(name[:1]) + "x9" + name[1:] + "7q"})
	}
	for _, secret := range []string{"", "vjob_" + strings.Repeat("A", 43), token("bob", journal.RoleUser, time.Now().Add(-time.Hour))} {
		w.callers = append(w.callers, &caller{token: secret, canary: "canarynone"})
	}
	must(tb, store.Close())
	must(tb, number(tb.Context(), s.Database()))
	d, err := daemon.Open(tb.Context(), *s, slog.New(w.faults))
	must(tb, err)
	w.handler = d.Handler()
	if all := d.Addresses(); len(all) > 1 {
		w.address = all[1].String()
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- errors.Join(d.Serve(ctx), d.Close()) }()
	w.close = sync.OnceFunc(func() {
		cancel()
		if err := errors.Join(<-done, os.RemoveAll(dir)); err != nil {
			tb.Errorf("stop: %v", err)
		}
	})
	tb.Cleanup(w.close)
	w.populate()
	return w
}

// memory is where files need not outlive anything; "" is the usual place.
func memory() string {
	if info, err := os.Stat("/dev/shm"); err == nil && info.IsDir() {
		return "/dev/shm"
	}
	return ""
}

// number makes the numbers of vjobs begin at the first.
func number(ctx context.Context, path string) (err error) {
	d, err := sql.Open("sqlite3", path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	_, err = d.ExecContext(ctx, `INSERT INTO sqlite_sequence (name, seq) VALUES ('vjobs', ?)`, firstVJob-1)
	return err
}

// populate adds the accounts, tokens and vjobs of the start. It waits until the daemon is
// ready.
func (w *world) populate() {
	w.tb.Helper()
	for w.ask(w.root, "GET", "/healthz", "").status != http.StatusOK {
		time.Sleep(5 * time.Millisecond)
	}
	revoked := w.want(201, w.root, "POST", "/v1/users/alice/tokens", `{}`)
	w.want(204, w.root, "DELETE", fmt.Sprintf("/v1/users/alice/tokens/%v", revoked["id"]), "")
	w.callers = append(w.callers, &caller{token: revoked["secret"].(string), canary: "canarynone"})
	doc, err := openapi3.NewLoader().LoadFromData(w.ask(w.root, "GET", "/v1/openapi.json", "").body)
	must(w.tb, err)
	w.doc = doc
	for _, c := range w.callers[1:4] {
		w.submit(c)
	}
}

// submit gives a user eight vjobs: one that runs for long, one that is held, an array of
// three, one that ends, one of OAR's and a container.
func (w *world) submit(c *caller) {
	const long = `{"count":1,"name":"CANARY-long","template":{"cpu_milli":500,"memory_mib":256,"script":"CANARY","env":{"A":"CANARY"},"steps":[{"cpu_milli":400,"seconds":1e7}]},"labels":{"a":"CANARY"},"rules":"# CANARY\nspread($VMS);"`
	for _, body := range []string{
		long + `}`, strings.Replace(long, "-long", "-held", 1) + `,"hold":true}`,
		strings.Replace(long, "-long", "-array", 1) + `,"array":3,"parameters":["CANARY-1","CANARY-2","CANARY-3"]}`,
		`{"count":1,"name":"CANARY-ends","template":{"cpu_milli":100,"memory_mib":64,"steps":[{"cpu_milli":100,"seconds":1}]}}`,
	} {
		w.want(201, c, "POST", "/v1/vjobs", strings.ReplaceAll(body, canary, c.canary))
	}
	w.want(200, c, "POST", "/oarapi/jobs", strings.ReplaceAll(`{"resource":"core=1,walltime=1000","command":"echo CANARY","name":"CANARY"}`, canary, c.canary))
	w.want(201, c, "POST", "/v1/vjobs", strings.ReplaceAll(`{"name":"CANARY-box","count":2,"template":{"cpu_milli":500,"memory_mib":256},"walltime_seconds":10000000,"container":true}`, canary, c.canary))
}

// want makes a request that has to succeed, and returns the object that is answered.
func (w *world) want(status int, c *caller, method, path, body string) map[string]any {
	w.tb.Helper()
	a := w.ask(c, method, path, body)
	if a.status != status {
		w.tb.Fatalf("%s %s %s: %d %s", method, path, body, a.status, a.body)
	}
	var out map[string]any
	if len(a.body) > 0 {
		must(w.tb, json.Unmarshal(a.body, &out))
	}
	return out
}

// ask makes one request past all checks.
func (w *world) ask(c *caller, method, path, body string) *answer {
	path, query, _ := strings.Cut(path, "?")
	q := &request{caller: c, method: method, path: path, query: query, header: http.Header{}, body: []byte(body)}
	c.sign(q.header)
	return serve(w.handler, q)
}

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

// faults keeps what the daemon logs as an error.
type faults struct {
	mu   sync.Mutex
	said []string
}

func (f *faults) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelError }

func (f *faults) Handle(_ context.Context, r slog.Record) error {
	line := r.Message
	r.Attrs(func(a slog.Attr) bool {
		line += " " + a.String()
		return true
	})
	f.mu.Lock()
	defer f.mu.Unlock()
	f.said = append(f.said, line)
	return nil
}

func (f *faults) WithAttrs([]slog.Attr) slog.Handler { return f }
func (f *faults) WithGroup(string) slog.Handler      { return f }

// take returns what was said since, and forgets it.
func (f *faults) take() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	said := f.said
	f.said = nil
	return said
}
