package client_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"vjob/api/client"
	"vjob/api/wire"
	"vjob/cluster"
)

// script is a server that gives the answers one after another, the last for ever.
func script(t *testing.T, answers ...http.HandlerFunc) (*client.Client, *atomic.Int32) {
	t.Helper()
	var n atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		i := min(int(n.Add(1)), len(answers))
		answers[i-1](w, r)
	}))
	t.Cleanup(server.Close)
	c, err := client.New(client.Settings{Server: server.URL, Token: "t", Backoff: time.Microsecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c, &n
}

func say(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// cut breaks the connection without an answer.
func cut(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

func TestErrorsAreSentinels(t *testing.T) {
	for code, want := range map[string]error{
		wire.CodeInvalid: cluster.ErrInvalid, wire.CodeTooLarge: cluster.ErrInvalid, wire.CodeNotFound: cluster.ErrNotFound,
		wire.CodeConflict: cluster.ErrConflict, wire.CodeForbidden: cluster.ErrForbidden, wire.CodeTooMany: cluster.ErrTooMany,
		wire.CodeChanged: cluster.ErrChanged, wire.CodeUnauthenticated: cluster.ErrUnauthenticated, wire.CodeUnavailable: cluster.ErrUnavailable,
	} {
		c, _ := script(t, say(400, fmt.Sprintf(`{"error":{"code":%q,"message":"why","field":"vms[0].x"}}`, code)))
		_, err := c.VJob(t.Context(), 1)
		var told *client.Error
		if !errors.Is(err, want) || !errors.As(err, &told) || told.Field != "vms[0].x" || err.Error() != "vms[0].x: why" {
			t.Errorf("%s became %v", code, err)
		}
	}
	c, _ := script(t, say(500, "<html>proxy</html>"))
	if _, err := c.VJob(t.Context(), 1); err == nil || !strings.Contains(err.Error(), "500") {
		t.Errorf("got %v", err)
	}
}

func TestRepeats(t *testing.T) {
	busy := say(503, `{"error":{"code":"unavailable","message":"busy"}}`)
	c, n := script(t, busy, cut, say(200, `{"id":7}`))
	if job, err := c.VJob(t.Context(), 7); err != nil || job.ID != 7 || n.Load() != 3 {
		t.Errorf("a read: %v after %d tries", err, n.Load())
	}
	sent := make(chan string, 3)
	keep := func(next http.HandlerFunc) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			sent <- r.Header.Get(wire.KeyHeader)
			next(w, r)
		}
	}
	c, _ = script(t, keep(cut), keep(busy), keep(say(200, `{"id":7}`)))
	job, created, err := c.Submit(t.Context(), wire.Submission{}, "")
	close(sent)
	var keys []string
	for key := range sent {
		keys = append(keys, key)
	}
	if err != nil || created || job.ID != 7 || len(keys) != 3 || keys[0] == "" || keys[0] != keys[2] {
		t.Errorf("a submission: %v, keys %q", err, keys)
	}
	for name, answer := range map[string]http.HandlerFunc{"cut": cut, "busy": busy} {
		c, n = script(t, answer)
		if _, err := c.Suspend(t.Context(), 7); !errors.Is(err, cluster.ErrUnavailable) || n.Load() != 1 {
			t.Errorf("an order, %s: %v after %d tries", name, err, n.Load())
		}
	}
	c, n = script(t, say(429, ""), say(202, `{"id":7}`))
	if _, err := c.Suspend(t.Context(), 7); err != nil || n.Load() != 2 {
		t.Errorf("an order that was too early: %v after %d tries", err, n.Load())
	}
	c, n = script(t, say(400, ""))
	if _, err := c.VJob(t.Context(), 7); err == nil || n.Load() != 1 {
		t.Errorf("a bad request: %v after %d tries", err, n.Load())
	}
}

func TestNobodyThere(t *testing.T) {
	c, err := client.New(client.Settings{Server: "unix://" + filepath.Join(t.TempDir(), "none"), Backoff: time.Microsecond})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Status(t.Context()); !errors.Is(err, cluster.ErrUnavailable) || !strings.Contains(err.Error(), "VJOB_SERVER") {
		t.Errorf("got %v", err)
	}
}

// A list comes as a stream, with the number of all that match. One that breaks, or that is no stream, is an error.
func TestStreamVJobs(t *testing.T) {
	lines := func(text string, broken bool) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Accept") != wire.MediaLines {
				t.Errorf("accepts %q", r.Header.Get("Accept"))
			}
			w.Header().Set("Content-Type", wire.MediaLines)
			w.Header().Set(wire.TotalHeader, "3")
			say(200, text)(w, r)
			if broken {
				_ = http.NewResponseController(w).Flush()
				cut(w, r)
			}
		}
	}
	for _, c := range []struct {
		name    string
		answers []http.HandlerFunc
		want    string // the numbers, and the beginning of the error
	}{
		{"whole", []http.HandlerFunc{lines("{\"id\":1}\n{\"id\":2}\n{\"id\":3}\n", false)}, "3: 1 2 3"},
		{"empty", []http.HandlerFunc{lines("", false)}, "3:"},
		{"second try", []http.HandlerFunc{say(503, ""), lines("{\"id\":1}\n", false)}, "3: 1"},
		{"broken behind a line", []http.HandlerFunc{lines("{\"id\":1}\n", true)}, "3: 1 list of vjobs from"},
		{"broken within a line", []http.HandlerFunc{lines("{\"id\":1}\n{\"id\"", true)}, "3: 1 list of vjobs from"},
		{"without its end", []http.HandlerFunc{lines("{\"id\":1}\n{\"id\"", false)}, "3: 1 list of vjobs from"},
		{"no JSON", []http.HandlerFunc{lines("{\"id\":1}\n<html>", false)}, "3: 1 list of vjobs from"},
		{"a page", []http.HandlerFunc{say(200, `{"vjobs":[{"id":1}],"total":1}`)}, "list of vjobs: http"},
		{"refused", []http.HandlerFunc{say(403, `{"error":{"code":"forbidden","message":"no"}}`)}, "no"},
	} {
		speaker, _ := script(t, c.answers...)
		got := ""
		stream, err := speaker.StreamVJobs(t.Context(), client.VJobQuery{})
		if err == nil {
			got = fmt.Sprintf("%d:", stream.Total)
			for job, fault := range stream.All() {
				if err = fault; fault == nil {
					got += fmt.Sprintf(" %d", job.ID)
				}
			}
			stream.Close()
		}
		if err != nil {
			got = strings.TrimSpace(got + " " + err.Error())
		}
		if got != c.want && (err == nil || !strings.HasPrefix(got, c.want)) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestFollowGoesOn(t *testing.T) {
	var from []string
	stream := func(text string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			from = append(from, r.URL.Query().Get("after"))
			say(200, text)(w, r)
		}
	}
	c, _ := script(t,
		stream("retry: 1\n\nid: 4\nevent: state\ndata: {\"seq\":4,\"text\":\"a\"}\n\n: alive\n\nid: 5\ndata: {\"se"), cut,
		stream("id: 5\ndata: {\"seq\":5,\ndata: \"text\":\"b\"}\n\n"), say(403, `{"error":{"code":"forbidden","message":"no"}}`))
	var got []string
	for e, err := range c.Follow(t.Context(), client.EventQuery{After: 3}) {
		if err != nil {
			got = append(got, err.Error())
			break
		}
		got = append(got, e.Text)
	}
	if fmt.Sprint(got, from) != "[a b no] [3 4]" {
		t.Errorf("got %v from %v", got, from)
	}
}

