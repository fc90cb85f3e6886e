package simulated

import (
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"vjob/cluster"
	"vjob/hypervisor"
)

var _ hypervisor.Attacher = (*Driver)(nil)

// lookEvery is how often a line looks whether its guest is still there.
const lookEvery = 50 * time.Millisecond

// Attach opens the line of a guest: a small shell that says again what is typed. exit, or
// the end of the input, lets the guest shut itself down. While the guest stands still
// nothing is answered.
func (d *Driver) Attach(_ context.Context, vm cluster.VMID, node cluster.NodeID) (io.ReadWriteCloser, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, there := d.stands(vm, node); !there || d.closed {
		return nil, failed(hypervisor.ErrNoSuchVM, "attach to %s on %s", vm, node)
	}
	near, far := net.Pipe()
	if before, ok := d.attached[vm]; ok {
		_ = before.Close() // who comes later takes the line over
	}
	d.attached[vm] = far
	d.lines.Go(func() { d.serve(far, vm, node) }) //nolint:contextcheck // the line outlives its opening
	return near, nil
}

// stands is the copy of a VM on a node that has not begun to shut down; mu is held.
func (d *Driver) stands(vm cluster.VMID, node cluster.NodeID) (runs, there bool) {
	d.cluster.run(d.virtual())
	m := d.cluster.on(node, vm)
	if m == nil || m.State == hypervisor.CopyDead || m.Mem.Stage == stopping {
		return false, false
	}
	return m.State == hypervisor.CopyRunning, true
}

// serve is the guest's side of a line, until the guest or whoever typed is gone.
func (d *Driver) serve(line net.Conn, vm cluster.VMID, node cluster.NodeID) {
	typed := make(chan byte)
	gone := make(chan struct{})
	d.lines.Go(func() {
		defer close(gone)
		piece := make([]byte, 1)
		for {
			if _, err := line.Read(piece); err != nil {
				return
			}
			select {
			case typed <- piece[0]:
			case <-d.quit:
				return
			}
		}
	})
	defer func() {
		_ = line.Close()
		select { // the reader may hold a last byte
		case <-typed:
		case <-gone:
		}
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.attached[vm] == line {
			delete(d.attached, vm)
		}
	}()
	s := shell{prompt: cluster.GuestName(vm) + "$ "}
	out := s.greeting()
	pulse := time.NewTicker(lookEvery)
	defer pulse.Stop()
	for {
		if len(out) > 0 {
			if _, err := line.Write([]byte(out)); err != nil {
				return
			}
			out = ""
		}
		d.mu.Lock()
		runs, there := d.stands(vm, node)
		d.mu.Unlock()
		if !there {
			return
		}
		keys := typed
		if !runs {
			keys = nil // it stands still
		}
		select {
		case <-d.quit:
			return
		case <-gone:
			return
		case <-pulse.C:
		case key := <-keys:
			if out = s.press(key); s.over {
				_, _ = line.Write([]byte(out))
				d.shutDown(vm, node)
				return
			}
		}
	}
}

// shutDown lets a guest end itself, if it is there yet.
func (d *Driver) shutDown(vm cluster.VMID, node cluster.NodeID) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	// A guest that is gone already is as good.
	_, _ = d.Do(ctx, hypervisor.Call{Verb: hypervisor.Shutdown, VM: vm, Node: node})
}

// shell is what a guest answers on its line.
type shell struct {
	prompt string
	word   []byte
	over   bool // exit was typed
}

func (s *shell) greeting() string {
	return "a simulated guest, which says again what is typed; exit ends it\r\n" + s.prompt
}

// press takes one key and returns what is shown for it.
func (s *shell) press(key byte) string {
	const endOfInput, backspace, del = 0x04, 0x08, 0x7f
	switch {
	case key == '\r' || key == '\n':
		text := strings.TrimSpace(string(s.word))
		s.word = s.word[:0]
		switch text {
		case "":
			return "\r\n" + s.prompt
		case "exit", "logout":
			s.over = true
			return "\r\n"
		}
		return fmt.Sprintf("\r\n%s\r\n%s", text, s.prompt)
	case key == endOfInput && len(s.word) == 0:
		s.over = true
		return "\r\n"
	case (key == backspace || key == del) && len(s.word) > 0:
		s.word = s.word[:len(s.word)-1]
		return "\b \b"
	case key >= ' ' && key != del && len(s.word) < consoleKept:
		s.word = append(s.word, key)
		return string([]byte{key})
	}
	return ""
}
