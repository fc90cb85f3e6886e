//go:build libvirt_dlopen

package endtoend

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"vjob/api/client"
	"vjob/api/wire"
	"vjob/cluster"
	"vjob/cmd/program"
	"vjob/cmd/vjob-oar/command"
	"vjob/daemon/settings"
	"vjob/tests/lab"
)

// screen collects the output of a terminal. Its methods may be called from any goroutine.
type screen struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements io.Writer.
func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// oar calls one of OAR's commands.
func (b systemTest) oar(in io.Reader, out io.Writer, name string, line ...string) (code int) {
	t := program.Terminal{In: in, Out: out, Err: out, Getenv: func(string) string { return "" }}
	return command.Run(b.Context(), name, line, command.Environment{
		Out: out, Err: out, Getenv: t.Getenv, Now: time.Now, Version: "test",
		Client: func() (*client.Client, error) { return b.d.client, nil }, Attach: t.Work,
		Size: func() (rows, columns int) { return 33, 99 }, Interrupted: context.WithCancel,
		Pause: func(ctx context.Context, _ time.Duration) bool {
			time.Sleep(50 * time.Millisecond)
			return ctx.Err() == nil
		},
	})
}

var jobNumber = regexp.MustCompile(`OAR_JOB_ID=(\d+)`)

// numbered is the number of the job that was submitted.
func (b systemTest) numbered(said string) (id int64) {
	b.Helper()
	found := jobNumber.FindStringSubmatch(said)
	if found == nil {
		b.Fatalf("no job: %s", said)
	}
	_, err := fmt.Sscan(found[1], &id)
	b.must(err)
	return id
}

// An OAR job on a real Linux guest that boots from a disk gets its script by the seed, and
// writes its output and exit code to the console. An interactive shell has job control and
// survives suspension to disk.
func TestLinux(t *testing.T) {
	b := setUp(t, lab.Options{Hosts: 2, ImageDiskMiB: 512})
	b.d.stop()
	disk, files := b.lab.LinuxDisk(), t.TempDir()
	b.must(os.Chmod(files, 0o755)) //nolint:gosec // users reach their folders below it
	b.d.configure(b.lab, func(s *settings.Settings) {
		s.Images = append(s.Images, settings.Image{ID: "linux", Kind: "disk", Disk: disk, Format: "raw"})
		s.Output.Directory = files
	})
	b.d.start()
	memory := fmt.Sprintf("%dMiB", lab.LinuxMiB)

	b.run("a job runs and ends", func(b systemTest) {
		var said bytes.Buffer
		script := "#!/bin/sh\n#OAR -l nodes=2/core=1,walltime=1\necho \"here is $(hostname), $1 of $OAR_JOB_ID\"\ncat $OAR_NODEFILE\nexit 3\n"
		path := b.TempDir() + "/job.sh"
		b.must(os.WriteFile(path, []byte(script), 0o700)) //nolint:gosec // a script
		if code := b.oar(nil, &said, "sub", "--mem", memory, "--image", "linux", "-S", path+" one"); code != 0 {
			b.Fatalf("exit %d: %s", code, said.String())
		}
		id := b.numbered(said.String())
		b.until("the job ends", func() bool { return b.job(id).Ended != nil })
		text := strings.ReplaceAll(string(b.console(id, 0)), "\r", "")
		want := fmt.Sprintf("here is vjob-%d-0, one of %d\nvjob-%d-0\nvjob-%d-1\n", id, id, id, id)
		if status := b.job(id).ExitStatus; !strings.Contains(text, want) || status != "3:0" {
			b.Errorf("exit status %q; want 3:0 and %s\n%s", status, want, text)
		}
		said.Reset()
		b.oar(nil, &said, "stat", "-f", "-j", fmt.Sprint(id))
		if !strings.Contains(said.String(), "768 (3,0,0)") {
			b.Errorf("oarstat -f: %s", said.String())
		}
	})
	b.run("output goes to files, errors to their own", func(b systemTest) { b.keepsOutput() })
	b.run("an interactive shell survives suspension", func(b systemTest) { b.works(memory) })
	b.d.stop()
}

