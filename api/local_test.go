package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"vjob/api"
	"vjob/api/wire"
	"vjob/cluster"
	"vjob/ctxswitch/journal"
)

// systemUsers is what the system knows of its users in these tests.
func systemUsers(c *api.Config) {
	names := map[uint32]string{0: "operator", 33: "www-data", 2001: "ann", 2002: "eve", 2003: "bob", 65_534: "overflow", 100_007: "container"}
	c.Locals.Login = func(uid uint32) (string, error) {
		if name, ok := names[uid]; ok {
			return name, nil
		}
		return "", errors.New("unknown")
	}
	c.Locals.Subordinate = func(uid uint32) bool { return uid >= 100_000 }
	c.Locals.Groups = func(name string) ([]string, error) {
		if name == "ann" {
			return []string{"physics"}, nil
		}
		return nil, nil
	}
}

// socketClient calls a daemon as other users of the machine, which takes root.
type socketClient struct {
	*fixture
	path string
}

func newSocketClient(t *testing.T, change ...func(*api.Config)) *socketClient {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("NOT RUN: becoming another user takes root")
	}
	b := newFixture(t, append([]func(*api.Config){systemUsers}, change...)...)
	b.populate()
	socket, _ := b.serve()
	l := &socketClient{b, strings.TrimPrefix(socket, "unix://")}
	b.must(os.Chmod(filepath.Dir(filepath.Dir(l.path)), 0o755))
	return l
}

// ask makes one request as a local user, and returns its status and body.
func (l *socketClient) ask(uid uint32, method, path, body string) (status int, answer string) {
	l.tb.Helper()
	conns := make(chan net.Conn, 1)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with the goroutine
		if _, _, errno := unix.RawSyscall(unix.SYS_SETRESUID, uintptr(uid), uintptr(uid), uintptr(uid)); errno != 0 {
			l.tb.Error(errno)
		}
		conn, err := (&net.Dialer{}).DialContext(context.Background(), "unix", l.path)
		if err != nil {
			l.tb.Error(err)
		}
		conns <- conn
	}()
	conn := <-conns
	if conn == nil {
		l.tb.FailNow()
	}
	defer func() { _ = conn.Close() }()
	l.must(conn.SetDeadline(time.Now().Add(10 * time.Second)))
	transport := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { return conn, nil }, DisableKeepAlives: true}
	req, err := http.NewRequestWithContext(l.tb.Context(), method, "http://vjobd"+path, strings.NewReader(body))
	l.must(err)
	res, err := transport.RoundTrip(req)
	l.must(err)
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	l.must(err)
	return res.StatusCode, string(data)
}

const tiny = `{"template":{"cpu_milli":1,"memory_mib":1},"count":1}`

// Of the users of the machine only people submit: each of these got 201.
func TestUIDsThatAreNotPeople(t *testing.T) {
	l := newSocketClient(t)
	for uid, want := range map[uint32]string{
		54_321:  "uid 54321 has no name",
		100_007: "subordinate uid",
		33:      "www-data has no account",
		65_534:  "overflow has no account",
	} {
		if status, body := l.ask(uid, "POST", "/v1/vjobs", tiny); status != 403 || !strings.Contains(body, want) {
			t.Errorf("uid %d: %d %s, want 403 and %q", uid, status, body, want)
		}
	}
	if status, body := l.ask(2001, "POST", "/v1/vjobs", tiny); status != 201 {
		t.Errorf("ann: %d %s", status, body)
	}
	if status, _ := l.ask(2001, "GET", "/v1/users", ""); status != 403 {
		t.Errorf("ann lists the accounts: %d", status)
	}
	// What an administrator lists may be a service.
	if res := l.as("root", "POST", "/v1/users", `{"name":"www-data","local":true}`); res.Code != 201 {
		t.Fatal(res.Body)
	}
	if status, body := l.ask(33, "POST", "/v1/vjobs", tiny); status != 201 {
		t.Errorf("a listed service: %d %s", status, body)
	}
}

