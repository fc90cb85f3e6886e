package client

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"vjob/api/wire"
)

// Nodes lists the nodes.
func (c *Client) Nodes(ctx context.Context) (wire.NodeList, error) {
	return get[wire.NodeList](ctx, c, "/v1/nodes", nil)
}

func nodePath(name string) string { return "/v1/nodes/" + url.PathEscape(name) }

// SetNodes asks for another state of some nodes, of all or none (administrators).
func (c *Client) SetNodes(ctx context.Context, change wire.NodesChange) error {
	_, err := c.call(ctx, request{method: http.MethodPatch, path: "/v1/nodes", body: change, repeatable: true}, nil)
	return err
}

// SetPower switches a node off, once it is empty, or on (administrators).
func (c *Client) SetPower(ctx context.Context, name string, change wire.PowerChange) error {
	_, err := c.call(ctx, request{method: http.MethodPost, path: nodePath(name) + "/power", body: change, repeatable: true}, nil)
	return err
}

// Drain has everything moved off a node (administrators).
func (c *Client) Drain(ctx context.Context, name string) error {
	_, err := c.call(ctx, request{method: http.MethodPost, path: nodePath(name) + "/drain", repeatable: true}, nil)
	return err
}

// Online lets a node take VMs again (administrators).
func (c *Client) Online(ctx context.Context, name string) error {
	_, err := c.call(ctx, request{method: http.MethodPost, path: nodePath(name) + "/online", repeatable: true}, nil)
	return err
}

// Rules are the placement rules of the cluster (administrators).
func (c *Client) Rules(ctx context.Context) (wire.Rules, error) {
	return get[wire.Rules](ctx, c, "/v1/rules", nil)
}

// SetRules replaces or checks them (administrators).
func (c *Client) SetRules(ctx context.Context, change wire.RulesChange) error {
	_, err := c.call(ctx, request{method: http.MethodPut, path: "/v1/rules", body: change, repeatable: true}, nil)
	return err
}

// Budgets are the power budgets (administrators).
func (c *Client) Budgets(ctx context.Context) (wire.Budgets, error) {
	return get[wire.Budgets](ctx, c, "/v1/budgets", nil)
}

// SetBudgets replaces or checks them (administrators).
func (c *Client) SetBudgets(ctx context.Context, change wire.BudgetsChange) error {
	_, err := c.call(ctx, request{method: http.MethodPut, path: "/v1/budgets", body: change, repeatable: true}, nil)
	return err
}

// Consolidation is what has come of looks for places where VMs draw less (administrators).
func (c *Client) Consolidation(ctx context.Context) (wire.Consolidation, error) {
	return get[wire.Consolidation](ctx, c, "/v1/energy/consolidation", nil)
}

// Orphans are the saved VMs that no vjob is saved in (administrators).
func (c *Client) Orphans(ctx context.Context) (wire.OrphanList, error) {
	return get[wire.OrphanList](ctx, c, "/v1/images/orphans", nil)
}

// DeleteOrphan deletes one of them (administrators).
func (c *Client) DeleteOrphan(ctx context.Context, image string) error {
	_, err := c.call(ctx, request{method: http.MethodDelete, path: "/v1/images/orphans/" + url.PathEscape(image)}, nil)
	return err
}

// Restore goes back to kept images of a vjob, the newest if generation is 0 (administrators).
func (c *Client) Restore(ctx context.Context, id int64, generation int) (job wire.VJob, err error) {
	_, err = c.call(ctx, request{method: http.MethodPost, path: vjobPath(id) + "/restore", body: wire.RestoreOrder{Generation: generation}}, &job)
	return job, err
}

// Prices are what energy costs.
func (c *Client) Prices(ctx context.Context) (wire.Prices, error) {
	return get[wire.Prices](ctx, c, "/v1/prices", nil)
}

// SetPrices replaces or checks them (administrators).
func (c *Client) SetPrices(ctx context.Context, change wire.PricesChange) error {
	_, err := c.call(ctx, request{method: http.MethodPut, path: "/v1/prices", body: change, repeatable: true}, nil)
	return err
}

// Energy returns the energy drawn in a period; from and to may be nil: a week before its end, and now.
func (c *Client) Energy(ctx context.Context, from, to *time.Time, by string) (wire.EnergyAccount, error) {
	query := url.Values{"by": {by}}
	for key, at := range map[string]*time.Time{"from": from, "to": to} {
		if at != nil {
			query.Set(key, at.UTC().Format(time.RFC3339))
		}
	}
	return get[wire.EnergyAccount](ctx, c, "/v1/energy", query)
}

// WhatIf says what would be decided if things were otherwise, and changes nothing.
func (c *Client) WhatIf(ctx context.Context, body wire.WhatIf) (forecast wire.Forecast, err error) {
	_, err = c.call(ctx, request{method: http.MethodPost, path: "/v1/what-if", body: body, repeatable: true}, &forecast)
	return forecast, err
}

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
