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

// attach answers GET /v1/vjobs/{id}/console: the connection becomes a console of a guest,
// bytes both ways, until either side closes it. Only the owner may attach.
func (s *Server) attach(c *gin.Context, caller Subject) error {
	kept, err := s.vjob(c, caller, Change)
	if err != nil {
		return err
	}
	if kept.Owner != caller.Name {
		return fmt.Errorf("vjob %s belongs to %s: only the owner may attach to its console: %w", kept.ID, kept.Owner, cluster.ErrForbidden)
	}
	rank, err := queryNumber(c, "rank", 0, int64(max(len(kept.VMs)-1, 0)), 0)
	if err != nil {
		return err
	}
	if asked := c.GetHeader("Upgrade"); !strings.EqualFold(asked, wire.ConsoleProtocol) {
		return cluster.BadField("Upgrade", asked, wire.ConsoleProtocol+", over HTTP/1.1")
	}
	vm := cluster.VMID{VJob: kept.ID, Rank: int(rank)}
	line, err := s.openConsole(c.Request.Context(), vm)
	if err != nil {
		return err
	}
	defer func() { _ = line.Close() }()
	s.consoles.Add(1) // before the server stops waiting for the connection
	defer s.consoles.Done()
	conn, read, err := http.NewResponseController(c.Writer).Hijack()
	if err != nil {
		return cluster.BadField("Upgrade", c.Request.Proto, "HTTP/1.1")
	}
	defer func() { _ = conn.Close() }()
	s.relay(c, caller, conn, read.Reader, line)
	return nil
}

// openConsole opens the console of a running VM.
func (s *Server) openConsole(ctx context.Context, vm cluster.VMID) (io.ReadWriteCloser, error) {
	if s.attacher == nil {
		return nil, fmt.Errorf("console: the hypervisors of this site offer no interactive consoles: %w", cluster.ErrUnavailable)
	}
	ctx, cancel := context.WithTimeout(ctx, attachTime)
	defer cancel()
	for tries := 0; ; tries++ {
		status, live := s.snapshot().VJobs[vm.VJob]
		switch {
		case live && status.State == cluster.Running && vm.Rank < len(status.Gang.Members):
			return s.attacher.Attach(ctx, vm, status.Gang.Members[vm.Rank].Node)
		case tries == snapshotTries || ctx.Err() != nil:
			return nil, fmt.Errorf("vjob %s does not run now: %w", vm.VJob, cluster.ErrConflict)
		}
		time.Sleep(snapshotPause)
	}
}

// The snapshot may lag behind the store for a moment: openConsole looks again so many times,
// with a pause, for a vjob that the store shows as running.
const (
	snapshotTries = 20
	snapshotPause = 10 * time.Millisecond
)

// relay copies bytes both ways until either end closes. It checks the credentials again with
// every heartbeat, as streams do.
func (s *Server) relay(c *gin.Context, caller Subject, conn net.Conn, typed *bufio.Reader, line io.ReadWriteCloser) {
	_ = conn.SetDeadline(time.Time{}) // the deadlines of the request are over
	out := &deadlineConn{conn, s.limits.WriteTime}
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
	s.waitRelay(c, caller, over)
	_, _ = conn.Close(), line.Close()
	copying.Wait()
}

// waitRelay waits until one end is closed, the server stops or the credentials were revoked or
// changed.
func (s *Server) waitRelay(c *gin.Context, caller Subject, over <-chan struct{}) {
	pulse := time.NewTicker(s.heartbeat)
	defer pulse.Stop()
	for {
		select {
		case <-over:
			return
		case <-s.stop:
			return
		case <-pulse.C:
			if s.checkCaller(c.Request, caller) != nil {
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
