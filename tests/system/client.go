package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"strconv"
	"sync"
	"time"
)

// client speaks to a daemon as any program would: HTTP/1.1 and JSON over its socket, on connections that stay open. It does
// by hand what it needs of HTTP, since on a small machine the processor that it uses is taken from the daemon.
type client struct {
	socket string
	mu     sync.Mutex
	idle   []*connection
}

// connection is one connection to a daemon, and the request that is being written to it.
type connection struct {
	net.Conn
	from    *bufio.Reader
	request []byte
	used    time.Time
	until   time.Time // its deadline
}

const (
	// longest is how long a request may take, within a factor of two.
	longest = 10 * time.Minute
	// keptFor is how long an idle connection is used again; the daemon closes it later.
	keptFor = 30 * time.Second
)

func newClient(socket string) *client { return &client{socket: socket} }

// take returns an idle connection, or a new one.
func (c *client) take(ctx context.Context) (*connection, error) {
	c.mu.Lock()
	for n := len(c.idle); n > 0; n = len(c.idle) {
		last := c.idle[n-1]
		c.idle = c.idle[:n-1]
		if time.Since(last.used) < keptFor {
			c.mu.Unlock()
			return last, nil
		}
		_ = last.Close()
	}
	c.mu.Unlock()
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", c.socket)
	if err != nil {
		return nil, err
	}
	return &connection{Conn: conn, from: bufio.NewReader(conn)}, nil
}

// put keeps a connection for another request.
func (c *client) put(conn *connection) {
	conn.used = time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.idle = append(c.idle, conn)
}

func (c *client) closeIdle() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, conn := range c.idle {
		_ = conn.Close()
	}
	c.idle = nil
}

// answer is the answer to a request, up to its body.
type answer struct {
	status int
	body   io.Reader
}

// ask writes a request and reads the answer up to its body.
func (c *connection) ask(method, path, accept string, body []byte) (answer, error) {
	if now := time.Now(); c.until.Sub(now) < longest/2 { // not for each request: it may wake a thread
		c.until = now.Add(longest)
		if err := c.SetDeadline(c.until); err != nil {
			return answer{}, err
		}
	}
	c.request = fmt.Appendf(c.request[:0], "%s %s HTTP/1.1\r\nHost: vjobd\r\nAccept: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", method, path, accept, len(body), body)
	if _, err := c.Write(c.request); err != nil {
		return answer{}, err
	}
	return c.head()
}

// head reads the answer up to its body.
func (c *connection) head() (a answer, err error) {
	line, err := c.from.ReadSlice('\n')
	if err != nil {
		return a, err
	}
	if _, rest, ok := bytes.Cut(line, []byte(" ")); ok && len(rest) > 3 {
		a.status, _ = strconv.Atoi(string(rest[:3]))
	}
	a.body = bytes.NewReader(nil)
	for {
		line, err := c.from.ReadSlice('\n')
		if err != nil {
			return a, err
		}
		name, value, _ := bytes.Cut(bytes.TrimSpace(line), []byte(": "))
		switch string(name) {
		case "":
			return a, nil
		case "Content-Length":
			n, err := strconv.ParseInt(string(value), 10, 64)
			if err != nil {
				return a, err
			}
			a.body = io.LimitReader(c.from, n)
		case "Transfer-Encoding":
			a.body = httputil.NewChunkedReader(c.from)
		}
	}
}

// call makes a request and reads its answer, into out unless that is nil. It returns the size of the answer in bytes. A body
// of the type json.RawMessage is sent as it is.
func (c *client) call(ctx context.Context, method, path string, body, out any) (size int, err error) {
	text, raw := body.(json.RawMessage)
	if body != nil && !raw {
		if text, err = json.Marshal(body); err != nil {
			return 0, err
		}
	}
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	conn, err := c.take(ctx)
	if err != nil {
		return 0, err
	}
	a, err := conn.ask(method, path, "application/json", text)
	var read []byte
	if err == nil {
		read, err = io.ReadAll(a.body)
	}
	if err != nil {
		_ = conn.Close()
		return 0, err
	}
	c.put(conn)
	switch {
	case a.status < 200 || a.status >= 300:
		return 0, fmt.Errorf("%s %s: status %d: %.300s", method, path, a.status, read)
	case out != nil:
		return len(read), json.Unmarshal(read, out)
	default:
		return len(read), nil
	}
}

// ready reports whether the daemon answers that it is ready.
func (c *client) ready(ctx context.Context) bool {
	_, err := c.call(ctx, "GET", "/healthz", nil, nil)
	return err == nil
}

// submission is a vjob of equal VMs.
type submission struct {
	Name     string `json:"name,omitempty"`
	Count    int    `json:"count"`
	Array    int    `json:"array,omitempty"`
	Hold     bool   `json:"hold,omitempty"`
	Template vm     `json:"template"`
}

type vm struct {
	CPUMilli  int    `json:"cpu_milli"`
	MemoryMiB int    `json:"memory_mib"`
	Steps     []step `json:"steps,omitempty"`
}

type step struct {
	CPUMilli int     `json:"cpu_milli"`
	Seconds  float64 `json:"seconds"`
}

// gang returns a vjob of some VMs of one processor each, which run until it is deleted.
func gang(vms int) submission {
	return submission{Count: vms, Template: vm{CPUMilli: 1000, MemoryMiB: 512}}
}

// submit submits a vjob and returns its number.
func (c *client) submit(ctx context.Context, s submission) (id int64, err error) {
	var answer struct {
		ID int64 `json:"id"`
	}
	_, err = c.call(ctx, "POST", "/v1/vjobs", s, &answer)
	return answer.ID, err
}

// remove ends a vjob.
func (c *client) remove(ctx context.Context, id int64) error {
	_, err := c.call(ctx, "DELETE", fmt.Sprintf("/v1/vjobs/%d", id), nil, nil)
	return err
}

// page is one page of a list.
type page struct {
	Next string `json:"next"`
}

// lines reads a whole list as a stream, and returns how many entries and bytes it has.
func (c *client) lines(ctx context.Context, list string) (entries, read int, err error) {
	conn, err := c.take(ctx)
	if err != nil {
		return 0, 0, err
	}
	defer func() { _ = conn.Close() }()
	a, err := conn.ask("GET", list, "application/x-ndjson", nil)
	if err == nil && a.status != http.StatusOK {
		err = fmt.Errorf("a stream of %s: status %d", list, a.status)
	}
	if err != nil {
		return 0, 0, err
	}
	text := make([]byte, 64<<10)
	for {
		n, err := a.body.Read(text)
		entries, read = entries+bytes.Count(text[:n], []byte("\n")), read+n
		if errors.Is(err, io.EOF) {
			return entries, read, nil
		}
		if err != nil {
			return entries, read, err
		}
	}
}

// pages reads a whole list in pages of 1,000, and returns the bytes of its answers.
func (d *daemon) pages(ctx context.Context, list string, each func(*page)) (read int, err error) {
	for path := list + "?limit=1000"; ; {
		var p page
		size, err := d.call(ctx, "GET", path, nil, &p)
		if read += size; err != nil {
			return read, err
		}
		each(&p)
		if p.Next == "" {
			return read, nil
		}
		path = list + "?limit=1000&cursor=" + p.Next
	}
}
