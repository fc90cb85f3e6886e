package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"vjob/api/client"
	"vjob/api/wire"
	"vjob/cluster"
)

// runDaemon starts a vjobd in a process of its own and returns a client, and what kills it.
func runDaemon(t *testing.T, dir string) (*client.Client, func()) {
	t.Helper()
	socket := filepath.Join(dir, "s")
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe", "--settings", filepath.Join(dir, "s.yaml"), "--state", filepath.Join(dir, "state"), "--socket", socket)
	cmd.Env = append(os.Environ(), asProgram+"=1")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	kill := func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
	t.Cleanup(kill)
	c, err := client.New(client.Settings{Server: "unix://" + socket})
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := c.Health(t.Context()); err == nil {
			return c, kill
		}
		if !sleep(t, 20*time.Millisecond) {
			t.Fatal("vjobd does not answer")
		}
	}
}

func sleep(t *testing.T, d time.Duration) bool {
	t.Helper()
	select {
	case <-t.Context().Done():
		return false
	case <-time.After(d):
		return true
	}
}

// A daemon that is killed again and again leaves each line of the output once in its file.
func TestOutputOutlivesKills(t *testing.T) {
	dir := t.TempDir()
	base := filepath.Join(dir, "out")
	err := os.Mkdir(base, 0o755) //nolint:gosec // users reach their folders below it
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "s.yaml"), fmt.Appendf(nil, "output: {directory: %s}\nsimulated: {speed: 60}\n", base), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	c, kill := runDaemon(t, dir)
	job, _, err := c.Submit(t.Context(), wire.Submission{
		Name: "count", Count: 1, Terms: wire.Terms{Terms: cluster.Terms{Output: "%x-%j.out", Error: "%x-%j.err"}},
		Template: &wire.VMSpec{CPUMilli: 1000, MemoryMiB: 64, Command: []string{"sh", "-c", "for i in $(seq 300); do echo $i; echo $i >&2; sleep 1; done"}},
	}, "")
	if err != nil || len(job.OutputFiles) != 2 || !strings.HasSuffix(job.OutputFiles[0].Path, "/count-1.out") {
		t.Fatalf("%+v, %v", job.OutputFiles, err)
	}
	seed := uint64(time.Now().UnixNano()) //nolint:gosec // any number
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for range 6 {
		sleep(t, time.Duration(random.IntN(700))*time.Millisecond)
		kill()
		c, kill = runDaemon(t, dir)
	}
	var want strings.Builder
	for i := range 300 {
		fmt.Fprintln(&want, i+1)
	}
	for _, file := range job.OutputFiles {
		for {
			text, err := os.ReadFile(file.Path)
			if !strings.HasPrefix(want.String(), string(text)) {
				t.Fatalf("%s: %q", file.Path, text)
			}
			if err == nil && len(text) == want.Len() {
				break
			}
			if !sleep(t, 50*time.Millisecond) {
				now, _ := c.VJob(t.Context(), job.ID)
				t.Fatalf("%s: %d bytes of %d, %v; %+v", file.Path, len(text), want.Len(), err, now.OutputFiles)
			}
		}
		if info, err := os.Stat(file.Path); err != nil || info.Mode() != 0o600 {
			t.Errorf("%v, %v", info, err)
		}
	}
}
