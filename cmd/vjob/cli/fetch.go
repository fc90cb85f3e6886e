package cli

import (
	"cmp"
	"context"

	"vjob/api/client"
	"vjob/api/wire"
)

// PageSize is how many vjobs are asked for at once: of smaller pages more is made while others are decoded.
const PageSize = 1000

// FetchVJobs fetches all pages, up to the limit of the query.
func FetchVJobs(ctx context.Context, c *client.Client, q client.VJobQuery) (list wire.VJobList, err error) {
	for page, err := range c.VJobPages(ctx, q, PageSize) {
		if err != nil {
			return list, err
		}
		if list.VJobs == nil {
			list.VJobs = make([]wire.VJob, 0, min(page.Total, cmp.Or(q.Limit, page.Total)))
		}
		list.VJobs, list.Total, list.Next = append(list.VJobs, page.VJobs...), max(list.Total, page.Total), page.Next
	}
	return list, nil
}
