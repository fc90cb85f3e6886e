package client

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"

	"vjob/api/wire"
	"vjob/cluster"
)

// Submit submits a vjob. The key makes repeating the submission safe; "" has one
// made for this call, so that a lost answer never makes two vjobs. created is
// false when the key had been used before.
func (c *vjobClient) Submit(ctx context.Context, s wire.Submission, key string) (job wire.VJob, created bool, err error) {
	if key == "" {
		key = rand.Text()
	}
	status, err := c.call(ctx, request{
		method: http.MethodPost, path: "/v1/vjobs", body: s,
		header: http.Header{wire.KeyHeader: {key}}, repeatable: true,
	}, &job)
	if err != nil {
		return wire.VJob{}, false, err
	}
	return job, status == http.StatusCreated, nil
}

// VJobs returns one page of the vjobs that the caller may see.
func (c *vjobClient) VJobs(ctx context.Context, q VJobQuery) (wire.VJobList, error) {
	return get[wire.VJobList](ctx, c.connection, "/v1/vjobs", q.values())
}

// VJob returns one vjob in full.
func (c *vjobClient) VJob(ctx context.Context, id int64) (wire.VJobDetail, error) {
	return get[wire.VJobDetail](ctx, c.connection, vjobPath(id), nil)
}

func vjobPath(id int64) string { return "/v1/vjobs/" + strconv.FormatInt(id, 10) }

// MoveVJob moves a vjob to another pool.
func (c *vjobClient) MoveVJob(ctx context.Context, id int64, pool string) (job wire.VJob, err error) {
	_, err = c.call(ctx, request{
		method: http.MethodPatch, path: vjobPath(id), body: wire.VJobChange{Pool: &pool}, repeatable: true,
	}, &job)
	return job, err
}

// SetMoves changes whether the VMs of a vjob move to improve the cluster.
func (c *vjobClient) SetMoves(ctx context.Context, id int64, mode cluster.MoveMode) (job wire.VJob, err error) {
	_, err = c.call(ctx, request{
		method: http.MethodPatch, path: vjobPath(id), body: wire.VJobChange{Moves: &mode}, repeatable: true,
	}, &job)
	return job, err
}

// SetWalltime gives a vjob another walltime, in seconds; 0 is unlimited.
func (c *vjobClient) SetWalltime(ctx context.Context, id, seconds int64) (job wire.VJob, err error) {
	_, err = c.call(ctx, request{
		method: http.MethodPatch, path: vjobPath(id), body: wire.VJobChange{WalltimeSeconds: &seconds}, repeatable: true,
	}, &job)
	return job, err
}

// Hold holds a ready vjob: it does not start until it is released.
func (c *vjobClient) Hold(ctx context.Context, id int64) (wire.VJob, error) {
	return c.order(ctx, http.MethodPost, vjobPath(id)+"/hold")
}

// Release releases a held vjob.
func (c *vjobClient) Release(ctx context.Context, id int64) (wire.VJob, error) {
	return c.order(ctx, http.MethodPost, vjobPath(id)+"/release")
}

// Suspend suspends a running vjob and holds it.
func (c *vjobClient) Suspend(ctx context.Context, id int64) (wire.VJob, error) {
	return c.order(ctx, http.MethodPost, vjobPath(id)+"/suspend")
}

// Resume lets a suspended and held vjob run again.
func (c *vjobClient) Resume(ctx context.Context, id int64) (wire.VJob, error) {
	return c.order(ctx, http.MethodPost, vjobPath(id)+"/resume")
}

// Requeue discards the progress of a vjob, and queues it again from scratch.
func (c *vjobClient) Requeue(ctx context.Context, id int64) (wire.VJob, error) {
	return c.order(ctx, http.MethodPost, vjobPath(id)+"/requeue")
}

// Delete ends a vjob.
func (c *vjobClient) Delete(ctx context.Context, id int64) (wire.VJob, error) {
	return c.order(ctx, http.MethodDelete, vjobPath(id))
}

// Restore goes back to kept images of a vjob, the newest if generation is 0 (administrators).
func (c *vjobClient) Restore(ctx context.Context, id int64, generation int) (job wire.VJob, err error) {
	_, err = c.call(ctx, request{method: http.MethodPost, path: vjobPath(id) + "/restore", body: wire.RestoreOrder{Generation: generation}}, &job)
	return job, err
}

// HoldArray holds the waiting vjobs of an array: they do not start until they are released.
func (c *vjobClient) HoldArray(ctx context.Context, array int64) (wire.VJob, error) {
	return c.orderArray(ctx, http.MethodPost, vjobPath(array)+"/hold")
}

