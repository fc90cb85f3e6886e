package client

import (
	"context"
	"net/http"

	"vjob/api/wire"
)

// SetWalltime gives a vjob another walltime, in seconds; 0 is unlimited.
func (c *Client) SetWalltime(ctx context.Context, id, seconds int64) (job wire.VJob, err error) {
	_, err = c.call(ctx, request{
		method: http.MethodPatch, path: vjobPath(id), body: wire.VJobChange{WalltimeSeconds: &seconds}, repeatable: true,
	}, &job)
	return job, err
}
