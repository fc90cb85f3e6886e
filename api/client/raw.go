package client

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"vjob/api/wire"
	"vjob/cluster"
)

// Health asks whether the server is ready. A server that is up and not ready is
// an answer with its reason, not an error; the question is not repeated.
func (c *Client) Health(ctx context.Context) (h wire.Health, err error) {
	res, err := c.send(ctx, request{method: http.MethodGet, path: "/healthz"}, nil)
	if err != nil {
		return h, err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK && res.StatusCode != http.StatusServiceUnavailable {
		return h, decodeError(res)
	}
	if err := json.NewDecoder(io.LimitReader(res.Body, 64<<10)).Decode(&h); err != nil {
		return h, fmt.Errorf("health of %s: decode: %w", c.server, err)
	}
	return h, nil
}

// Reload has the daemon read its settings again (administrators).
func (c *Client) Reload(ctx context.Context, order wire.ReloadOrder) (done wire.Reload, err error) {
	_, err = c.call(ctx, request{method: http.MethodPost, path: "/v1/admin/reload", body: order}, &done)
	return done, err
}

// Doctor examines the installation (administrators).
func (c *Client) Doctor(ctx context.Context) (wire.Doctor, error) {
	return get[wire.Doctor](ctx, c.connection, "/v1/admin/doctor", nil)
}

// Backup opens a consistent copy of the database, an SQLite file (administrators).
// Reading it fails when it was cut short. The caller closes it.
func (c *Client) Backup(ctx context.Context) (copied io.ReadCloser, size int64, err error) {
	res, err := c.open(ctx, request{method: http.MethodGet, path: "/v1/backup", repeatable: true})
	if err != nil {
		return nil, 0, err
	}
	if res.ContentLength < 0 {
		return nil, 0, errors.Join(fmt.Errorf("back-up: %s does not state its length: %w", c.server, cluster.ErrUnavailable), res.Body.Close())
	}
	return res.Body, res.ContentLength, nil
}

// Get reads any path of the server into out. It is repeated after temporary failures.
func (c *Client) Get(ctx context.Context, path string, query url.Values, out any) error {
	_, err := c.call(ctx, request{method: http.MethodGet, path: path, query: query, repeatable: true}, out)
	return err
}

// Open reads any path of the server; the caller closes the answer.
func (c *Client) Open(ctx context.Context, path string, query url.Values) (io.ReadCloser, error) {
	res, err := c.open(ctx, request{method: http.MethodGet, path: path, query: query, repeatable: true})
	if err != nil {
		return nil, err
	}
	return res.Body, nil
}

// Do makes any other call. It carries an idempotency key, so that a repeated submission creates
// one job.
func (c *Client) Do(ctx context.Context, method, path string, body, out any) error {
	_, err := c.call(ctx, request{
		method: method, path: path, body: body, header: http.Header{wire.KeyHeader: {rand.Text()}}, repeatable: true,
	}, out)
	return err
}
