package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"vjob/api/wire"
)

// Users lists the accounts (administrators).
func (c *accountClient) Users(ctx context.Context) (wire.UserList, error) {
	return get[wire.UserList](ctx, c.connection, "/v1/users", nil)
}

// CreateUser adds an account (administrators).
func (c *accountClient) CreateUser(ctx context.Context, user wire.User) (created wire.User, err error) {
	_, err = c.call(ctx, request{method: http.MethodPost, path: "/v1/users", body: user}, &created)
	return created, err
}

func userPath(name string) string { return "/v1/users/" + url.PathEscape(name) }

// ChangeUser changes an account (administrators).
func (c *accountClient) ChangeUser(ctx context.Context, name string, change wire.UserChange) (user wire.User, err error) {
	_, err = c.call(ctx, request{method: http.MethodPatch, path: userPath(name), body: change, repeatable: true}, &user)
	return user, err
}

// DeleteUser deletes an account and its tokens (administrators).
func (c *accountClient) DeleteUser(ctx context.Context, name string) error {
	_, err := c.call(ctx, request{method: http.MethodDelete, path: userPath(name)}, nil)
	return err
}

// Tokens lists the tokens of an account: one's own, or any for administrators.
func (c *accountClient) Tokens(ctx context.Context, user string) (wire.TokenList, error) {
	return get[wire.TokenList](ctx, c.connection, userPath(user)+"/tokens", nil)
}

// CreateToken makes a token; its secret is shown this once.
func (c *accountClient) CreateToken(ctx context.Context, user string, body wire.TokenRequest) (token wire.Token, err error) {
	_, err = c.call(ctx, request{method: http.MethodPost, path: userPath(user) + "/tokens", body: body}, &token)
	return token, err
}

func tokenPath(user string, id int64) string {
	return userPath(user) + "/tokens/" + strconv.FormatInt(id, 10)
}

// RotateToken makes a token in place of one, which is revoked; the secret is shown this once.
func (c *accountClient) RotateToken(ctx context.Context, user string, id int64) (token wire.Token, err error) {
	_, err = c.call(ctx, request{method: http.MethodPost, path: tokenPath(user, id) + "/rotate"}, &token)
	return token, err
}

// RevokeToken revokes a token.
func (c *accountClient) RevokeToken(ctx context.Context, user string, id int64) error {
	_, err := c.call(ctx, request{method: http.MethodDelete, path: tokenPath(user, id)}, nil)
	return err
}

// AuditQuery narrows the audit list. Zero fields do not narrow.
type AuditQuery struct {
	Cursor string // the Next of the page before; "" is the first page
	Limit  int    // 0 is the server's default
	Action string
	By     string
}

// Audit lists what was done, the latest first (administrators).
func (c *accountClient) Audit(ctx context.Context, q AuditQuery) (wire.AuditList, error) {
	v := url.Values{}
	setText(v, "action", q.Action)
	setText(v, "by", q.By)
	setText(v, "cursor", q.Cursor)
	if q.Limit > 0 {
		v.Set("limit", strconv.Itoa(q.Limit))
	}
	return get[wire.AuditList](ctx, c.connection, "/v1/audit", v)
}

// Whoami returns the caller as the server identifies it.
func (c *accountClient) Whoami(ctx context.Context) (wire.Identity, error) {
	return get[wire.Identity](ctx, c.connection, "/v1/whoami", nil)
}
