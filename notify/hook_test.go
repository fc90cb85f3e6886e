package notify_test

import (
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"time"

	"vjob/notify"
)

type call struct{ body, stamp, signature string }

// listener starts a web server that records its calls.
func listener(t *testing.T) (port string, calls chan call) {
	t.Helper()
	calls = make(chan call, 10)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		calls <- call{string(body), r.Header.Get(notify.TimestampHeader), r.Header.Get(notify.SignatureHeader)}
		switch r.URL.Path {
		case "/away":
			http.Redirect(w, r, "/hook", http.StatusFound)
		case "/gone":
			w.WriteHeader(http.StatusGone)
		case "/broken":
			w.WriteHeader(http.StatusInternalServerError)
		}
	}))
	t.Cleanup(server.Close)
	_, port, _ = net.SplitHostPort(server.Listener.Addr().String())
	return port, calls
}

// Calls are signed, do not follow redirections, and reach nothing that is not allowed,
// whatever a name resolves to.
func TestHook(t *testing.T) {
	port, calls := listener(t)
	number, err := strconv.Atoi(port)
	if err != nil {
		t.Fatal(err)
	}
	loopback := []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}
	secret, every := []byte("s3cret"), []string{"*"}
	for _, tt := range []struct {
		name, address string
		hosts         []string
		networks      []netip.Prefix
		arrives       bool
		ok, refused   bool
	}{
		{"taken", "http://127.0.0.1:" + port + "/hook", []string{"127.0.0.1"}, loopback, true, true, false},
		{"every host", "http://127.0.0.1:" + port + "/hook", every, loopback, true, true, false},
		{"another host", "http://127.0.0.1:" + port + "/hook", []string{"hooks.example.org", "*.0.0.1x"}, loopback, false, false, true},
		{"loopback", "http://127.0.0.1:" + port + "/hook", every, nil, false, false, true},
		{"a name of loopback", "http://localhost:" + port + "/hook", every, nil, false, false, true},
		{"loopback as mapped IPv6", "http://[::ffff:127.0.0.1]:" + port + "/hook", every, nil, false, false, true},
		{"an address of the own link", "http://169.254.169.254/latest", every, nil, false, false, true},
		{"a private network", "http://10.0.0.1/", every, nil, false, false, true},
		{"a site-local address", "http://[fec0::1]/", every, nil, false, false, true},
		{"another port", "http://127.0.0.1:22/hook", every, loopback, false, false, true},
		{"redirected", "http://127.0.0.1:" + port + "/away", every, loopback, true, false, false},
		{"gone", "http://127.0.0.1:" + port + "/gone", every, loopback, true, false, true},
		{"broken", "http://127.0.0.1:" + port + "/broken", every, loopback, true, false, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a, err := notify.ParseAddress(tt.address)
			if err != nil {
				t.Fatal(err)
			}
			hook := notify.NewHook(notify.Hook{Hosts: tt.hosts, Networks: tt.networks, Ports: []int{80, number}, Secret: secret, Now: func() time.Time { return time.Unix(1e9, 0) }})
			err = hook.Carry(t.Context(), a, &notify.Message{Seq: 4, Tag: notify.End, VJob: 7})
			if (err == nil) != tt.ok || errors.Is(err, notify.ErrRefused) != tt.refused {
				t.Errorf("%v", err)
			}
			if err != nil && strings.Contains(err.Error(), a.URL.Path) && len(a.URL.Path) > 1 {
				t.Errorf("the error holds the path, which may be a secret: %v", err)
			}
			if (len(calls) == 1) != tt.arrives {
				t.Fatalf("%d calls arrived", len(calls))
			}
			if !tt.arrives {
				return
			}
			c := <-calls
			if want := notify.Sign(secret, c.stamp, []byte(c.body)); c.signature != want || c.stamp != "1000000000" {
				t.Errorf("signature %s of %s, want %s", c.signature, c.stamp, want)
			}
			var m notify.Message
			if err := json.Unmarshal([]byte(c.body), &m); err != nil || m.VJob != 7 || m.Tag != notify.End {
				t.Errorf("%s: %v", c.body, err)
			}
		})
	}
}

// What is refused when a vjob is submitted, and what the message says.
func TestHookCheck(t *testing.T) {
	hook := notify.Hook{Hosts: []string{"hooks.example.org"}, Ports: []int{443, 8443}}
	for text, want := range map[string]string{
		"https://hooks.example.org/x":       "",
		"https://hooks.example.org:8443/x":  "",
		"http://hooks.example.org/x":        `notify[1]: "hooks.example.org" is not one of the ports 443, 8443, which this site allows to be called`,
		"https://hooks.example.org:22/x":    `notify[1]: "hooks.example.org:22" is not one of the ports 443, 8443, which this site allows to be called`,
		"https://hooks.example.org:65979/x": `notify[1]: "hooks.example.org:65979" is not one of the ports 443, 8443, which this site allows to be called`,
		"https://example.org/x":             `notify[1]: "example.org" is not a host that this site allows to be called, or a mail address`,
	} {
		a, err := notify.ParseAddress(text)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if err := hook.Check("notify[1]", a.URL); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
