package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
)

// client speaks to a daemon as any program would: HTTP and JSON over its socket.
type client struct {
	http *http.Client
}

func newClient(socket string) *client {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", socket)
	}
	return &client{&http.Client{Transport: &http.Transport{DialContext: dial, MaxIdleConnsPerHost: 10_000}}}
}

func (c *client) closeIdle() { c.http.CloseIdleConnections() }

// call makes a request and reads its answer, into out unless that is nil. It returns the size of the answer in bytes.
func (c *client) call(ctx context.Context, method, path string, body, out any) (size int, err error) {
	var text []byte
	if body != nil {
		if text, err = json.Marshal(body); err != nil {
			return 0, err
		}
	}
	req, err := http.NewRequestWithContext(ctx, method, "http://vjobd"+path, bytes.NewReader(text))
	if err != nil {
		return 0, err
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := c.http.Do(req)
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	switch {
	case err != nil:
		return 0, err
	case res.StatusCode >= 300:
		return 0, fmt.Errorf("%s %s: status %d: %.300s", method, path, res.StatusCode, answer)
	case out != nil:
		return len(answer), json.Unmarshal(answer, out)
	default:
		return len(answer), nil
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
	VJobs []json.RawMessage `json:"vjobs"`
	Next  string            `json:"next"`
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
