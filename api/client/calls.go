package client

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strconv"

	"vjob/api/wire"
	"vjob/cluster"
)

// get is a read, which can be repeated.
func get[T any](ctx context.Context, c *Client, path string, query url.Values) (T, error) {
	var out T
	_, err := c.call(ctx, request{method: http.MethodGet, path: path, query: query, repeatable: true}, &out)
	return out, err
}

// Submit submits a vjob. The key makes repeating the submission safe; "" has one
// made for this call, so that a lost answer never makes two vjobs. created is
// false when the key had been used before.
func (c *Client) Submit(ctx context.Context, s wire.Submission, key string) (job wire.VJob, created bool, err error) {
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

// VJobQuery narrows a list of vjobs. Zero fields do not narrow.
type VJobQuery struct {
	States []string
	Owner  string // administrators only
	Name   string
	Live   bool  // only those that have not ended
	Newest bool  // latest first
	Array  int64 // only the vjobs of this array
	Fold   bool  // one entry for each array
	Offset int
	Limit  int // 0 is the server's default
}

func (q VJobQuery) values() url.Values {
	v := url.Values{}
	for _, s := range q.States {
		v.Add("state", s)
	}
	setText(v, "owner", q.Owner)
	setText(v, "name", q.Name)
	setTrue(v, "live", q.Live)
	setTrue(v, "newest", q.Newest)
	setNumber(v, "array", q.Array)
	setTrue(v, "fold", q.Fold)
	setNumber(v, "offset", int64(q.Offset))
	setNumber(v, "limit", int64(q.Limit))
	return v
}

func setText(v url.Values, key, text string) {
	if text != "" {
		v.Set(key, text)
	}
}

func setTrue(v url.Values, key string, is bool) {
	if is {
		v.Set(key, "true")
	}
}

func setNumber(v url.Values, key string, n int64) {
	if n != 0 {
		v.Set(key, strconv.FormatInt(n, 10))
	}
}

// VJobs is one page of the vjobs that the caller may see.
func (c *Client) VJobs(ctx context.Context, q VJobQuery) (wire.VJobList, error) {
	return get[wire.VJobList](ctx, c, "/v1/vjobs", q.values())
}

// AllVJobs walks all pages from q.Offset on; q.Limit is the size of a page. The
// walk ends at the first error.
func (c *Client) AllVJobs(ctx context.Context, q VJobQuery) iter.Seq2[wire.VJob, error] {
	return func(yield func(wire.VJob, error) bool) {
		for {
			page, err := c.VJobs(ctx, q)
			if err != nil {
				yield(wire.VJob{}, err)
				return
			}
			for _, j := range page.VJobs {
				if !yield(j, nil) {
					return
				}
			}
			if page.Next <= q.Offset {
				return
			}
			q.Offset = page.Next
		}
	}
}

func vjobPath(id int64) string { return "/v1/vjobs/" + strconv.FormatInt(id, 10) }

// VJob is one vjob in full.
func (c *Client) VJob(ctx context.Context, id int64) (wire.VJobDetail, error) {
	return get[wire.VJobDetail](ctx, c, vjobPath(id), nil)
}

// order asks something of a vjob and returns the vjob as it is right after.
func (c *Client) order(ctx context.Context, method, path string) (wire.VJob, error) {
	return c.orderWith(ctx, method, path, nil)
}

func (c *Client) orderWith(ctx context.Context, method, path string, query url.Values) (job wire.VJob, err error) {
	_, err = c.call(ctx, request{method: method, path: path, query: query}, &job)
	return job, err
}

// Hold keeps a ready vjob from being chosen until it is released.
func (c *Client) Hold(ctx context.Context, id int64) (wire.VJob, error) {
	return c.order(ctx, http.MethodPost, vjobPath(id)+"/hold")
}

// Release takes a hold back.
func (c *Client) Release(ctx context.Context, id int64) (wire.VJob, error) {
	return c.order(ctx, http.MethodPost, vjobPath(id)+"/release")
}

// Requeue gives up what a vjob has done, and queues it again from scratch.
func (c *Client) Requeue(ctx context.Context, id int64) (wire.VJob, error) {
	return c.order(ctx, http.MethodPost, vjobPath(id)+"/requeue")
}

// Suspend suspends a running vjob and holds it.
func (c *Client) Suspend(ctx context.Context, id int64) (wire.VJob, error) {
	return c.order(ctx, http.MethodPost, vjobPath(id)+"/suspend")
}

// Resume lets a suspended and held vjob run again.
func (c *Client) Resume(ctx context.Context, id int64) (wire.VJob, error) {
	return c.order(ctx, http.MethodPost, vjobPath(id)+"/resume")
}

// Delete ends a vjob.
func (c *Client) Delete(ctx context.Context, id int64) (wire.VJob, error) {
	return c.order(ctx, http.MethodDelete, vjobPath(id))
}

// Logs opens the console of one member. tail > 0 gives only the last lines, up
// to the server's bound. The caller closes it.
func (c *Client) Logs(ctx context.Context, id int64, rank, tail int) (io.ReadCloser, error) {
	query := url.Values{"rank": {strconv.Itoa(rank)}}
	setNumber(query, "tail", int64(tail))
	res, err := c.open(ctx, request{method: http.MethodGet, path: vjobPath(id) + "/logs", query: query, repeatable: true})
	if err != nil {
		return nil, err
	}
	return res.Body, nil
}

// Status is what a live view needs, in one call.
func (c *Client) Status(ctx context.Context) (wire.Status, error) {
	return get[wire.Status](ctx, c, "/v1/status", nil)
}

// Images is the administrator's catalogue.
func (c *Client) Images(ctx context.Context) (wire.ImageList, error) {
	return get[wire.ImageList](ctx, c, "/v1/images", nil)
}

// Plans is the latest plans, those before the given one when that is not 0.
func (c *Client) Plans(ctx context.Context, limit int, before int64) (wire.PlanList, error) {
	query := url.Values{}
	setNumber(query, "limit", int64(limit))
	setNumber(query, "before", before)
	return get[wire.PlanList](ctx, c, "/v1/plans", query)
}

// Plan is one plan with its actions.
func (c *Client) Plan(ctx context.Context, id int64) (wire.Plan, error) {
	return get[wire.Plan](ctx, c, "/v1/plans/"+strconv.FormatInt(id, 10), nil)
}

// Whoami returns the caller as the server identifies it.
func (c *Client) Whoami(ctx context.Context) (wire.Identity, error) {
	return get[wire.Identity](ctx, c, "/v1/whoami", nil)
}

// Backup opens a consistent copy of the database, an SQLite file (administrators).
// Reading it fails when it was cut short. The caller closes it.
func (c *Client) Backup(ctx context.Context) (copied io.ReadCloser, size int64, err error) {
	res, err := c.open(ctx, request{method: http.MethodGet, path: "/v1/backup", repeatable: true})
	if err != nil {
		return nil, 0, err
	}
	if res.ContentLength < 0 {
		return nil, 0, errors.Join(fmt.Errorf("back-up: %s does not state its length: %w", c.server, cluster.ErrUnavailable), res.Body.Close())
	}
	return res.Body, res.ContentLength, nil
}

// Forecast is when vjobs are going to start and end, and how much is used meanwhile.
func (c *Client) Forecast(ctx context.Context) (wire.Schedule, error) {
	return get[wire.Schedule](ctx, c, "/v1/forecast", nil)
}
