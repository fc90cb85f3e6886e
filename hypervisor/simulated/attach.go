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

// pollInterval is how often a console checks whether its guest still exists.
const pollInterval = 50 * time.Millisecond

// Attach opens the console of a guest: a small shell that echoes its input. "exit", or the end
// of the input, shuts the guest down. A paused guest does not answer.
func (d *Driver) Attach(_ context.Context, vm cluster.VMID, node cluster.NodeID) (io.ReadWriteCloser, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, exists := d.guestAt(vm, node); !exists || d.closed {
		return nil, newFailure(hypervisor.ErrNoSuchVM, "attach to %s on %s", vm, node)
	}
	client, guest := net.Pipe()
	if before, ok := d.consoles[vm]; ok {
		_ = before.Close() // a VM has one console
	}
	d.consoles[vm] = guest
	d.serving.Go(func() { d.serve(guest, vm, node) }) //nolint:contextcheck // the console outlives its opening
	return client, nil
}

// guestAt reports whether a guest is on a node and not shutting down, and whether it runs; mu is
// held.
func (d *Driver) guestAt(vm cluster.VMID, node cluster.NodeID) (runs, exists bool) {
	d.cluster.advance(d.clock().now())
	m := d.cluster.nodes.at(node, vm)
	if m == nil || m.State == hypervisor.CopyDead || m.Memory.Stage == stopping {
		return false, false
	}
	return m.State == hypervisor.CopyRunning, true
}

// serve is the guest's side of a console, until the guest ends or the client closes it.
func (d *Driver) serve(conn net.Conn, vm cluster.VMID, node cluster.NodeID) {
	typed := make(chan byte)
	closed := make(chan struct{}) // by the client
	d.serving.Go(func() {
		defer close(closed)
		key := make([]byte, 1)
		for {
			if _, err := conn.Read(key); err != nil {
				return
			}
			select {
			case typed <- key[0]:
			case <-d.quit:
				return
			}
		}
	})
	defer func() {
		_ = conn.Close()
		select { // the reader may have a last byte
		case <-typed:
		case <-closed:
		}
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.consoles[vm] == conn {
			delete(d.consoles, vm)
		}
	}()
	s := shell{prompt: cluster.GuestName(vm) + "$ "}
	out := s.greeting()
	poll := time.NewTicker(pollInterval)
	defer poll.Stop()
	for {
		if len(out) > 0 {
			if _, err := conn.Write([]byte(out)); err != nil {
				return
			}
			out = ""
		}
		d.mu.Lock()
		runs, exists := d.guestAt(vm, node)
		d.mu.Unlock()
		if !exists {
			return
		}
		keys := typed
		if !runs {
			keys = nil // a paused guest reads nothing
		}
		select {
		case <-d.quit:
			return
		case <-closed:
			return
		case <-poll.C:
		case key := <-keys:
			out = s.press(key)
			if s.exited {
				_, _ = conn.Write([]byte(out))
				d.shutDown(vm, node)
				return
			}
		}
	}
}

// shutDown asks a guest to shut down, if it still exists.
func (d *Driver) shutDown(vm cluster.VMID, node cluster.NodeID) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	// An error means that the guest has ended already.
	_, _ = d.Do(ctx, hypervisor.Call{Verb: hypervisor.Shutdown, VM: vm, Node: node})
}

// shell is the program of a guest at its console.
type shell struct {
	prompt string
	input  []byte
	exited bool // exit was typed
}

func (s *shell) greeting() string {
	return "simulated guest: echoes its input; exit shuts it down\r\n" + s.prompt
}

// press handles one key and returns the output.
func (s *shell) press(key byte) string {
	const endOfInput, backspace, del = 0x04, 0x08, 0x7f
	switch {
	case key == '\r' || key == '\n':
		text := strings.TrimSpace(string(s.input))
		s.input = s.input[:0]
		switch text {
		case "":
			return "\r\n" + s.prompt
		case "exit", "logout":
			s.exited = true
			return "\r\n"
		}
		return fmt.Sprintf("\r\n%s\r\n%s", text, s.prompt)
	case key == endOfInput && len(s.input) == 0:
		s.exited = true
		return "\r\n"
	case (key == backspace || key == del) && len(s.input) > 0:
		s.input = s.input[:len(s.input)-1]
		return "\b \b"
	case key >= ' ' && key != del && len(s.input) < maxConsole:
		s.input = append(s.input, key)
		return string([]byte{key})
	}
	return ""
}
