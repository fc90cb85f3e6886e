package cli

import (
	"context"
	"fmt"
	"strconv"

	"vjob/api/client"
	"vjob/api/wire"
	"vjob/cluster"
)

// FetchVJob is the vjob that an argument names, as [ResolveVJob] finds it.
func FetchVJob(ctx context.Context, c *client.Client, arg string) (wire.VJobDetail, error) {
	id, err := ResolveVJob(ctx, c, arg)
	if err != nil {
		return wire.VJobDetail{}, err
	}
	return c.VJob(ctx, id)
}

// ResolveVJob finds the vjob that an argument names: a number, or the name of a live
// vjob, or that of one which has ended.
func ResolveVJob(ctx context.Context, c *client.Client, arg string) (int64, error) {
	if n, err := strconv.ParseInt(arg, 10, 64); err == nil {
		if n < 1 {
			return 0, cluster.BadField("vjob", arg, "the number or the name of a vjob")
		}
		return n, nil
	}
	if arg == "" {
		return 0, cluster.BadField("vjob", arg, "the number or the name of a vjob")
	}
	for _, live := range []bool{true, false} {
		list, err := c.VJobs(ctx, client.VJobQuery{Name: arg, Live: live, Newest: true, Limit: 2})
		if err != nil {
			return 0, err
		}
		switch {
		case live && len(list.VJobs) > 1: // administrators see those of several owners
			return 0, cluster.Fault("vjob", "vjobs %d and %d are named %q, want a number", list.VJobs[1].ID, list.VJobs[0].ID, arg)
		case len(list.VJobs) > 0:
			return list.VJobs[0].ID, nil
		}
	}
	return 0, fmt.Errorf("vjob %q: %w", arg, cluster.ErrNotFound)
}
