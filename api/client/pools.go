package client

import (
	"context"
	"net/http"
	"net/url"

	"vjob/api/wire"
)

func poolPath(name string) string { return "/v1/pools/" + url.PathEscape(name) }

// Pools lists the pools of CPU and memory.
func (c *clusterClient) Pools(ctx context.Context) (wire.PoolList, error) {
	return get[wire.PoolList](ctx, c.connection, "/v1/pools", nil)
}

// Pool is one pool with the vjobs that the caller may see.
func (c *clusterClient) Pool(ctx context.Context, name string) (wire.PoolDetail, error) {
	return get[wire.PoolDetail](ctx, c.connection, poolPath(name), nil)
}

// ChangePool creates or changes a pool as change says (administrators). It is called again if other clients change the pool
// meanwhile; it gets the zero value of a pool that does not exist.
func (c *clusterClient) ChangePool(ctx context.Context, name string, change func(present wire.Pool) (wire.PoolChange, error)) error {
	return update(ctx, c.connection, poolPath(name), func(now wire.PoolDetail) (wire.PoolChange, error) { return change(now.Pool) })
}

// DeletePool deletes a pool (administrators).
func (c *clusterClient) DeletePool(ctx context.Context, name string) error {
	_, err := c.call(ctx, request{method: http.MethodDelete, path: poolPath(name)}, nil)
	return err
}
