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

// secondLine is the alias of the serial port on which somebody may type.
const secondLine = "serial1"

// Attach opens the second serial port of a machine, /dev/ttyS1 of its guest. It has a
// connection of its own, on which one goroutine makes all calls.
func (d *Driver) Attach(ctx context.Context, vm cluster.VMID, node cluster.NodeID) (io.ReadWriteCloser, error) {
	h, err := d.host(node)
	if err != nil {
		return nil, err
	}
	select {
	case h.opening <- struct{}{}:
	default:
		return nil, fmt.Errorf("attach to %s on %s: %w: %d lines to guests are being opened already", vm, node, hypervisor.ErrUnreachable, cap(h.opening))
	}
	t := newTyping()
	opened := make(chan error, 1)
	d.running.Go(func() {
		t.run(h, vm, func(err error) {
			<-h.opening
			opened <- err
		})
	})
	select {
	case err = <-opened:
	case <-ctx.Done():
		err = fmt.Errorf("%w: the line is still being opened", hypervisor.ErrTimeout)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("attach to %s on %s: %w", vm, node, err), t.Close())
	}
	return t, nil
}

// typing is a line to a guest.
type typing struct {
	reader *io.PipeReader
	shown  *io.PipeWriter
	typed  chan []byte
	left   chan struct{} // closed by Close
	once   sync.Once
}

func newTyping() *typing {
	t := &typing{typed: make(chan []byte), left: make(chan struct{})}
	t.reader, t.shown = io.Pipe()
	return t
}

// Read reads what the guest shows.
func (t *typing) Read(p []byte) (int, error) { return t.reader.Read(p) }

// Write types.
func (t *typing) Write(p []byte) (int, error) {
	select {
	case t.typed <- append([]byte(nil), p...):
		return len(p), nil
	case <-t.left:
		return 0, io.ErrClosedPipe
	}
}

// Close leaves the guest as it is.
func (t *typing) Close() error {
	t.once.Do(func() { close(t.left) })
	return t.reader.Close()
}

// glance is how often a line is looked at for something new.
const glance = 20 * time.Millisecond

// run opens the line, says how that went, and lets bytes go both ways until either side
// is gone.
func (t *typing) run(h *host, vm cluster.VMID, opened func(error)) {
	conn, err := libvirt.NewConnect(h.URI)
	if err != nil {
		opened(fmt.Errorf("%w: %w", hypervisor.ErrUnreachable, translate(err)))
		return
	}
	defer release(conn)
	stream, err := h.openLine(conn, vm)
	opened(translate(err))
	if err != nil {
		return
	}
	probe(conn, h.driver.cfg.Timeouts) // not before: no call waits from now on
	t.pump(h.open, stream)
	stopProbing(conn)
	_, _ = stream.Abort(), stream.Free()
}

// openLine opens the second serial port of the machine of a VM.
func (h *host) openLine(conn *libvirt.Connect, vm cluster.VMID) (*libvirt.Stream, error) {
	stream, err := conn.NewStream(libvirt.STREAM_NONBLOCK)
	if err != nil {
		return nil, err
	}
	err = h.withMachine(conn, vm, func(m *libvirt.Domain) error {
		return m.OpenConsole(secondLine, stream, libvirt.DOMAIN_CONSOLE_FORCE)
	})
	if err != nil {
		_ = stream.Free()
		return nil, err
	}
	return stream, nil
}

// stream is what a line needs of a [libvirt.Stream] that does not block: it gives and takes
// less than nothing when it cannot at the moment.
type stream interface {
	Recv(p []byte) (int, error)
	Send(p []byte) (int, error)
}

// pump lets bytes go both ways, for as long as the driver is open.
func (t *typing) pump(open func() bool, stream stream) {
	defer func() { _ = t.shown.Close() }() // so the reader gets to the end
	piece := make([]byte, 16<<10)
	var waiting []byte
	for open() {
		n, err := stream.Recv(piece)
		if err != nil {
			return
		}
		if n > 0 {
			if _, err := t.shown.Write(piece[:n]); err != nil {
				return
			}
			continue
		}
		typed := t.typed
		if len(waiting) > 0 {
			n, err := stream.Send(waiting)
			if err != nil {
				return
			}
			waiting = waiting[max(n, 0):]
			typed = nil
		}
		select {
		case <-t.left:
			return
		case waiting = <-typed:
		case <-time.After(glance):
		}
	}
}
