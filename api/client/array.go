package client

import (
	"context"
	"net/http"
	"net/url"

	"vjob/api/wire"
)

// orderArray asks something of all vjobs of an array in one step, and returns the entry
// that stands for it.
func (c *Client) orderArray(ctx context.Context, method, path string) (wire.VJob, error) {
	return c.orderWith(ctx, method, path, url.Values{"array": {"true"}})
}

// HoldArray keeps the vjobs of an array that wait from being chosen until they are
// released.
func (c *Client) HoldArray(ctx context.Context, array int64) (wire.VJob, error) {
	return c.orderArray(ctx, http.MethodPost, vjobPath(array)+"/hold")
}

// ReleaseArray takes the holds of an array back.
func (c *Client) ReleaseArray(ctx context.Context, array int64) (wire.VJob, error) {
	return c.orderArray(ctx, http.MethodPost, vjobPath(array)+"/release")
}

// RequeueArray gives up what the vjobs of an array have done, and queues them again.
func (c *Client) RequeueArray(ctx context.Context, array int64) (wire.VJob, error) {
	return c.orderArray(ctx, http.MethodPost, vjobPath(array)+"/requeue")
}

// SuspendArray suspends the vjobs of an array that run, and holds them.
func (c *Client) SuspendArray(ctx context.Context, array int64) (wire.VJob, error) {
	return c.orderArray(ctx, http.MethodPost, vjobPath(array)+"/suspend")
}

// ResumeArray lets the vjobs of an array that were suspended and held run again.
func (c *Client) ResumeArray(ctx context.Context, array int64) (wire.VJob, error) {
	return c.orderArray(ctx, http.MethodPost, vjobPath(array)+"/resume")
}

// DeleteArray ends all vjobs of an array.
func (c *Client) DeleteArray(ctx context.Context, array int64) (wire.VJob, error) {
	return c.orderArray(ctx, http.MethodDelete, vjobPath(array))
}
