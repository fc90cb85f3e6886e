package program_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"vjob/api/client"
	"vjob/api/wire"
	"vjob/cmd/program"
)

// daemon has a vjob 12 with a guest that echoes its input, and leaves when it reads a
// full stop.
func daemon(t *testing.T) *client.Client {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/vjobs/12/console" {
			_, _ = io.WriteString(w, `{"id": 12, "vms": [{"node": "n7"}]}`)
			return
		}
		conn, typed, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer func() { _ = conn.Close() }()
		_, _ = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: "+wire.ConsoleProtocol+"\r\n\r\n")
		for {
			key, err := typed.ReadByte()
			if err != nil || key == '.' {
				return
			}
			_, _ = conn.Write([]byte{key})
		}
	}))
	t.Cleanup(server.Close)
	c, err := client.New(client.Settings{Server: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// What is typed arrives, up to the key that leaves; a guest that goes ends the line; input
// that ends leaves it to the guest.
func TestAttach(t *testing.T) {
	for _, tt := range []struct {
		name, typed string
		want        error
	}{
		{"the key leaves", "hallo\x1d.", program.ErrLeft},
		{"the guest goes", "hallo.", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var out, errs bytes.Buffer
			work := program.Terminal{In: strings.NewReader(tt.typed), Out: &out, Err: &errs, Getenv: func(string) string { return "" }}
			if err := work.Work(t.Context(), daemon(t), 12); !errors.Is(err, tt.want) {
				t.Errorf("%v, want %v", err, tt.want)
			}
			if !strings.Contains(errs.String(), "vjob-12-0: Ctrl-] leaves") {
				t.Errorf("told: %q", errs.String())
			}
		})
	}
}

// A program of the user's choice gets the address of the VM, and its exit status does not matter.
func TestConnect(t *testing.T) {
	var out bytes.Buffer
	work := program.Terminal{In: strings.NewReader(""), Out: &out, Err: &out, Getenv: func(name string) string {
		return map[string]string{program.CommandVariable: "echo {guest} {node} {job}"}[name]
	}}
	if err := work.Work(t.Context(), daemon(t), 12); !errors.Is(err, program.ErrLeft) || out.String() != "vjob-12-0 n7 12\n" {
		t.Errorf("%v: %q", err, out.String())
	}
	work.Getenv = func(string) string { return "/nowhere/ssh" }
	if err := work.Work(t.Context(), daemon(t), 12); err == nil || errors.Is(err, program.ErrLeft) || !strings.Contains(err.Error(), program.CommandVariable) {
		t.Errorf("a program that is not there: %v", err)
	}
}
