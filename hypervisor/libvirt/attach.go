//go:build libvirt_dlopen && cgo

package libvirt

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"libvirt.org/go/libvirt"

	"vjob/cluster"
	"vjob/hypervisor"
)

var _ hypervisor.Attacher = (*Driver)(nil)

// secondSerial is the alias of the serial port for interactive use.
const secondSerial = "serial1"

// Attach opens the second serial port of a machine, /dev/ttyS1 of its guest. One goroutine
// makes all calls, on a connection of its own.
func (d *Driver) Attach(ctx context.Context, vm cluster.VMID, node cluster.NodeID) (io.ReadWriteCloser, error) {
	n, err := d.node(node)
	if err != nil {
		return nil, err
	}
	select {
	case n.attaching <- struct{}{}:
	default:
		return nil, fmt.Errorf("attach to %s on %s: %w: %d consoles of its guests are being opened already", vm, node, hypervisor.ErrUnreachable, cap(n.attaching))
	}
	console := newSerialConsole()
	opened := make(chan error, 1)
	d.running.Go(func() {
		console.run(n, vm, func(err error) {
			<-n.attaching
			opened <- err
		})
	})
	select {
	case err = <-opened:
	case <-ctx.Done():
		err = fmt.Errorf("%w: the console is still being opened", hypervisor.ErrTimeout)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("attach to %s on %s: %w", vm, node, err), console.Close())
	}
	return console, nil
}

// serialConsole is an open serial port of a guest.
type serialConsole struct {
	reader *io.PipeReader
	output *io.PipeWriter
	input  chan []byte
	closed chan struct{} // closed by Close
	once   sync.Once
}

func newSerialConsole() *serialConsole {
	console := &serialConsole{input: make(chan []byte), closed: make(chan struct{})}
	console.reader, console.output = io.Pipe()
	return console
}

// Read reads the output of the guest.
func (s *serialConsole) Read(p []byte) (int, error) { return s.reader.Read(p) }

// Write sends input to the guest.
func (s *serialConsole) Write(p []byte) (int, error) {
	select {
	case s.input <- append([]byte(nil), p...):
		return len(p), nil
	case <-s.closed:
		return 0, io.ErrClosedPipe
	}
}

// Close closes the console; the guest keeps running.
func (s *serialConsole) Close() error {
	s.once.Do(func() { close(s.closed) })
	return s.reader.Close()
}

// pollInterval is how often the stream is polled for output.
const pollInterval = 20 * time.Millisecond

// run opens the serial port, reports the result, and copies bytes both ways until one side
// closes.
func (s *serialConsole) run(n *node, vm cluster.VMID, opened func(error)) {
	conn, err := libvirt.NewConnect(n.URI)
	if err != nil {
		opened(fmt.Errorf("%w: %w", hypervisor.ErrUnreachable, translate(err)))
		return
	}
	defer release(conn)
	stream, err := n.openSerial(conn, vm)
	opened(translate(err))
	if err != nil {
		return
	}
	probe(conn, n.driver.cfg.Timeouts) // only now: no call is pending on it any more
	s.pump(n.open, stream)
	stopProbing(conn)
	_, _ = stream.Abort(), stream.Free()
}

// openSerial opens the second serial port of the machine of a VM.
func (n *node) openSerial(conn *libvirt.Connect, vm cluster.VMID) (*libvirt.Stream, error) {
	stream, err := conn.NewStream(libvirt.STREAM_NONBLOCK)
	if err != nil {
		return nil, err
	}
	err = n.withMachine(conn, vm, func(m *libvirt.Domain) error {
		return m.OpenConsole(secondSerial, stream, libvirt.DOMAIN_CONSOLE_FORCE)
	})
	if err != nil {
		_ = stream.Free()
		return nil, err
	}
	return stream, nil
}

// stream is the part of a non-blocking [libvirt.Stream] that a console uses. Recv and Send
// return a negative count when they would block.
type stream interface {
	Recv(p []byte) (int, error)
	Send(p []byte) (int, error)
}

// pump copies bytes both ways while the driver is open.
func (s *serialConsole) pump(open func() bool, stream stream) {
	defer func() { _ = s.output.Close() }() // ends the reader
	buffer := make([]byte, 16<<10)
	var pending []byte
	for open() {
		n, err := stream.Recv(buffer)
		if err != nil {
			return
		}
		if n > 0 {
			if _, err := s.output.Write(buffer[:n]); err != nil {
				return
			}
			continue
		}
		input := s.input
		if len(pending) > 0 {
			n, err := stream.Send(pending)
			if err != nil {
				return
			}
			pending = pending[max(n, 0):]
			input = nil
		}
		select {
		case <-s.closed:
			return
		case pending = <-input:
		case <-time.After(pollInterval):
		}
	}
}
