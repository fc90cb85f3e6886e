package api_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"vjob/api"
	"vjob/api/client"
	"vjob/api/wire"
	"vjob/cluster"
	"vjob/ctxswitch/journal"
	"vjob/scheduler"
)

// attackers is the number of connections of each attack: as many as the server takes
// requests at a time.
const attackers = 256

// peers are the connections of an attack.
type peers []net.Conn

// attack opens connections to a served address and sends the same bytes on each.
func (b *fixture) attack(server string, n int, text string) peers {
	b.tb.Helper()
	network, address := "tcp", strings.TrimPrefix(server, "http://")
	if path, ok := strings.CutPrefix(server, "unix://"); ok {
		network, address = "unix", path
	}
	var opened peers
	for range n {
		conn, err := (&net.Dialer{}).DialContext(b.tb.Context(), network, address)
		b.must(err)
		b.tb.Cleanup(func() { _ = conn.Close() })
		if tcp, ok := conn.(*net.TCPConn); ok {
			b.must(tcp.SetReadBuffer(2 << 10))
		}
		opened = append(opened, conn)
		// The server may have had enough, or take no more: what it took is the attack.
		_ = conn.SetWriteDeadline(time.Now().Add(100 * time.Millisecond))
		_, _ = io.WriteString(conn, text)
	}
	return opened
}

// request is one request as it is sent on a connection.
func (b *fixture) request(caller, method, path, more string) string {
	text := method + " " + path + " HTTP/1.1\r\nHost: vjobd\r\n"
	if token := b.tokens[caller]; token != "" {
		text += "Authorization: Bearer " + token + "\r\n"
	}
	return text + more + "\r\n"
}

// answers reads the answers to the first request of each connection and counts them by
// status; 0 is a connection that was closed or broke without one. The functions are called with the counts so far
// after each answer.
func (p peers) answers(tb testing.TB, after ...func(counts map[int]int)) map[int]int {
	tb.Helper()
	var mu sync.Mutex
	var reading sync.WaitGroup
	counts := map[int]int{}
	for _, conn := range p {
		reading.Go(func() {
			code := 0
			_ = conn.SetReadDeadline(time.Now().Add(20 * time.Second))
			res, err := http.ReadResponse(bufio.NewReader(conn), nil) //nolint:bodyclose // it would wait for the end of a stream
			switch {
			case err == nil:
				code = res.StatusCode
			case errors.Is(err, os.ErrDeadlineExceeded):
				tb.Error("a connection has neither an answer nor an end")
			}
			mu.Lock()
			defer mu.Unlock()
			counts[code]++
			for _, call := range after {
				call(counts)
			}
		})
	}
	reading.Wait()
	return counts
}

// end waits until the server has closed every connection.
func (p peers) end(tb testing.TB) {
	tb.Helper()
	open := 0
	for _, conn := range p {
		_ = conn.SetReadDeadline(time.Now().Add(10 * time.Second))
		if _, err := io.Copy(io.Discard, conn); errors.Is(err, os.ErrDeadlineExceeded) {
			if open++; open == 3 {
				break
			}
		}
	}
	if open > 0 {
		tb.Errorf("at least %d of %d connections stay open", open, len(p))
	}
}

// checkService checks that other callers have their answers while an attack goes on: a health
// check, a user's submission, and an administrator on the socket.
func (b *fixture) checkService(socket, address string) {
	b.tb.Helper()
	ctx, cancel := context.WithTimeout(b.tb.Context(), 20*time.Second)
	defer cancel()
	for _, server := range []string{socket, address} {
		c, err := client.New(client.Settings{Server: server, Token: b.tokens["alice"], Retries: -1})
		b.must(err)
		defer c.Close()
		if _, _, err := c.Submit(ctx, wire.Submission{Count: 1, Template: &wire.VMSpec{CPUMilli: 1, MemoryMiB: 1}}, ""); err != nil {
			b.tb.Errorf("a submission over %s: %v", server, err)
		}
		admin, err := client.New(client.Settings{Server: server, Token: b.tokens["root"], Retries: -1})
		b.must(err)
		defer admin.Close()
		if _, err := admin.Users(ctx); err != nil {
			b.tb.Errorf("an administrator over %s: %v", server, err)
		}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address+"/healthz", nil)
	b.must(err)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		b.tb.Errorf("health: %v", err)
		return
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(res.Body)
		b.tb.Errorf("health: %d %s", res.StatusCode, text)
	}
}

