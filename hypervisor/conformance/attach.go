package conformance

import (
	"context"
	"errors"
	"io"
	"time"

	"vjob/cluster"
	"vjob/hypervisor"
)

var attachCases = []caseOf{
	{name: "a line goes both ways", row: "lines", needs: attached, run: attachEcho},
	{name: "who comes later takes the line over", row: "lines", needs: attached, run: attachTwice},
	{name: "a line ends with its guest", row: "lines", needs: attached, run: attachEnds},
	{name: "no line without a guest", row: "lines", needs: attached, run: attachNothing},
}

func attached(h *Harness) bool {
	_, ok := h.Driver.(hypervisor.Attacher)
	return ok && h.Line != nil
}

// attach opens the line of rank 0 on the first node.
func (b *bench) attach() (io.ReadWriteCloser, error) {
	ctx, cancel := context.WithTimeout(context.Background(), b.h.CallTimeout)
	defer cancel()
	return b.h.Driver.(hypervisor.Attacher).Attach(ctx, b.vm(0), b.node(0))
}

func (b *bench) mustAttach() io.ReadWriteCloser {
	b.Helper()
	line, err := b.attach()
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = line.Close() })
	return line
}

// attachEcho: what the harness types is answered, and closing leaves the guest alone.
func attachEcho(b *bench) {
	b.boot(0, 0)
	count := b.counter(0)
	line := b.mustAttach()
	if err := b.h.Line(line); err != nil {
		b.Error(err)
	}
	if err := line.Close(); err != nil {
		b.Error(err)
	}
	b.goesOn(0, count)
}

func attachTwice(b *bench) {
	b.boot(0, 0)
	first := b.mustAttach()
	second := b.mustAttach()
	if err := b.h.Line(second); err != nil {
		b.Error(err)
	}
	b.over(first)
}

// attachEnds: a destroyed guest, as one that is saved or moved, has no line any more.
func attachEnds(b *bench) {
	b.boot(0, 0)
	line := b.mustAttach()
	b.must(b.call(hypervisor.Destroy, 0, b.node(0)))
	b.over(line)
}

// over reads a line to its end, within the patience of the harness.
func (b *bench) over(line io.ReadWriteCloser) {
	b.Helper()
	ended := make(chan error, 1)
	go func() {
		_, err := io.Copy(io.Discard, line)
		ended <- err
	}()
	select {
	case err := <-ended:
		if err != nil {
			b.Errorf("a line that is over: %v", err)
		}
	case <-time.After(b.h.Patience):
		b.Error("the line goes on")
	}
}

func attachNothing(b *bench) {
	if _, err := b.attach(); !errors.Is(err, hypervisor.ErrNoSuchVM) {
		b.Errorf("a VM that is nowhere: %v", err)
	}
	b.boot(0, 0)
	a := b.h.Driver.(hypervisor.Attacher)
	if _, err := a.Attach(context.Background(), b.vm(0), b.node(1)); !errors.Is(err, hypervisor.ErrNoSuchVM) {
		b.Errorf("a VM on another node: %v", err)
	}
	if _, err := a.Attach(context.Background(), b.vm(0), "nowhere"); !errors.Is(err, cluster.ErrNotFound) && !errors.Is(err, hypervisor.ErrNoSuchVM) {
		b.Errorf("a VM on no node: %v", err)
	}
}
