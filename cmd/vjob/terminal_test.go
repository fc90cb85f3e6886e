package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"vjob/tests/pty"
)

// asProgram is the variable that has the binary of the tests be the program itself.
const asProgram = "VJOB_TESTS_AS_PROGRAM"

// pseudo is a program on a pseudo-terminal, and everything that it has printed.
type pseudo struct {
	t    *testing.T
	user *os.File
	cmd  *exec.Cmd

	mu      sync.Mutex
	printed bytes.Buffer
	grown   chan struct{} // gets a token whenever something was printed
	ended   chan error
}

// onTerminal starts the program on a terminal that answers nothing by itself.
func onTerminal(t *testing.T, width, height uint16, env []string, args ...string) *pseudo {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	user, name := pty.Open(t)
	p := &pseudo{t: t, user: user, grown: make(chan struct{}, 1), ended: make(chan error, 1)}
	p.resize(width, height)
	line, err := os.OpenFile(name, os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = line.Close() }()
	p.cmd = exec.CommandContext(context.WithoutCancel(t.Context()), path, args...)
	p.cmd.Env = append([]string{"HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH"), "TERM=xterm-256color", "TZ=UTC", asProgram + "=1"}, env...)
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = line, line, line
	p.cmd.SysProcAttr = &unix.SysProcAttr{Setsid: true, Setctty: true}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.cmd.Process.Kill() })
	read := make(chan struct{})
	go func() {
		defer close(read)
		p.read()
	}()
	go func() {
		err := p.cmd.Wait()
		<-read // the terminal is gone once the last process has closed it
		p.ended <- err
	}()
	return p
}

func (p *pseudo) resize(width, height uint16) {
	p.t.Helper()
	if err := unix.IoctlSetWinsize(int(p.user.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: height, Col: width}); err != nil {
		p.t.Fatal(err)
	}
}

func (p *pseudo) read() {
	buffer := make([]byte, 4096)
	for {
		n, err := p.user.Read(buffer)
		p.mu.Lock()
		p.printed.Write(buffer[:n])
		p.mu.Unlock()
		select {
		case p.grown <- struct{}{}:
		default:
		}
		if err != nil {
			return
		}
	}
}

// all returns what was printed so far.
func (p *pseudo) all() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.printed.String()
}

// press types keys.
func (p *pseudo) press(keys string) {
	p.t.Helper()
	if _, err := io.WriteString(p.user, keys); err != nil {
		p.t.Fatal(err)
	}
}

// patience is when a test gives up waiting; nothing depends on it unless the test fails.
const patience = time.Minute

// end waits for the end of the program.
func (p *pseudo) end() error {
	p.t.Helper()
	select {
	case err := <-p.ended:
		return err
	case <-time.After(patience):
		p.t.Fatalf("no end; printed: %q", p.all())
		return nil
	}
}

// TestNoQueries: a command that prints a line asks nothing of the terminal, which may be one that does not answer.
func TestNoQueries(t *testing.T) {
	p := onTerminal(t, 80, 24, nil, "version")
	if err := p.end(); err != nil {
		t.Fatal(err)
	}
	if text := p.all(); text == "" || bytes.ContainsRune([]byte(text), '\x1b') {
		t.Errorf("printed %q, want the version and nothing that a terminal answers", text)
	}
}
