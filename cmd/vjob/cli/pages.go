package cli

import (
	"context"

	"vjob/api/client"
	"vjob/api/wire"
)

// PageSize is how many vjobs are asked for at once.
const PageSize = 5000

// FetchVJobs fetches all pages, up to the limit of the query.
func FetchVJobs(ctx context.Context, c *client.Client, q client.VJobQuery) (list wire.VJobList, err error) {
	most := q.Limit
	for {
		q.Limit = PageSize
		if most > 0 {
			q.Limit = min(PageSize, most-len(list.VJobs))
		}
		page, err := c.VJobs(ctx, q)
		if err != nil {
			return list, err
		}
		list.VJobs, list.Total, list.Next = append(list.VJobs, page.VJobs...), max(list.Total, page.Total), page.Next
		if page.Next == "" || most > 0 && len(list.VJobs) >= most {
			return list, nil
		}
		q.Cursor = page.Next
	}
}
