package client_test

import (
	"context"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"vjob/api/client"
)

// impostor serves on a socket as another user, and tells the tokens that it gets.
func impostor(t *testing.T, path string, uid int) (tokens <-chan string) {
	t.Helper()
	type opened struct {
		listener net.Listener
		err      error
	}
	ready := make(chan opened)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with the goroutine
		_, _, errno := unix.RawSyscall(unix.SYS_SETRESUID, uintptr(uid), uintptr(uid), uintptr(uid))
		if errno != 0 {
			ready <- opened{nil, errno}
			return
		}
		l, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", path)
		ready <- opened{l, err}
	}()
	o := <-ready
	if o.err != nil {
		t.Fatal(o.err)
	}
	got := make(chan string, 1)
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case got <- r.Header.Get("Authorization"):
		default:
		}
		_, _ = w.Write([]byte(`{"name":"root","role":"admin","via":"socket"}`))
	})}
	go func() { _ = server.Serve(o.listener) }()
	t.Cleanup(func() { _ = server.Close() })
	return got
}

// A daemon that runs as a user of its own is trusted in the folder that root has given it.
func TestSocketOfTheDaemonsUser(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("NOT RUN: becoming another user takes root")
	}
	const other = 54321
	dir, err := os.MkdirTemp("/run", "vjob-test-*") //nolint:usetesting // the place counts
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chown(dir, other, other); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "vjobd.sock")
	impostor(t, path, other)
	c, err := client.New(client.Settings{Server: "unix://" + path, Retries: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if who, err := c.Whoami(context.Background()); err != nil || who.Name != "root" {
		t.Errorf("%+v, %v", who, err)
	}
}

// A server of another user on the usual path gets neither a request nor a token.
func TestSocketOfAnotherUser(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("NOT RUN: becoming another user takes root")
	}
	const other = 54321
	for name, prepare := range map[string]func(dir string) error{
		"in a folder of theirs":        func(dir string) error { return os.Chown(dir, other, other) },
		"in a folder that all may use": func(dir string) error { return os.Chmod(dir, 0o777|os.ModeSticky) },
	} {
		t.Run(name, func(t *testing.T) {
			run := t.TempDir()
			dir := filepath.Join(run, "vjob")
			for _, err := range []error{os.Chmod(filepath.Dir(run), 0o755), os.Chmod(run, 0o777|os.ModeSticky), os.Mkdir(dir, 0o755), prepare(dir)} {
				if err != nil {
					t.Fatal(err)
				}
			}
			tokens := impostor(t, filepath.Join(dir, "vjobd.sock"), other)
			env := map[string]string{"XDG_RUNTIME_DIR": run, "VJOB_TOKEN": "vjob_precious"}
			found, err := client.Discover("", func(key string) string { return env[key] })
			if err != nil {
				t.Fatal(err)
			}
			found.Retries = -1
			c, err := client.New(found)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			who, err := c.Whoami(context.Background())
			select {
			case token := <-tokens:
				t.Errorf("the impostor was sent %q, and answers %+v", token, who)
			default:
			}
			if err == nil || !strings.Contains(err.Error(), "uid 54321") {
				t.Errorf("%v, want an error that names uid 54321", err)
			}
		})
	}
}
