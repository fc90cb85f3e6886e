package client

import (
	"context"

	"vjob/api/wire"
)

// Queues lists the queues and how many vjobs are in them.
func (c *Client) Queues(ctx context.Context) (wire.QueueList, error) {
	return get[wire.QueueList](ctx, c, "/v1/queues", nil)
}

// Quotas lists the quotas that concern the caller, as they stand now.
func (c *Client) Quotas(ctx context.Context) (wire.QuotaList, error) {
	return get[wire.QuotaList](ctx, c, "/v1/quotas", nil)
}

// Shares lists the share and the recent usage of each account.
func (c *Client) Shares(ctx context.Context) (wire.ShareList, error) {
	return get[wire.ShareList](ctx, c, "/v1/shares", nil)
}
