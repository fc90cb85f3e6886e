package client

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"

	"vjob/api/wire"
)

// Attach opens the interactive console of a VM of the caller: bytes both ways. Reading ends when
// the guest ends or leaves its node. The caller closes it.
func (c *Client) Attach(ctx context.Context, id int64, rank int) (io.ReadWriteCloser, error) {
	r := request{
		method: http.MethodGet, path: fmt.Sprintf("/v1/vjobs/%d/console", id), query: url.Values{"rank": {strconv.Itoa(rank)}},
		header: http.Header{"Connection": {"Upgrade"}, "Upgrade": {wire.ConsoleProtocol}}, repeatable: true,
	}
	res, err := c.open(ctx, r)
	if err != nil {
		return nil, err
	}
	if line, ok := res.Body.(io.ReadWriteCloser); ok && res.StatusCode == http.StatusSwitchingProtocols {
		return line, nil
	}
	res.Body.Close()
	return nil, fmt.Errorf("attach to vjob %d: %s answered %s without a console", id, c.server, res.Status)
}