func TestTokenStaysSecret(t *testing.T) {
	if _, err := client.New(client.Settings{Server: "http://example.org", Token: "t"}); !errors.Is(err, cluster.ErrInvalid) {
		t.Errorf("a token in the clear: %v", err)
	}
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("followed") }))
	defer elsewhere.Close()
	c, _ := script(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
	})
	if _, err := c.Status(t.Context()); err == nil {
		t.Error("a redirect is an answer")
	}
	for _, server := range []string{"", "ftp://x", "unix://host/path", "localhost:80", "http://"} {
		if _, err := client.New(client.Settings{Server: server}); !errors.Is(err, cluster.ErrInvalid) {
			t.Errorf("%q: %v", server, err)
		}
	}
}

func TestDiscover(t *testing.T) {
	home := t.TempDir()
	file := filepath.Join(home, ".config", "vjob", "token")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("fromfile\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		flag          string
		env           map[string]string
		server, token string
	}{
		"nothing":       {"", map[string]string{"HOME": home}, "unix://" + client.SystemSocket, ""},
		"environment":   {"", map[string]string{"HOME": home, "VJOB_SERVER": "https://a"}, "https://a", "fromfile"},
		"flag first":    {"https://b", map[string]string{"VJOB_SERVER": "https://a", "VJOB_TOKEN": "t"}, "https://b", "t"},
		"path":          {"/run/x", nil, "unix:///run/x", ""},
		"file by name":  {"https://b", map[string]string{"VJOB_TOKEN_FILE": file}, "https://b", "fromfile"},
		"without token": {"https://b", map[string]string{"HOME": t.TempDir()}, "https://b", ""},
	} {
		s, err := client.Discover(c.flag, func(key string) string { return c.env[key] })
		if err != nil || s.Server != c.server || s.Token != c.token {
			t.Errorf("%s: %+v, %v", name, s, err)
		}
	}
	if err := os.Chmod(file, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Discover("https://b", func(key string) string { return map[string]string{"HOME": home}[key] }); !errors.Is(err, cluster.ErrInvalid) {
		t.Errorf("a token file that other users can read: %v", err)
	}
}
