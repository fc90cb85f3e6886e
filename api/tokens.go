package api

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"sync"
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
func (s *Server) tokensOf(c *gin.Context, caller Subject, verb Verb) (journal.User, error) {
	if err := authorise(caller, verb, Object{Kind: KindToken, Owner: c.Param("name")}); err != nil {
		return journal.User{}, err
	}
	return s.account(c)
}

// listTokens answers GET /v1/users/{name}/tokens.
func (s *Server) listTokens(c *gin.Context, caller Subject) error {
	user, err := s.tokensOf(c, caller, Read)
	if err != nil {
		return err
	}
	tokens, err := s.accounts.Tokens(c.Request.Context(), user.Name)
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
func (s *Server) createToken(c *gin.Context, caller Subject) error {
	user, err := s.tokensOf(c, caller, Create)
	if err != nil {
		return err
	}
	var body wire.TokenRequest
	if err := s.readBody(c, &body); err != nil {
		return err
	}
	err = firstOf(
		inRange("expires_in_seconds", body.ExpiresInSeconds, 0, maxWalltime),
		check(!body.Never || body.ExpiresInSeconds == 0, "never", body.Never, "either never or expires_in_seconds"),
	)
	if err == nil && body.Name != "" {
		err = cluster.CheckName("name", body.Name)
	}
	var lifetime time.Duration
	if err == nil {
		lifetime, err = s.lifetime(caller, time.Duration(body.ExpiresInSeconds)*time.Second, body.Never)
	}
	if err != nil {
		return err
	}
	return s.issue(c, caller, journal.NewToken{User: user.Name, Name: body.Name}, lifetime, journal.AuditTokenCreate)
}

// lifetime is how long a new token is valid; 0 is for ever. Users may ask for less than the
// default, administrators for anything.
func (s *Server) lifetime(caller Subject, asked time.Duration, never bool) (time.Duration, error) {
	switch {
	case caller.Role == journal.RoleAdmin && never:
		return 0, nil
	case asked == 0 && !never:
		return s.tokenLife, nil
	case caller.Role == journal.RoleAdmin, s.tokenLife == 0, !never && asked <= s.tokenLife:
		return asked, nil
	}
	return 0, fmt.Errorf("expires_in_seconds: tokens of users are valid for at most %.4g days on this site; an administrator can create ones that last longer or never expire: %w", s.tokenLife.Hours()/24, cluster.ErrForbidden)
}

// issue makes a token and answers with its secret.
func (s *Server) issue(c *gin.Context, caller Subject, n journal.NewToken, lifetime time.Duration, action journal.AuditAction) error {
	if caller.Role != journal.RoleAdmin && !s.tokenRate.allow(caller.Name, s.now()) {
		return errRate
	}
	act := s.auditEntry(caller, action, "", "never expires")
	if lifetime > 0 {
		n.Expires = act.At.Add(lifetime)
		act.Text = "expires " + n.Expires.Format(time.RFC3339)
	}
	if n.Replaces != 0 {
		act.Text += fmt.Sprintf(", in place of token %d", n.Replaces)
	}
	secret := NewSecret()
	n.Hash = HashSecret(secret)
	id, err := s.accounts.CreateToken(c.Request.Context(), n, act)
	if err != nil {
		return err
	}
	act.Object = fmt.Sprintf("token %d of %s", id, n.User)
	s.logAudit(c.Request.Context(), &act)
	return answer(c, http.StatusCreated, wire.Token{ID: id, User: n.User, Name: n.Name, Secret: secret, Expires: instant(n.Expires)})
}

// pathToken resolves the path's token.
func (s *Server) pathToken(c *gin.Context, caller Subject) (t journal.Token, err error) {
	user, err := s.tokensOf(c, caller, Change)
	if err != nil {
		return t, err
	}
	id, err := pathNumber(c, "id")
	if err != nil {
		return t, err
	}
	tokens, err := s.accounts.Tokens(c.Request.Context(), user.Name)
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
func (s *Server) rotateToken(c *gin.Context, caller Subject) error {
	t, err := s.pathToken(c, caller)
	if err != nil {
		return err
	}
	if !t.Live(s.now()) {
		return fmt.Errorf("token %d has expired or was revoked; create another one: %w", t.ID, cluster.ErrConflict)
	}
	var asked time.Duration
	if !t.Expires.IsZero() {
		asked = t.Expires.Sub(t.Created)
	}
	lifetime, err := s.lifetime(caller, asked, t.Expires.IsZero())
	if err != nil {
		lifetime = s.tokenLife
	}
	return s.issue(c, caller, journal.NewToken{User: t.User, Name: t.Name, Replaces: t.ID}, lifetime, journal.AuditTokenRotate)
}

// revokeToken answers DELETE /v1/users/{name}/tokens/{id}.
func (s *Server) revokeToken(c *gin.Context, caller Subject) error {
	t, err := s.pathToken(c, caller)
	if err != nil {
		return err
	}
	if t.Revoked {
		c.Status(http.StatusNoContent)
		return nil
	}
	act := s.auditEntry(caller, journal.AuditTokenRevoke, fmt.Sprintf("token %d of %s", t.ID, t.User), "")
	if err := s.accounts.RevokeToken(c.Request.Context(), t.User, t.ID, act); err != nil {
		return err
	}
	s.logAudit(c.Request.Context(), &act)
	c.Status(http.StatusNoContent)
	return nil
}

// tokenUses is when tokens were last used, as far as that is not written down.
type tokenUses struct {
	mu   sync.Mutex
	last map[int64]time.Time
}

func (u *tokenUses) note(token int64, at time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.last == nil {
		u.last = map[int64]time.Time{}
	}
	u.last[token] = at
}

func (u *tokenUses) take() map[int64]time.Time {
	u.mu.Lock()
	defer u.mu.Unlock()
	taken := u.last
	u.last = nil
	return taken
}

// useInterval is the pause between two writes of when tokens were last used.
const useInterval = time.Minute

// writeUses writes now and then when tokens were last used, beside the requests, and once more
// when the context ends.
func (s *Server) writeUses(ctx context.Context) {
	tick := time.NewTicker(useInterval)
	defer tick.Stop()
	for done := false; !done; {
		select {
		case <-tick.C:
		case <-ctx.Done():
			done = true
		}
		used := s.tokenUses.take()
		if len(used) == 0 {
			continue
		}
		if err := s.accounts.NoteUse(context.WithoutCancel(ctx), used); err != nil {
			s.log.LogAttrs(ctx, slog.LevelWarn, "cannot record the use of tokens", slog.Any("error", err))
		}
	}
}
