// Package openapi holds the OpenAPI document against a generator of clients: what it makes of the document compiles, and
// a program that uses it works with the daemon.
package openapi_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// want is what testdata/program.go prints.
const want = `once is terminated
a page of 2
a page of 2
a page of 1
refused: count
refused: name
`

func TestGeneratedClient(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	socket := filepath.Join(dir, "s")
	client := start(t, root, dir, socket)
	document := filepath.Join(dir, "openapi.json")
	if err := os.WriteFile(document, read(t, client, "http://vjob/v1/openapi.json"), 0o600); err != nil {
		t.Fatal(err)
	}
	// In the module, so that it finds the libraries of tools.mod; ./... leaves folders with a dot out.
	program := filepath.Join(root, ".cache", "generated")
	if err := os.MkdirAll(program, 0o750); err != nil {
		t.Fatal(err)
	}
	tool := func(args ...string) error {
		cmd := exec.CommandContext(t.Context(), "go", args...)
		cmd.Dir = root
		out, err := cmd.CombinedOutput()
		if err != nil {
			return fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, out)
		}
		return nil
	}
	if err := tool("mod", "download", "-modfile=tools.mod", "github.com/oapi-codegen/oapi-codegen/v2", "github.com/oapi-codegen/runtime"); err != nil {
		t.Skipf("the generator cannot be downloaded: %v", err)
	}
	if err := tool("tool", "-modfile=tools.mod", "oapi-codegen", "-generate", "types,client", "-package", "main", "-o", filepath.Join(program, "client.go"), document); err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("testdata/program.go")
	if err == nil {
		err = os.WriteFile(filepath.Join(program, "program.go"), source, 0o600)
	}
	if err == nil {
		err = tool("build", "-modfile=tools.mod", "-o", filepath.Join(dir, "program"), "./.cache/generated")
	}
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), filepath.Join(dir, "program"), socket).CombinedOutput()
	if err != nil || string(out) != want {
		t.Errorf("%v, it printed\n%s\nwant\n%s", err, out, want)
	}
}

// start starts a daemon with a simulated cluster, and returns a client of its socket.
func start(t *testing.T, root, dir, socket string) *http.Client {
	t.Helper()
	daemon := filepath.Join(dir, "vjobd")
	build := exec.CommandContext(t.Context(), "go", "build", "-tags", "libvirt_dlopen", "-o", daemon, "./cmd/vjobd")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the daemon: %v\n%s", err, out)
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	cmd := exec.CommandContext(ctx, daemon, "--state", filepath.Join(dir, "state"), "--socket", socket)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stop()
		_ = cmd.Wait() // it was killed
	})
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", socket)
	}
	return &http.Client{Transport: &http.Transport{DialContext: dial}}
}

// read returns the answer to a request once the daemon answers.
func read(t *testing.T, client *http.Client, url string) []byte {
	t.Helper()
	for began := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		res, err := client.Do(req)
		if err == nil {
			body, err := io.ReadAll(res.Body)
			_ = res.Body.Close()
			if err == nil && res.StatusCode == http.StatusOK {
				return body
			}
		}
		if time.Since(began) > time.Minute {
			t.Fatalf("the daemon does not answer: %v", err)
		}
	}
}
