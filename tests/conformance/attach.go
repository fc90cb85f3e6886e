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
	{name: "a console goes both ways", note: "consoles", needs: attached, run: attachEcho},
	{name: "a later console takes over", note: "consoles", needs: attached, run: attachTwice},
	{name: "a console ends with its guest", note: "consoles", needs: attached, run: attachEnds},
	{name: "no console without a guest", note: "consoles", needs: attached, run: attachNothing},
}

func attached(h *Harness) bool {
	_, ok := h.Driver.(hypervisor.Attacher)
	return ok && h.Converse != nil
}

// attach opens the console of rank 0 on the first node.
func (b *caseRun) attach() (io.ReadWriteCloser, error) {
	ctx, cancel := context.WithTimeout(context.Background(), b.h.CallTimeout)
	defer cancel()
	return b.h.Driver.(hypervisor.Attacher).Attach(ctx, b.vm(0), b.node(0))
}

func (b *caseRun) mustAttach() io.ReadWriteCloser {
	b.Helper()
	line, err := b.attach()
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = line.Close() })
	return line
}

// attachEcho checks that the guest answers, and that closing does not affect it.
func attachEcho(b *caseRun) {
	b.boot(0, 0)
	count := b.counter(0)
	line := b.mustAttach()
	if err := b.h.Converse(line); err != nil {
		b.Error(err)
	}
	if err := line.Close(); err != nil {
		b.Error(err)
	}
	b.continues(0, count)
}

func attachTwice(b *caseRun) {
	b.boot(0, 0)
	first := b.mustAttach()
	second := b.mustAttach()
	if err := b.h.Converse(second); err != nil {
		b.Error(err)
	}
	b.readToEnd(first)
}

// attachEnds checks that the console of a destroyed guest ends, as of a saved or migrated one.
func attachEnds(b *caseRun) {
	b.boot(0, 0)
	line := b.mustAttach()
	b.must(b.call(hypervisor.Destroy, 0, b.node(0)))
	b.readToEnd(line)
}

// readToEnd checks that reading a console ends, within the patience of the harness.
func (b *caseRun) readToEnd(line io.ReadWriteCloser) {
	b.Helper()
	ended := make(chan error, 1)
	go func() {
		_, err := io.Copy(io.Discard, line)
		ended <- err
	}()
	select {
	case err := <-ended:
		if err != nil {
			b.Errorf("the end of a console: %v", err)
		}
	case <-time.After(b.h.Patience):
		b.Error("the console does not end")
	}
}

func attachNothing(b *caseRun) {
	if _, err := b.attach(); !errors.Is(err, hypervisor.ErrNoSuchVM) {
		b.Errorf("a VM without a copy: %v", err)
	}
	b.boot(0, 0)
	a := b.h.Driver.(hypervisor.Attacher)
	if _, err := a.Attach(context.Background(), b.vm(0), b.node(1)); !errors.Is(err, hypervisor.ErrNoSuchVM) {
		b.Errorf("a VM on another node: %v", err)
	}
	if _, err := a.Attach(context.Background(), b.vm(0), "nowhere"); !errors.Is(err, cluster.ErrNotFound) && !errors.Is(err, hypervisor.ErrNoSuchVM) {
		b.Errorf("a VM on an unknown node: %v", err)
	}
}