// Connections that send many requests and read no answer hold nothing that others need.
func TestPeersThatNeverRead(t *testing.T) {
	for _, c := range []struct{ name, caller, path string }{
		{"without a token", "", "/v1/openapi.json"},
		{"with a token", "bob", "/v1/events"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newFixture(t)
			b.populate()
			b.writeEvents(journal.Event{Kind: journal.EventAlarm, VJob: 2, Text: strings.Repeat("x", 100<<10)})
			socket, address := b.serve()
			for _, server := range []string{socket, address} {
				b.attack(server, attackers, strings.Repeat(b.request(c.caller, "GET", c.path, ""), 80))
				b.checkService(socket, address)
			}
		})
	}
}

// A peer that reads nothing is disconnected after the time for writing.
func TestAnswersThatAreNotReadEnd(t *testing.T) {
	b := newFixture(t, func(c *api.Config) { c.Limits.WriteTime = 200 * time.Millisecond })
	b.populate()
	_, address := b.serve()
	stuck := b.attack(address, 4, strings.Repeat(b.request("bob", "GET", "/metrics", ""), 2000))
	var writing sync.WaitGroup
	for _, conn := range stuck {
		writing.Go(func() {
			// More is sent until the server has closed the connection.
			_ = conn.SetWriteDeadline(time.Now().Add(20 * time.Second))
			more := b.request("bob", "GET", "/metrics", "")
			for {
				if _, err := io.WriteString(conn, more); err != nil {
					if errors.Is(err, os.ErrDeadlineExceeded) {
						t.Error("the connection of a peer that reads nothing stays open")
					}
					return
				}
			}
		})
	}
	writing.Wait()
}

// Bodies that do not come hold the places of one caller.
func TestSlowBodies(t *testing.T) {
	b := newFixture(t)
	socket, address := b.serve()
	slow := b.attack(address, attackers, b.request("bob", "POST", "/v1/vjobs", "Content-Type: application/json\r\nContent-Length: 1000\r\n")+"{")
	b.checkService(socket, address)
	closeWrites := func(counts map[int]int) { // once the server has taken all that it takes
		if counts[429] == attackers-64 && counts[400] == 0 {
			for _, conn := range slow {
				_ = conn.(*net.TCPConn).CloseWrite()
			}
		}
	}
	if codes := slow.answers(t, closeWrites); codes[400] != 64 || codes[429] != attackers-64 {
		t.Errorf("bodies that never end: %v, want 64 that are waited for, and 429", codes)
	}
}

// Streams of one caller leave others theirs, and an administrator logs and copies.
func TestStreamsOfOneCaller(t *testing.T) {
	b := newFixture(t)
	b.populate()
	socket, address := b.serve()
	const accept = "Accept: text/event-stream\r\n"
	streams := b.attack(address, 64, b.request("bob", "GET", "/v1/events", accept))
	if codes := streams.answers(t); codes[200] != 32 || codes[429] != 32 {
		t.Errorf("64 streams of one caller: %v, want 32 with events, and 429", codes)
	}
	b.checkService(socket, address)
	for _, path := range []string{"/v1/events", "/v1/vjobs/1/logs", "/v1/backup"} {
		if codes := b.attack(address, 1, b.request("root", "GET", path, accept)).answers(t); codes[200] != 1 {
			t.Errorf("%s for an administrator: %v", path, codes)
		}
	}
	if codes := b.attack(address, 1, b.request("alice", "GET", "/v1/events", accept)).answers(t); codes[200] != 1 {
		t.Errorf("a stream of another user: %v", codes)
	}
}

// Connections without a known caller are closed after their answer.
func TestIdleStrangers(t *testing.T) {
	b := newFixture(t)
	b.populate()
	socket, address := b.serve()
	idle := b.attack(address, 400, b.request("", "GET", "/healthz", ""))
	b.checkService(socket, address)
	idle.end(t)
}