// ReleaseArray releases the held vjobs of an array.
func (c *vjobClient) ReleaseArray(ctx context.Context, array int64) (wire.VJob, error) {
	return c.orderArray(ctx, http.MethodPost, vjobPath(array)+"/release")
}

// SuspendArray suspends the vjobs of an array that run, and holds them.
func (c *vjobClient) SuspendArray(ctx context.Context, array int64) (wire.VJob, error) {
	return c.orderArray(ctx, http.MethodPost, vjobPath(array)+"/suspend")
}

// ResumeArray lets the vjobs of an array that were suspended and held run again.
func (c *vjobClient) ResumeArray(ctx context.Context, array int64) (wire.VJob, error) {
	return c.orderArray(ctx, http.MethodPost, vjobPath(array)+"/resume")
}

// RequeueArray discards the progress of the vjobs of an array, and queues them again.
func (c *vjobClient) RequeueArray(ctx context.Context, array int64) (wire.VJob, error) {
	return c.orderArray(ctx, http.MethodPost, vjobPath(array)+"/requeue")
}

// DeleteArray ends all vjobs of an array.
func (c *vjobClient) DeleteArray(ctx context.Context, array int64) (wire.VJob, error) {
	return c.orderArray(ctx, http.MethodDelete, vjobPath(array))
}

// order gives an order to a vjob, and returns the vjob as it is right after.
func (c *vjobClient) order(ctx context.Context, method, path string) (job wire.VJob, err error) {
	_, err = c.call(ctx, request{method: method, path: path}, &job)
	return job, err
}

// orderArray gives an order to all vjobs of an array in one step, and returns the entry
// that stands for it.
func (c *vjobClient) orderArray(ctx context.Context, method, path string) (job wire.VJob, err error) {
	_, err = c.call(ctx, request{method: method, path: path, query: url.Values{"array": {"true"}}}, &job)
	return job, err
}

// LogQuery selects what of the console of a VM is read.
type LogQuery struct {
	Rank   int
	Output bool  // only what the command or script printed
	Errors bool  // what it wrote to standard error, which is kept apart
	Tail   int   // only the last lines, up to the server's bound; 0 is everything
	From   int64 // without the first bytes of the console
}

// Logs opens the console of one VM. The caller closes it.
func (c *vjobClient) Logs(ctx context.Context, id int64, q LogQuery) (io.ReadCloser, error) {
	query := url.Values{"rank": {strconv.Itoa(q.Rank)}}
	if q.Output {
		query.Set("part", "output")
	}
	if q.Errors {
		query.Set("part", "errors")
	}
	setNumber(query, "tail", int64(q.Tail))
	setNumber(query, "from", q.From)
	res, err := c.open(ctx, request{method: http.MethodGet, path: vjobPath(id) + "/logs", query: query, repeatable: true})
	if err != nil {
		return nil, err
	}
	return res.Body, nil
}

// Submission returns the body that submits a vjob again, or its whole array.
func (c *vjobClient) Submission(ctx context.Context, id int64, array bool) (s wire.Submission, err error) {
	query := url.Values{}
	if array {
		query.Set("array", "true")
	}
	return get[wire.Submission](ctx, c.connection, vjobPath(id)+"/submission", query)
}

// Attach opens the interactive console of a VM of the caller: bytes both ways. Reading ends when
// the guest ends or leaves its node. The caller closes it.
func (c *vjobClient) Attach(ctx context.Context, id int64, rank int) (io.ReadWriteCloser, error) {
	r := request{
		method: http.MethodGet, path: fmt.Sprintf("/v1/vjobs/%d/console", id), query: url.Values{"rank": {strconv.Itoa(rank)}},
		header: http.Header{"Connection": {"Upgrade"}, "Upgrade": {wire.ConsoleProtocol}}, repeatable: true,
	}
	res, err := c.open(ctx, r)
	if err != nil {
		return nil, err
	}
	if line, ok := res.Body.(io.ReadWriteCloser); ok && res.StatusCode == http.StatusSwitchingProtocols {
		return line, nil
	}
	res.Body.Close()
	return nil, fmt.Errorf("attach to vjob %d: %s answered %s without a console", id, c.server, res.Status)
}

// Forecast returns the expected start and end of each vjob, and the resources in use over time.
func (c *vjobClient) Forecast(ctx context.Context) (wire.Schedule, error) {
	return get[wire.Schedule](ctx, c.connection, "/v1/forecast", nil)
}

// WhatIf returns the decision after hypothetical changes; nothing is changed.
func (c *vjobClient) WhatIf(ctx context.Context, body wire.WhatIf) (result wire.WhatIfResult, err error) {
	_, err = c.call(ctx, request{method: http.MethodPost, path: "/v1/what-if", body: body, repeatable: true}, &result)
	return result, err
}