// keepsOutput runs a command that prints to both streams, which go to two files.
func (b systemTest) keepsOutput() {
	job, _, err := b.d.client.Submit(b.Context(), wire.Submission{
		Count: 1, Terms: wire.Terms{Terms: cluster.Terms{Output: "%j.out", Error: "%j.err"}},
		Template: &wire.VMSpec{CPUMilli: 1000, MemoryMiB: lab.LinuxMiB, Image: "linux", Script: "#!/bin/sh\necho out\necho err >&2\necho more\nexit 4\n"},
	}, "")
	b.must(err)
	b.until("the vjob ends", func() bool { return b.job(job.ID).Ended != nil })
	for i, want := range []string{"out\nmore\n", "err\n"} {
		var text []byte
		b.until("its output is in "+job.OutputFiles[i].Path, func() bool {
			text, _ = os.ReadFile(job.OutputFiles[i].Path)
			return string(text) == want || b.Context().Err() != nil
		})
	}
	if status := b.job(job.ID).ExitStatus; status != "4:0" {
		b.Errorf("exit status %s", status)
	}
}

// works types into a shell in a job, suspends and resumes the job, and leaves the shell.
func (b systemTest) works(memory string) {
	b.Helper()
	keys, hand := io.Pipe()
	shown := &screen{}
	left := make(chan int, 1)
	go func() {
		left <- b.oar(keys, shown, "sub", "-I", "--mem", memory, "--image", "linux", "-l", "core=1,walltime=1")
	}()
	types := func(text string) {
		_, err := io.WriteString(hand, text)
		b.must(err)
	}
	sees := func(want string) {
		b.Helper()
		defer func() {
			if b.Failed() {
				b.Logf("shown: %q", shown.String())
			}
		}()
		b.until("the terminal shows "+want, func() bool { return strings.Contains(shown.String(), want) })
	}
	sees("Attached")
	id := b.numbered(shown.String())
	begun := time.Now()
	for !strings.Contains(shown.String(), "# \r\n") { // what is typed before there is a shell may be lost
		types("\r")
		time.Sleep(500 * time.Millisecond)
		if time.Since(begun) > patience {
			b.Fatalf("no shell: %q", shown.String())
		}
	}
	types("x=5; echo on-$(tty) size-$(stty size | tr ' ' -)\r")
	sees("on-/dev/ttyS1 size-33-99")
	types("sh -c \"echo runs-$((1+1)); exec sleep 1000\"\r")
	sees("runs-2") // it is what a key concerns
	types("\x03")
	types("echo after-$? x-$x\r")
	sees("after-130 x-5")
	types("sh -c \"echo runs-$((1+2)); exec sleep 2000\"\r")
	sees("runs-3")
	types("\x1a")
	types("kill -9 %1; wait; echo stopped-$?\r") // a shell with stopped jobs wants to be left twice
	sees("stopped-0")

	_, err := b.d.client.Suspend(b.Context(), id)
	b.must(err)
	b.state(id, "suspended")
	sees("reconnects when it continues")
	b.nowhere(id)
	_, err = b.d.client.Resume(b.Context(), id)
	b.must(err)
	b.until("the terminal is attached again", func() bool { return strings.Count(shown.String(), "Attached") == 2 })
	types("echo again-$x; exit 7\r")
	sees("again-5")
	select {
	case code := <-left:
		if code != 0 {
			b.Errorf("oarsub -I: exit %d\n%s", code, shown.String())
		}
	case <-time.After(patience):
		b.Fatalf("the shell is not left: %q", shown.String())
	}
	b.until("the job ends", func() bool { return b.job(id).Ended != nil })
	if status := b.job(id).ExitStatus; status != "7:0" {
		b.Errorf("exit status %q, want 7:0\n%s", status, b.console(id, 0))
	}
}
