package client

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"vjob/api/wire"
	"vjob/cluster"
)

// VJobStream is a list of vjobs while it comes.
type VJobStream struct {
	Total int // vjobs of the query, however few were asked for; 0 behind a cursor
	from  string
	body  io.ReadCloser
	lines *jsontext.Decoder
}

// StreamVJobs asks for all vjobs of a query from q.Cursor on, or for q.Limit of them unless that is 0. The caller closes the
// stream.
func (c *vjobClient) StreamVJobs(ctx context.Context, q VJobQuery) (*VJobStream, error) {
	res, err := c.open(ctx, request{
		method: http.MethodGet, path: "/v1/vjobs", query: q.values(), repeatable: true,
		header: http.Header{"Accept": {wire.MediaLines}},
	})
	if err != nil {
		return nil, err
	}
	if res.Header.Get("Content-Type") != wire.MediaLines {
		res.Body.Close()
		return nil, fmt.Errorf("list of vjobs: %s does not stream it, its vjobd is older than this program, or it is another server: %w", c.server, cluster.ErrUnavailable)
	}
	total, _ := strconv.Atoi(res.Header.Get(wire.TotalHeader)) // absent behind a cursor
	lines := jsontext.NewDecoder(bufio.NewReaderSize(res.Body, 64<<10))
	return &VJobStream{Total: total, from: c.server, body: res.Body, lines: lines}, nil
}

// All returns the vjobs as they come. It ends at the first error, which is one as well if the stream breaks before its end.
func (s *VJobStream) All() iter.Seq2[wire.VJob, error] {
	return func(yield func(wire.VJob, error) bool) {
		for {
			var job wire.VJob
			err := json.UnmarshalDecode(s.lines, &job)
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				err = fmt.Errorf("list of vjobs from %s: %w", s.from, err)
			}
			if !yield(job, err) || err != nil {
				return
			}
		}
	}
}

// Close ends the stream.
func (s *VJobStream) Close() { _ = s.body.Close() }
