package client

import (
	"context"
	"crypto/rand"
	"io"
	"net/http"
	"net/url"

	"vjob/api/wire"
)

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
