package client

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	"vjob/api/wire"
)

// Alarms lists the open alarms of a kind, "" for all, the newest first; with ended also those that have ended (administrators).
func (c *clusterClient) Alarms(ctx context.Context, kind string, ended bool, limit int) (wire.AlarmList, error) {
	query := url.Values{}
	setText(query, "kind", kind)
	setTrue(query, "ended", ended)
	setNumber(query, "limit", int64(limit))
	return get[wire.AlarmList](ctx, c.connection, "/v1/alarms", query)
}

// Acknowledge records that an administrator has taken note of an open alarm (administrators).
func (c *clusterClient) Acknowledge(ctx context.Context, id int64, comment string) (wire.Alarm, error) {
	var out wire.Alarm
	_, err := c.call(ctx, request{
		method: http.MethodPost, path: fmt.Sprintf("/v1/alarms/%d/ack", id), body: wire.Acknowledgement{Comment: comment}, repeatable: true,
	}, &out)
	return out, err
}
