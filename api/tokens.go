package api

import (
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/gin-gonic/gin"

	"vjob/api/wire"
	"vjob/cluster"
	"vjob/ctxswitch/journal"
)

// How many tokens a user may make: one in ten seconds, and so many at once.
const (
	tokensPerSecond = 0.1
	tokenBurst      = 20
)

// tokensOf resolves the path's account, if its tokens are the caller's business: users have
// their own, administrators all.
func (h *accountHandler) tokensOf(c *gin.Context, caller Subject, verb Verb) (journal.User, error) {
	if err := authorise(caller, verb, Object{Kind: KindToken, Owner: c.Param("name")}); err != nil {
		return journal.User{}, err
	}
	return h.account(c)
}

// listTokens answers GET /v1/users/{name}/tokens.
func (h *accountHandler) listTokens(c *gin.Context, caller Subject) error {
	user, err := h.tokensOf(c, caller, Read)
	if err != nil {
		return err
	}
	tokens, err := h.accounts.Tokens(c.Request.Context(), user.Name)
	if err != nil {
		return err
	}
	list := wire.TokenList{Tokens: make([]wire.TokenInfo, len(tokens))}
	for i, t := range tokens {
		list.Tokens[i] = wire.TokenInfo{
			ID: t.ID, User: t.User, Name: t.Name, Created: t.Created.UTC(), Expires: instant(t.Expires), Used: instant(t.Used), Revoked: t.Revoked,
		}
	}
	return answer(c, http.StatusOK, list)
}

// createToken answers POST /v1/users/{name}/tokens.
func (h *accountHandler) createToken(c *gin.Context, caller Subject) error {
	user, err := h.tokensOf(c, caller, Create)
	if err != nil {
		return err
	}
	var body wire.TokenRequest
	if err := readBody(c, &body); err != nil {
		return err
	}
	err = cluster.AllFaults(
		optionalName("name", body.Name),
		inRange("expires_in_seconds", body.ExpiresInSeconds, 0, maxWalltime),
		check(!body.Never || body.ExpiresInSeconds == 0, "never", body.Never, "either never or expires_in_seconds"),
	)
	var lifetime time.Duration
	if err == nil {
		lifetime, err = h.lifetime(caller, time.Duration(body.ExpiresInSeconds)*time.Second, body.Never)
	}
	if err != nil {
		return err
	}
	return h.issue(c, caller, journal.NewToken{User: user.Name, Name: body.Name}, lifetime, journal.AuditTokenCreate)
}

// lifetime is how long a new token is valid; 0 is for ever. Users may ask for less than the
// default, administrators for anything.
func (h *accountHandler) lifetime(caller Subject, asked time.Duration, never bool) (time.Duration, error) {
	switch {
	case caller.Role == journal.RoleAdmin && never:
		return 0, nil
	case asked == 0 && !never:
		return h.tokenLife, nil
	case caller.Role == journal.RoleAdmin, h.tokenLife == 0, !never && asked <= h.tokenLife:
		return asked, nil
	}
	return 0, fmt.Errorf("expires_in_seconds: tokens of users are valid for at most %.4g days on this site; an administrator can create ones that last longer or never expire: %w", h.tokenLife.Hours()/24, cluster.ErrForbidden)
}

// issue makes a token and answers with its secret.
func (h *accountHandler) issue(c *gin.Context, caller Subject, n journal.NewToken, lifetime time.Duration, action journal.AuditAction) error {
	if caller.Role != journal.RoleAdmin && !h.tokenRate.allow(caller.Name, h.now()) {
		return errRate
	}
	act := h.audit.entry(caller, action, "", "never expires")
	if lifetime > 0 {
		n.Expires = act.At.Add(lifetime)
		act.Text = "expires " + n.Expires.Format(time.RFC3339)
	}
	if n.Replaces != 0 {
		act.Text += fmt.Sprintf(", in place of token %d", n.Replaces)
	}
	secret := NewSecret()
	n.Hash = HashSecret(secret)
	id, err := h.accounts.CreateToken(c.Request.Context(), n, act)
	if err != nil {
		return err
	}
	act.Object = fmt.Sprintf("token %d of %s", id, n.User)
	h.audit.logged(c.Request.Context(), &act)
	return answer(c, http.StatusCreated, wire.Token{ID: id, User: n.User, Name: n.Name, Secret: secret, Expires: instant(n.Expires)})
}

// pathToken resolves the path's token.
func (h *accountHandler) pathToken(c *gin.Context, caller Subject) (t journal.Token, err error) {
	user, err := h.tokensOf(c, caller, Change)
	if err != nil {
		return t, err
	}
	id, err := pathID(c)
	if err != nil {
		return t, err
	}
	tokens, err := h.accounts.Tokens(c.Request.Context(), user.Name)
	if err != nil {
		return t, err
	}
	i := slices.IndexFunc(tokens, func(t journal.Token) bool { return t.ID == id })
	if i < 0 {
		return t, notFound("token", c.Param("id"))
	}
	return tokens[i], nil
}

// rotateToken answers POST /v1/users/{name}/tokens/{id}/rotate: the new token is valid as long
// as the old one was made for, within what the caller may ask for.
func (h *accountHandler) rotateToken(c *gin.Context, caller Subject) error {
	t, err := h.pathToken(c, caller)
	if err != nil {
		return err
	}
	if !t.Live(h.now()) {
		return fmt.Errorf("token %d has expired or was revoked; create another one: %w", t.ID, cluster.ErrConflict)
	}
	var asked time.Duration
	if !t.Expires.IsZero() {
		asked = t.Expires.Sub(t.Created)
	}
	lifetime, err := h.lifetime(caller, asked, t.Expires.IsZero())
	if err != nil {
		lifetime = h.tokenLife
	}
	return h.issue(c, caller, journal.NewToken{User: t.User, Name: t.Name, Replaces: t.ID}, lifetime, journal.AuditTokenRotate)
}

// revokeToken answers DELETE /v1/users/{name}/tokens/{id}.
func (h *accountHandler) revokeToken(c *gin.Context, caller Subject) error {
	t, err := h.pathToken(c, caller)
	if err != nil {
		return err
	}
	if t.Revoked {
		return noContent(c)
	}
	act := h.audit.entry(caller, journal.AuditTokenRevoke, fmt.Sprintf("token %d of %s", t.ID, t.User), "")
	if err := h.accounts.RevokeToken(c.Request.Context(), t.User, t.ID, act); err != nil {
		return err
	}
	h.audit.logged(c.Request.Context(), &act)
	return noContent(c)
}