// A vjob tells its owner and administrators from where it was submitted, each vjob of an array too.
func TestOrigin(t *testing.T) {
	l := newSocketClient(t)
	alone := read[wire.VJob](t, l.as("alice", "POST", "/v1/vjobs", tiny), http.StatusCreated)
	array := read[wire.VJob](t, l.as("alice", "POST", "/v1/vjobs", strings.TrimSuffix(tiny, "}")+`,"array":2}`), http.StatusCreated)
	status, body := l.ask(2001, "POST", "/v1/vjobs", tiny)
	var local wire.VJob
	if err := json.Unmarshal([]byte(body), &local); err != nil || status != http.StatusCreated {
		t.Fatalf("ann: %d %s", status, body)
	}
	for id, want := range map[int64]string{alone.ID: "192.0.2.1", array.ID: "192.0.2.1", array.ID + 1: "192.0.2.1", local.ID: "uid 2001"} {
		path := fmt.Sprintf("/v1/vjobs/%d", id)
		detail := read[wire.VJobDetail](t, l.as("root", "GET", path, ""), http.StatusOK)
		if got := detail.Origin; got.From != want || (got.Token == "") != (id == local.ID) {
			t.Errorf("vjob %d is from %q, want %q", id, got, want)
		}
		if res := l.as("bob", "GET", path, ""); res.Code != http.StatusNotFound || strings.Contains(res.Body.String(), "192.0.2.1") {
			t.Errorf("bob reads vjob %d: %d %s", id, res.Code, res.Body)
		}
	}
	secret := read[wire.Token](t, l.as("alice", "POST", "/v1/users/alice/tokens", `{"name":"laptop"}`), http.StatusCreated)
	l.tokens["laptop"] = secret.Secret
	named := read[wire.VJob](t, l.as("laptop", "POST", "/v1/vjobs", tiny), http.StatusCreated)
	if got := read[wire.VJobDetail](t, l.as("alice", "GET", fmt.Sprintf("/v1/vjobs/%d", named.ID), ""), http.StatusOK).Origin.String(); got != "192.0.2.1, token laptop" {
		t.Error(got)
	}
}

func TestListedUsersOnly(t *testing.T) {
	l := newSocketClient(t, func(c *api.Config) { c.Locals.Listed = true })
	if status, body := l.ask(2001, "GET", "/v1/whoami", ""); status != 403 || !strings.Contains(body, "vjob accounts add ann --local") {
		t.Errorf("not listed: %d %s", status, body)
	}
	read[wire.User](t, l.as("root", "POST", "/v1/users", `{"name":"ann","role":"admin","local":true}`), 201)
	if status, body := l.ask(2001, "GET", "/v1/users", ""); status != 200 {
		t.Errorf("a listed administrator: %d %s", status, body)
	}
}

// A deleted or disabled account locks its local user out.
func TestAccountsThatAreGone(t *testing.T) {
	l := newSocketClient(t)
	enter := func(what string, want int) {
		t.Helper()
		if status, body := l.ask(2001, "GET", "/v1/whoami", ""); status != want {
			t.Errorf("%s: %d %s, want %d", what, status, body, want)
		}
	}
	enter("at first", 200)
	secret := l.token("ann", time.Time{})
	for _, step := range []struct {
		method, path, body string
		status, then       int
	}{
		{"PATCH", "/v1/users/ann", `{"disabled":true}`, 200, 403},
		{"PATCH", "/v1/users/ann", `{"disabled":false}`, 200, 200},
		{"DELETE", "/v1/users/ann", "", 204, 403},
		{"POST", "/v1/users", `{"name":"ann","local":true}`, 201, 200},
	} {
		if res := l.as("root", step.method, step.path, step.body); res.Code != step.status {
			t.Fatalf("%s %s: %d %s", step.method, step.path, res.Code, res.Body)
		}
		enter(step.method+" "+step.body, step.then)
		if res := l.as("", "GET", "/v1/whoami", "", "Authorization", "Bearer "+secret); step.then == 403 && res.Code != 401 {
			t.Errorf("%s %s: the token is good for %d", step.method, step.body, res.Code)
		}
	}
}

// The role of a network account does not hold for the local user of that name, and the vjobs
// of either are not the other's, until an administrator says that they are one.
func TestNetworkAccountIsNotTheLocalUser(t *testing.T) {
	l := newSocketClient(t)
	read[wire.User](t, l.as("root", "POST", "/v1/users", `{"name":"eve","role":"admin"}`), 201)
	if status, body := l.ask(2002, "GET", "/v1/users", ""); status != 403 || !strings.Contains(body, "vjob accounts change eve --local") {
		t.Errorf("the local eve with the role of the account: %d %s", status, body)
	}
	if status, _ := l.ask(2003, "GET", "/v1/vjobs/2", ""); status != 403 {
		t.Errorf("the local bob sees a vjob of the account bob: %d", status)
	}
	if res := l.as("root", "POST", "/v1/users", `{"name":"operator","role":"user"}`); res.Code != 400 || !strings.Contains(res.Body.String(), "local") {
		t.Errorf("a network account by the name of the machine's root: %d %s", res.Code, res.Body)
	}
	read[wire.User](t, l.as("root", "PATCH", "/v1/users/eve", `{"local":true}`), 200)
	if status, body := l.ask(2002, "GET", "/v1/users", ""); status != 200 {
		t.Errorf("linked: %d %s", status, body)
	}
}

