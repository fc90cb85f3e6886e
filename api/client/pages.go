package client

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"iter"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"vjob/api/wire"
)

// VJobs returns one page of the vjobs that the caller may see.
func (c *vjobClient) VJobs(ctx context.Context, q VJobQuery) (wire.VJobList, error) {
	return get[wire.VJobList](ctx, c.connection, "/v1/vjobs", q.values())
}

// VJobPages walks the pages of a query from q.Cursor on, with size vjobs each, and together at most q.Limit unless that
// is 0. Where the header of a page tells the next one, that is asked for at once: the daemon makes it while the first is
// decoded. The walk ends at the first error. The vjobs of a page are overwritten by those of the next one.
func (c *vjobClient) VJobPages(ctx context.Context, q VJobQuery, size int) iter.Seq2[wire.VJobList, error] {
	return func(yield func(wire.VJobList, error) bool) {
		ctx, stop := context.WithCancel(ctx)
		defer stop() // also closes the body of a page that is no longer wanted
		left := cmp.Or(q.Limit, math.MaxInt)
		ask := func(cursor string) <-chan answer {
			q.Cursor, q.Limit = cursor, min(size, left)
			left -= q.Limit
			return c.ask(ctx, request{method: http.MethodGet, path: "/v1/vjobs", query: q.values(), repeatable: true})
		}
		var room []wire.VJob // it and the body are not touched anew for each page
		var body bytes.Buffer
		for coming := ask(q.Cursor); coming != nil; {
			room = slices.Grow(room[:0], q.Limit)
			list := wire.VJobList{VJobs: room}
			a := <-coming
			coming = nil
			if cursor := a.cursor(); cursor != "" && left > 0 {
				coming = ask(cursor)
			}
			err := c.decode(a, &body, &list)
			if err == nil && coming == nil && list.Next != "" && left > 0 {
				coming = ask(list.Next)
			}
			if !yield(list, err) || err != nil {
				return
			}
		}
	}
}

// answer is the answer to a request. Its body is still to come.
type answer struct {
	to  request
	res *http.Response
	err error
}

// ask sends a request and does not wait for the answer.
func (c *connection) ask(ctx context.Context, r request) <-chan answer {
	coming := make(chan answer, 1)
	go func() {
		res, err := c.open(ctx, r) //nolint:bodyclose // decode closes it, or else the end of the context
		coming <- answer{r, res, err}
	}()
	return coming
}

// decode reads an answer into body at once, which wakes the daemon less often than many small reads, and decodes it into out.
func (c *connection) decode(a answer, body *bytes.Buffer, out any) error {
	if a.err != nil {
		return a.err
	}
	defer a.res.Body.Close()
	body.Reset()
	_, err := body.ReadFrom(io.LimitReader(a.res.Body, maxAnswer))
	if err == nil {
		err = json.Unmarshal(body.Bytes(), out)
	}
	if err != nil {
		return fmt.Errorf("%s %s: decode the answer of %s: %w", a.to.method, a.to.path, c.server, err)
	}
	return nil
}

// cursor returns the cursor of the next page, if the header of an answer tells it.
func (a answer) cursor() string {
	if a.err != nil {
		return ""
	}
	address, found := strings.CutSuffix(a.res.Header.Get("Link"), `>; rel="next"`)
	next, err := url.Parse(strings.TrimPrefix(address, "<"))
	if !found || err != nil {
		return ""
	}
	return next.Query().Get("cursor")
}
