package api

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/gin-gonic/gin"

	"vjob/api/wire"
	"vjob/cluster"
)

// attachTime bounds the time to open a console.
const attachTime = 20 * time.Second

// Attacher opens interactive consoles of VMs. A VM that is not on the node, or has no such
// console, is cluster.ErrConflict.
type Attacher interface {
	Attach(ctx context.Context, vm cluster.VMID, node cluster.NodeID) (io.ReadWriteCloser, error)
}

// attach answers GET /v1/vjobs/{id}/console: the connection becomes a console of a guest,
// bytes both ways, until either side closes it. Only the owner may attach.
func (h *consoleHandler) attach(c *gin.Context, caller Subject) error {
	kept, err := h.finder.inPath(c, caller, Change)
	if err != nil {
		return err
	}
	if kept.Owner != caller.Name {
		return fmt.Errorf("vjob %s belongs to %s: only the owner may attach to its console: %w", kept.ID, kept.Owner, cluster.ErrForbidden)
	}
	q := queryReader{c: c}
	rank := q.number("rank", 0, int64(max(len(kept.VMs)-1, 0)), 0)
	if q.err != nil {
		return q.err
	}
	if asked := c.GetHeader("Upgrade"); !strings.EqualFold(asked, wire.ConsoleProtocol) {
		return cluster.BadField("Upgrade", asked, wire.ConsoleProtocol+", over HTTP/1.1")
	}
	vm := cluster.VMID{VJob: kept.ID, Rank: int(rank)}
	line, err := h.open(c.Request.Context(), vm)
	if err != nil {
		return err
	}
	defer func() { _ = line.Close() }()
	h.attached.Add(1) // before the server stops waiting for the connection
	defer h.attached.Done()
	conn, read, err := http.NewResponseController(c.Writer).Hijack()
	if err != nil {
		return cluster.BadField("Upgrade", c.Request.Proto, "HTTP/1.1")
	}
	defer func() { _ = conn.Close() }()
	h.relay(c, caller, conn, read.Reader, line)
	return nil
}

// open opens the console of a running VM.
func (h *consoleHandler) open(ctx context.Context, vm cluster.VMID) (io.ReadWriteCloser, error) {
	if h.attacher == nil {
		return nil, fmt.Errorf("console: the hypervisors of this site offer no interactive consoles: %w", cluster.ErrUnavailable)
	}
	ctx, cancel := context.WithTimeout(ctx, attachTime)
	defer cancel()
	for tries := 0; ; tries++ {
		status, live := h.snapshot().VJobs.Get(vm.VJob)
		switch {
		case live && status.State == cluster.Running && vm.Rank < len(status.Gang.Members):
			return h.attacher.Attach(ctx, vm, status.Gang.Members[vm.Rank].Node)
		case tries == snapshotTries || ctx.Err() != nil:
			return nil, fmt.Errorf("vjob %s does not run now: %w", vm.VJob, cluster.ErrConflict)
		}
		time.Sleep(snapshotPause)
	}
}

// The snapshot may lag behind the store for a moment: open looks again so many times,
// with a pause, for a vjob that the store shows as running.
const (
	snapshotTries = 20
	snapshotPause = 10 * time.Millisecond
)

// relay copies bytes both ways until either end closes. It checks the credentials again with
// every heartbeat, as streams do.
func (h *consoleHandler) relay(c *gin.Context, caller Subject, conn net.Conn, typed *bufio.Reader, line io.ReadWriteCloser) {
	_ = conn.SetDeadline(time.Time{}) // the deadlines of the request are over
	out := &deadlineConn{conn, h.perWrite}
	if _, err := fmt.Fprintf(out, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: %s\r\n\r\n", wire.ConsoleProtocol); err != nil {
		return
	}
	over, copying := make(chan struct{}, 2), sync.WaitGroup{}
	copied := func(to io.Writer, from io.Reader) {
		_, _ = io.Copy(to, from) // either end may go at any time
		over <- struct{}{}
	}
	copying.Go(func() { copied(line, typed) })
	copying.Go(func() { copied(out, line) })
	h.waitRelay(c, caller, over)
	_, _ = conn.Close(), line.Close()
	copying.Wait()
}

// waitRelay waits until one end is closed, the server stops or the credentials were revoked or
// changed.
func (h *consoleHandler) waitRelay(c *gin.Context, caller Subject, over <-chan struct{}) {
	pulse := time.NewTicker(h.streaming.heartbeat)
	defer pulse.Stop()
	for {
		select {
		case <-over:
			return
		case <-h.streaming.stop:
			return
		case <-pulse.C:
			if h.streaming.auth.confirm(c.Request, caller) != nil {
				return
			}
		}
	}
}

// deadlineConn is a connection with a deadline for each write.
type deadlineConn struct {
	net.Conn
	perWrite time.Duration
}

// Write writes one piece.
func (p *deadlineConn) Write(b []byte) (int, error) {
	if err := p.SetWriteDeadline(time.Now().Add(p.perWrite)); err != nil {
		return 0, err
	}
	return p.Conn.Write(b)
}
