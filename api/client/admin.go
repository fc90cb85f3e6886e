package client

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
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

// Prices are what energy costs.
func (c *Client) Prices(ctx context.Context) (wire.Prices, error) {
	return get[wire.Prices](ctx, c, "/v1/prices", nil)
}

// SetPrices replaces or checks them (administrators).
func (c *Client) SetPrices(ctx context.Context, change wire.PricesChange) error {
	_, err := c.call(ctx, request{method: http.MethodPut, path: "/v1/prices", body: change, repeatable: true}, nil)
	return err
}

// Energy is who has drawn how much in a time; nil is a week before its end, and now.
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

// Users lists the accounts (administrators).
func (c *Client) Users(ctx context.Context) (wire.UserList, error) {
	return get[wire.UserList](ctx, c, "/v1/users", nil)
}

// CreateUser adds an account (administrators).
func (c *Client) CreateUser(ctx context.Context, user wire.User) (created wire.User, err error) {
	_, err = c.call(ctx, request{method: http.MethodPost, path: "/v1/users", body: user}, &created)
	return created, err
}

func userPath(name string) string { return "/v1/users/" + url.PathEscape(name) }

// DeleteUser removes an account and its tokens (administrators).
func (c *Client) DeleteUser(ctx context.Context, name string) error {
	_, err := c.call(ctx, request{method: http.MethodDelete, path: userPath(name)}, nil)
	return err
}

// Tokens lists the tokens of an account (administrators).
func (c *Client) Tokens(ctx context.Context, user string) (wire.TokenList, error) {
	return get[wire.TokenList](ctx, c, userPath(user)+"/tokens", nil)
}

// CreateToken makes a token; its secret is shown this once (administrators).
// A lifetime of 0 is for ever.
func (c *Client) CreateToken(ctx context.Context, user string, lifetime time.Duration) (token wire.Token, err error) {
	body := wire.TokenRequest{ExpiresInSeconds: int64(lifetime / time.Second)}
	_, err = c.call(ctx, request{method: http.MethodPost, path: userPath(user) + "/tokens", body: body}, &token)
	return token, err
}

// RevokeToken ends a token (administrators).
func (c *Client) RevokeToken(ctx context.Context, user string, id int64) error {
	path := userPath(user) + "/tokens/" + strconv.FormatInt(id, 10)
	_, err := c.call(ctx, request{method: http.MethodDelete, path: path}, nil)
	return err
}

// Health asks whether the server is ready. A server that is up and not ready is
// an answer with its reason, not an error; the question is not repeated.
func (c *Client) Health(ctx context.Context) (h wire.Health, err error) {
	res, err := c.once(ctx, request{method: http.MethodGet, path: "/healthz"}, nil)
	if err != nil {
		return h, err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK && res.StatusCode != http.StatusServiceUnavailable {
		return h, decodeError(res)
	}
	if err := json.NewDecoder(io.LimitReader(res.Body, 64<<10)).Decode(&h); err != nil {
		return h, fmt.Errorf("health of %s: decode: %w", c.shown, err)
	}
	return h, nil
}
