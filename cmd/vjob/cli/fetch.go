package cli

import (
	"context"

	"vjob/api/client"
	"vjob/api/wire"
)

// FetchVJobs fetches all vjobs of a query, or as many as its limit says.
func FetchVJobs(ctx context.Context, c *client.Client, q client.VJobQuery) (list wire.VJobList, err error) {
	stream, err := c.StreamVJobs(ctx, q)
	if err != nil {
		return list, err
	}
	defer stream.Close()
	list = wire.VJobList{VJobs: []wire.VJob{}, Total: stream.Total}
	for job, err := range stream.All() {
		if err != nil {
			return list, err
		}
		list.VJobs = append(list.VJobs, job)
	}
	return list, nil
}
