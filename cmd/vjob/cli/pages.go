package cli

import (
	"context"
	"sync"
	"sync/atomic"

	"vjob/api/client"
	"vjob/api/wire"
)

// PageSize is how many vjobs are asked for at once, and pagesAtOnce how many such
// questions are open at a time: one page is read while the daemon prepares the next.
const (
	PageSize    = 5000
	pagesAtOnce = 3
)

// FetchVJobs fetches all pages, up to the limit of the query.
func FetchVJobs(ctx context.Context, c *client.Client, q client.VJobQuery) (wire.VJobList, error) {
	end := q.Limit
	q.Limit = PageSize
	if end > 0 {
		end += q.Offset
		q.Limit = min(end-q.Offset, PageSize)
	}
	list, err := c.VJobs(ctx, q)
	if err != nil || list.Next <= q.Offset {
		return list, err
	}
	if end == 0 || end > list.Total {
		end = list.Total
	}
	var rest []client.VJobQuery
	for at := list.Next; at < end; at += PageSize {
		q.Offset, q.Limit = at, min(PageSize, end-at)
		rest = append(rest, q)
	}
	pages, err := fetchPages(ctx, c, rest)
	if err != nil {
		return list, err
	}
	for i := range pages {
		list.VJobs = append(list.VJobs, pages[i].VJobs...)
	}
	return list, nil
}

// fetchPages fetches some pages, some at a time.
func fetchPages(ctx context.Context, c *client.Client, questions []client.VJobQuery) ([]wire.VJobList, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	pages := make([]wire.VJobList, len(questions))
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(pagesAtOnce, len(questions)) {
		workers.Go(func() {
			for i := next.Add(1) - 1; int(i) < len(questions); i = next.Add(1) - 1 {
				var err error
				if pages[i], err = c.VJobs(ctx, questions[i]); err != nil {
					cancel(err)
					return
				}
			}
		})
	}
	workers.Wait()
	return pages, context.Cause(ctx)
}
