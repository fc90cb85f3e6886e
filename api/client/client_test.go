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

// The pages of a list come one after another and together hold no more than asked for. Where a header names the next page,
// it is asked for before the body has come.
func TestPages(t *testing.T) {
	numbers := func(c *client.Client, limit int) (ids []int64) {
		for page, err := range c.VJobPages(t.Context(), client.VJobQuery{Limit: limit}, 2) {
			if err != nil {
				t.Fatal(err)
			}
			for i := range page.VJobs {
				ids = append(ids, page.VJobs[i].ID)
			}
		}
		return ids
	}
	first, last := `{"vjobs":[{"id":1},{"id":2}],"total":3,"next":"2"}`, `{"vjobs":[{"id":3}],"total":3}`
	c, n := script(t, say(200, first), say(200, last))
	if ids := numbers(c, 0); fmt.Sprint(ids) != "[1 2 3]" || n.Load() != 2 {
		t.Errorf("without a header: %v after %d requests", ids, n.Load())
	}
	c, n = script(t, say(200, first))
	if ids := numbers(c, 2); fmt.Sprint(ids) != "[1 2]" || n.Load() != 1 {
		t.Errorf("2 at most: %v after %d requests", ids, n.Load())
	}
	asked := make(chan struct{})
	c, _ = script(t,
		func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Link", `</v1/vjobs?cursor=2&limit=2>; rel="next"`)
			_ = http.NewResponseController(w).Flush()
			<-asked
			say(200, first)(w, r)
		},
		func(w http.ResponseWriter, r *http.Request) {
			if cursor := r.URL.Query().Get("cursor"); cursor != "2" {
				t.Errorf("cursor %q", cursor)
			}
			close(asked)
			say(200, last)(w, r)
		})
	if ids := numbers(c, 0); fmt.Sprint(ids) != "[1 2 3]" {
		t.Errorf("with a header: %v", ids)
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
