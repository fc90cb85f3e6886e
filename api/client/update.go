package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"vjob/cluster"
)

// updates is how often an update that other clients forestall begins again.
const updates = 10

// update reads a thing and replaces it with what change makes of it. If another client has changed the thing meanwhile, it
// begins again, so that no change is lost. change gets the zero value of a thing that does not exist.
func update[T, Body any](ctx context.Context, c *connection, path string, change func(T) (Body, error)) error {
	for try := 1; ; try++ {
		present, condition, err := read[T](ctx, c, path)
		if err != nil {
			return err
		}
		body, err := change(present)
		if err != nil {
			return err
		}
		_, err = c.call(ctx, request{method: http.MethodPut, path: path, body: body, header: condition}, nil)
		if err == nil || try == updates || !errors.Is(err, cluster.ErrChanged) {
			return err
		}
	}
}

// read reads a thing, with the condition that it has not changed since.
func read[T any](ctx context.Context, c *connection, path string) (present T, condition http.Header, err error) {
	res, err := c.open(ctx, request{method: http.MethodGet, path: path, repeatable: true})
	if errors.Is(err, cluster.ErrNotFound) {
		return present, http.Header{"If-None-Match": {"*"}}, nil
	}
	if err != nil {
		return present, nil, err
	}
	defer res.Body.Close()
	if err := json.NewDecoder(io.LimitReader(res.Body, maxAnswer)).Decode(&present); err != nil {
		return present, nil, fmt.Errorf("GET %s: decode the answer of %s: %w", path, c.server, err)
	}
	condition = http.Header{}
	if tag := res.Header.Get("ETag"); tag != "" {
		condition.Set("If-Match", tag)
	}
	return present, condition, nil
}