// blockingScheduler is a loop with forecasts that wait for the test.
type blockingScheduler struct {
	*fakeScheduler
	began chan struct{}
	let   chan struct{}

	mu            sync.Mutex
	running, most int
}

func (p *blockingScheduler) WhatIf(ctx context.Context, s scheduler.WhatIf) (scheduler.WhatIfResult, error) {
	p.note(1)
	defer p.note(-1)
	p.began <- struct{}{}
	<-p.let
	return p.fakeScheduler.WhatIf(ctx, s)
}

// note counts those under way.
func (p *blockingScheduler) note(more int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.running += more
	p.most = max(p.most, p.running)
}

// Many what-ifs of one caller are few at a time.
func TestWhatIfsOfOneCaller(t *testing.T) {
	slow := &blockingScheduler{began: make(chan struct{}, attackers), let: make(chan struct{})}
	b := newFixture(t, func(c *api.Config) { slow.fakeScheduler, c.Scheduler = c.Scheduler.(*fakeScheduler), slow })
	b.populate()
	socket, address := b.serve()
	body := `{"submit":` + anonymous + `}`
	ask := func(caller string) string {
		return b.request(caller, "POST", "/v1/what-if", fmt.Sprintf("Content-Type: application/json\r\nContent-Length: %d\r\n", len(body))) + body
	}
	many := b.attack(address, 200, ask("bob"))
	<-slow.began
	<-slow.began
	b.checkService(socket, address)
	other := b.attack(address, 1, ask("alice"))
	<-slow.began
	close(slow.let)
	if codes := other.answers(t); codes[200] != 1 {
		t.Errorf("a what-if of another user: %v", codes)
	}
	// Those that come once the first are answered may be answered as well.
	if codes := many.answers(t); codes[200] < 2 || codes[429] == 0 || codes[200]+codes[429] != 200 || slow.most != 3 {
		t.Errorf("200 what-ifs of one caller: %v, %d at once with that of another user; want 2 at once, and 429", codes, slow.most)
	}
}

// changingAccounts changes the users of accounts while the server runs.
type changingAccounts struct {
	api.Accounts
	mu  sync.Mutex
	now func(journal.User) journal.User // nil: as they are
}

func (d *changingAccounts) set(now func(journal.User) journal.User) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.now = now
}

func (d *changingAccounts) UserByToken(ctx context.Context, hash [32]byte, at time.Time) (journal.User, journal.Token, error) {
	user, token, err := d.Accounts.UserByToken(ctx, hash, at)
	d.mu.Lock()
	defer d.mu.Unlock()
	if err == nil && d.now != nil {
		if user = d.now(user); user.Name == "" {
			return user, token, cluster.ErrUnauthenticated
		}
	}
	return user, token, err
}

// A stream ends when its caller becomes another one.
func TestStreamEndsWithTheRole(t *testing.T) {
	for name, change := range map[string]func(journal.User) journal.User{
		"demoted":  func(u journal.User) journal.User { u.Role = journal.RoleUser; return u },
		"renamed":  func(u journal.User) journal.User { u.Name = "toor"; return u },
		"disabled": func(journal.User) journal.User { return journal.User{} },
	} {
		t.Run(name, func(t *testing.T) {
			accounts := &changingAccounts{}
			b := newFixture(t, func(c *api.Config) {
				c.HeartbeatEvery, c.PollEvery = 10*time.Millisecond, 20*time.Millisecond
				accounts.Accounts, c.Accounts = c.Accounts, accounts
			})
			b.populate()
			_, address := b.serve()
			stream := b.attack(address, 1, b.request("root", "GET", "/v1/events", "Accept: text/event-stream\r\n"))[0]
			b.must(stream.SetReadDeadline(time.Now().Add(10 * time.Second)))
			res, err := http.ReadResponse(bufio.NewReader(stream), nil)
			b.must(err)
			defer res.Body.Close()
			lines := bufio.NewScanner(res.Body)
			for lines.Scan() && lines.Text() != ": alive" {
			}
			accounts.set(change)
			for lines.Scan() {
			}
			if err := lines.Err(); !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("the stream does not break: %v", err)
			}
		})
	}
}