// A name that the system gives to another uid is not the account of the former one.
func TestNameOfAnotherUID(t *testing.T) {
	names := map[uint32]string{2001: "ann"}
	l := newSocketClient(t, func(c *api.Config) {
		c.Locals.Login = func(uid uint32) (string, error) { return names[uid], nil }
	})
	if status, body := l.ask(2001, "POST", "/v1/vjobs", tiny); status != 201 {
		t.Fatal(status, body)
	}
	names[2009] = "ann"
	if status, body := l.ask(2009, "GET", "/v1/vjobs", ""); status != 403 || !strings.Contains(body, "is that of uid 2001") {
		t.Errorf("another ann: %d %s", status, body)
	}
	read[wire.User](t, l.as("root", "PATCH", "/v1/users/ann", `{"local":true}`), 200)
	if status, _ := l.ask(2009, "GET", "/v1/vjobs", ""); status != 200 {
		t.Error("an administrator has linked the account anew")
	}
	if status, _ := l.ask(2001, "GET", "/v1/vjobs", ""); status != 403 {
		t.Error("two uids have one account")
	}
}

// An account that gets a name anew inherits nothing of the former one.
func TestNameGivenAnew(t *testing.T) {
	b := newFixture(t)
	b.populate()
	add := func() {
		t.Helper()
		read[wire.User](t, b.as("root", "POST", "/v1/users", `{"name":"carol","role":"user"}`), 201)
		b.tokens["carol"] = b.token("carol", time.Time{})
	}
	add()
	former := b.tokens["carol"]
	job := read[wire.VJob](t, b.as("carol", "POST", "/v1/vjobs", tiny, wire.KeyHeader, "k1"), 201)
	if res := b.as("root", "DELETE", "/v1/users/carol", ""); res.Code != 409 {
		t.Fatalf("an account with a live vjob is deleted: %d", res.Code)
	}
	b.must(b.scheduler.Commit(t.Context(), journal.Step{
		VJobs:     []journal.VJobChange{{ID: cluster.VJobID(job.ID), State: cluster.Terminated, Outcome: cluster.Completed, Version: 1, Ended: epoch}},
		VJobHours: []journal.VJobHour{{Hour: epoch, VJob: cluster.VJobID(job.ID), Owner: "carol", Millijoules: 5}},
		Charges:   []journal.Charge{{User: "carol", Hour: epoch, CPUTime: 7}},
	}))
	if res := b.as("root", "DELETE", "/v1/users/carol", ""); res.Code != 204 {
		t.Fatal(res.Body)
	}
	add()
	if res := b.as("", "GET", "/v1/whoami", "", "Authorization", "Bearer "+former); res.Code != 401 {
		t.Errorf("a token of the former carol: %d", res.Code)
	}
	if list := read[wire.VJobList](t, b.as("carol", "GET", "/v1/vjobs", ""), 200); list.Total != 0 {
		t.Errorf("the new carol has %d vjobs of the former", list.Total)
	}
	one := fmt.Sprintf("/v1/vjobs/%d", job.ID)
	for _, path := range []string{one, one + "/logs", fmt.Sprintf("/v1/events?vjob=%d", job.ID)} {
		if res := b.as("carol", "GET", path, ""); res.Code != 404 {
			t.Errorf("the new carol reads %s: %d", path, res.Code)
		}
	}
	if events := read[wire.EventList](t, b.as("carol", "GET", "/v1/events", ""), 200); len(events.Events) != 0 {
		t.Errorf("the new carol has the events %+v", events.Events)
	}
	energy := read[wire.EnergyAccount](t, b.as("carol", "GET", "/v1/energy?by=vjob&from=2026-11-21T00:00:00Z&to=2026-11-22T00:00:00Z", ""), 200)
	if raw, _ := json.Marshal(energy); strings.Contains(string(raw), fmt.Sprintf(`"%d"`, job.ID)) {
		t.Errorf("the new carol has drawn %s", raw)
	}
	if again := read[wire.VJob](t, b.as("carol", "POST", "/v1/vjobs", tiny, wire.KeyHeader, "k1"), 201); again.ID == job.ID {
		t.Error("a key of the former carol gives the vjob of that time")
	}
	loaded, err := b.scheduler.Load(t.Context())
	b.must(err)
	if len(loaded.Charges) != 1 || loaded.Charges[0].User != "carol#4" {
		t.Errorf("charged: %+v", loaded.Charges)
	}
	if noted := b.scheduler.recorded(); noted[len(noted)-1] != "carol is carol#4" {
		t.Errorf("the loop was told %v", noted)
	}
	// The administrator still tells them apart.
	if row := read[wire.VJobDetail](t, b.as("root", "GET", one, ""), 200); row.Owner != "carol#4" {
		t.Errorf("its owner is %s", row.Owner)
	}
}

// An account that was deleted while a request was under way owns nothing new.
func TestDeletedDuringSubmission(t *testing.T) {
	b := newFixture(t)
	_, err := b.scheduler.DeleteUser(t.Context(), "alice", journal.Audit{At: epoch})
	b.must(err)
	_, _, err = b.scheduler.DB.Submit(t.Context(), submissionOf("alice"))
	if !errors.Is(err, cluster.ErrForbidden) {
		t.Errorf("a vjob of an account that is gone: %v", err)
	}
}
