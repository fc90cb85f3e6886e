package api

import (
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/gin-gonic/gin"

	"vjob/api/wire"
	"vjob/cluster"
	"vjob/journal"
)

// listUsers answers GET /v1/users.
func (s *Server) listUsers(c *gin.Context, _ Subject) error {
	users, err := s.accounts.Users(c.Request.Context())
	if err != nil {
		return err
	}
	list := wire.UserList{Users: make([]wire.User, len(users))}
	for i, u := range users {
		list.Users[i] = wire.User{Name: u.Name, Role: roleName(u.Role)}
	}
	return answer(c, http.StatusOK, list)
}

// createUser answers POST /v1/users.
func (s *Server) createUser(c *gin.Context, _ Subject) error {
	var body wire.User
	if err := s.readBody(c, &body); err != nil {
		return err
	}
	user := journal.User{Name: body.Name, Role: journal.Role(body.Role)}
	if user.Role == "" {
		user.Role = journal.RoleUser
	}
	err := firstOf(
		cluster.CheckName("name", user.Name),
		check(user.Role == journal.RoleUser || user.Role == journal.RoleAdmin, "role", body.Role, "user or admin"),
	)
	if err == nil {
		err = s.accounts.CreateUser(c.Request.Context(), user)
	}
	if err != nil {
		return err
	}
	return answer(c, http.StatusCreated, wire.User{Name: user.Name, Role: roleName(user.Role)})
}

// account resolves the path's account.
func (s *Server) account(c *gin.Context) (journal.User, error) {
	name := c.Param("name")
	if cluster.CheckName("name", name) != nil {
		return journal.User{}, notFound("user", name)
	}
	return s.accounts.User(c.Request.Context(), name)
}

// deleteUser answers DELETE /v1/users/{name}.
func (s *Server) deleteUser(c *gin.Context, who Subject) error {
	user, err := s.account(c)
	if err != nil {
		return err
	}
	if user.Name == who.Name {
		return fmt.Errorf("delete user %s: nobody removes their own account: %w", user.Name, cluster.ErrConflict)
	}
	if err := s.accounts.DeleteUser(c.Request.Context(), user.Name); err != nil {
		return err
	}
	c.Status(http.StatusNoContent)
	return nil
}

// listTokens answers GET /v1/users/{name}/tokens.
func (s *Server) listTokens(c *gin.Context, _ Subject) error {
	user, err := s.account(c)
	if err != nil {
		return err
	}
	tokens, err := s.accounts.Tokens(c.Request.Context(), user.Name)
	if err != nil {
		return err
	}
	list := wire.TokenList{Tokens: make([]wire.TokenInfo, len(tokens))}
	for i, t := range tokens {
		list.Tokens[i] = wire.TokenInfo{ID: t.ID, User: t.User, Created: t.Created.UTC(), Expires: instant(t.Expires), Revoked: t.Revoked}
	}
	return answer(c, http.StatusOK, list)
}

// createToken answers POST /v1/users/{name}/tokens.
func (s *Server) createToken(c *gin.Context, _ Subject) error {
	user, err := s.account(c)
	if err != nil {
		return err
	}
	var body wire.TokenRequest
	if err := s.readBody(c, &body); err != nil {
		return err
	}
	if err := inRange("expires_in_seconds", body.ExpiresInSeconds, 0, maxWalltime); err != nil {
		return err
	}
	created := s.now().UTC()
	var expires time.Time
	if body.ExpiresInSeconds > 0 {
		expires = created.Add(time.Duration(body.ExpiresInSeconds) * time.Second)
	}
	secret := NewSecret()
	id, err := s.accounts.CreateToken(c.Request.Context(), user.Name, HashSecret(secret), created, expires)
	if err != nil {
		return err
	}
	return answer(c, http.StatusCreated, wire.Token{ID: id, User: user.Name, Secret: secret, Expires: instant(expires)})
}

// revokeToken answers DELETE /v1/users/{name}/tokens/{id}.
func (s *Server) revokeToken(c *gin.Context, _ Subject) error {
	user, err := s.account(c)
	if err != nil {
		return err
	}
	id, err := pathNumber(c, "id")
	if err != nil {
		return err
	}
	tokens, err := s.accounts.Tokens(c.Request.Context(), user.Name)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(tokens, func(t journal.Token) bool { return t.ID == id }) {
		return notFound("token", c.Param("id"))
	}
	if err := s.accounts.RevokeToken(c.Request.Context(), id); err != nil {
		return err
	}
	c.Status(http.StatusNoContent)
	return nil
}
