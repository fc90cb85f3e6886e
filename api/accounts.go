package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"vjob/api/wire"
	"vjob/cluster"
	"vjob/ctxswitch/journal"
)

// maxGroups bounds the groups of an account.
const maxGroups = 100

// accountStore stores users and their tokens, each change together with its entry in the audit list.
type accountStore interface {
	accountReader
	// CreateUser adds an account; a name that exists is cluster.ErrConflict.
	CreateUser(ctx context.Context, user journal.User, act journal.Audit) error
	Users(ctx context.Context) ([]journal.User, error)
	ChangeUser(ctx context.Context, name string, change journal.UserChange, act journal.Audit) error
	// DeleteUser deletes an account and its tokens, and returns the owner that its ended vjobs
	// have from now on.
	DeleteUser(ctx context.Context, name string, act journal.Audit) (former string, err error)
	// CreateToken stores the hash of a token. The entry in the audit list needs no object.
	CreateToken(ctx context.Context, n journal.NewToken, act journal.Audit) (id int64, err error)
	Tokens(ctx context.Context, user string) ([]journal.Token, error)
	// RevokeToken revokes a token; doing it again changes nothing.
	RevokeToken(ctx context.Context, user string, id int64, act journal.Audit) error
}

// ownerService is the part of the scheduler that knows the users.
type ownerService interface {
	// Disown transfers the usage of a user to a former user.
	Disown(ctx context.Context, user, former string) error
}

// accountHandler answers requests for accounts and their tokens.
type accountHandler struct {
	accounts  accountStore
	scheduler ownerService
	audit     *auditLog
	locals    *localUsers
	tail      *eventTail
	tokenLife time.Duration // the default, and the longest for users; 0 is unlimited
	tokenRate *buckets      // tokens that users make
	now       func() time.Time
}

func wireUser(u *journal.User) wire.User {
	w := wire.User{Name: u.Name, Role: string(u.Role), Disabled: u.Disabled, Local: u.Local, UID: u.UID, Created: instant(u.Created)}
	if u.Groups != nil {
		w.Groups = &u.Groups
	}
	return w
}

// list answers GET /v1/users.
func (h *accountHandler) list(c *gin.Context, _ Subject) error {
	users, err := h.accounts.Users(c.Request.Context())
	if err != nil {
		return err
	}
	list := wire.UserList{Users: make([]wire.User, len(users))}
	for i := range users {
		list.Users[i] = wireUser(&users[i])
	}
	return answer(c, http.StatusOK, list)
}

// create answers POST /v1/users.
func (h *accountHandler) create(c *gin.Context, caller Subject) error {
	var body wire.User
	if err := readBody(c, &body); err != nil {
		return err
	}
	user := journal.User{Name: body.Name, Role: journal.Role(body.Role), Local: body.Local}
	if user.Role == "" {
		user.Role = journal.RoleUser
	}
	err := cluster.AllFaults(
		cluster.CheckName("name", user.Name),
		checkRole(user.Role),
		check(!body.Disabled, "disabled", body.Disabled, "nothing: a new account is enabled"),
		check(body.UID == nil, "uid", body.UID, "nothing: the first request of the local user sets it"),
		check(body.Created == nil, "created", body.Created, "nothing"),
		checkGroups(body.Groups, body.Local),
		check(body.Local || !h.locals.administers(user.Name), "local", body.Local, "true: the local user "+user.Name+" is an administrator and would own the vjobs of the account"),
	)
	if err != nil {
		return err
	}
	if body.Groups != nil {
		user.Groups = append([]string{}, *body.Groups...)
	}
	act := h.audit.entry(caller, journal.AuditUserCreate, user.Name, details(body.Role, nil, &body.Local, body.Groups))
	if err := h.accounts.CreateUser(c.Request.Context(), user, act); err != nil {
		return err
	}
	h.audit.logged(c.Request.Context(), &act)
	user.Created = act.At
	return answer(c, http.StatusCreated, wireUser(&user))
}

func checkRole(role journal.Role) error {
	return check(role == journal.RoleUser || role == journal.RoleAdmin, "role", role, "user or admin")
}

func checkGroups(groups *[]string, local bool) error {
	if groups == nil {
		return nil
	}
	var faults cluster.Faults
	faults.Add(
		check(!local, "groups", len(*groups), "none for a local account: the system defines its groups"),
		check(len(*groups) <= maxGroups, "groups", len(*groups), fmt.Sprintf("at most %d", maxGroups)),
	)
	for i, g := range *groups {
		faults.Add(cluster.CheckName(fmt.Sprintf("groups[%d]", i), g))
	}
	return faults.Err()
}

// details are what the audit list says of a change of an account.
func details(role string, disabled, local *bool, groups *[]string) string {
	var parts []string
	if role != "" {
		parts = append(parts, "role "+role)
	}
	if disabled != nil {
		parts = append(parts, map[bool]string{true: "disabled", false: "enabled"}[*disabled])
	}
	if local != nil {
		parts = append(parts, map[bool]string{true: "local", false: "not local"}[*local])
	}
	if groups != nil {
		raw, _ := json.Marshal(*groups) // strings can be encoded
		parts = append(parts, "groups "+string(raw))
	}
	return strings.Join(parts, ", ")
}

// account resolves the path's account.
func (h *accountHandler) account(c *gin.Context) (journal.User, error) {
	name := c.Param("name")
	if cluster.CheckName("name", name) != nil {
		return journal.User{}, notFound("user", name)
	}
	return h.accounts.User(c.Request.Context(), name)
}

// show answers GET /v1/users/{name}.
func (h *accountHandler) show(c *gin.Context, _ Subject) error {
	user, err := h.account(c)
	if err != nil {
		return err
	}
	return answerTagged(c, http.StatusOK, user.Revision(), wireUser(&user))
}

// change answers PATCH /v1/users/{name}.
func (h *accountHandler) change(c *gin.Context, caller Subject) error {
	user, err := h.account(c)
	if err != nil {
		return err
	}
	var body wire.UserChange
	if err := readBody(c, &body); err != nil {
		return err
	}
	change, role, local := journal.UserChange{Disabled: body.Disabled, Local: body.Local, Groups: body.Groups}, "", user.Local
	if body.Role != nil {
		role = *body.Role
		change.Role = (*journal.Role)(&role)
		err = checkRole(*change.Role)
	}
	if body.Local != nil {
		local = *body.Local
	}
	err = cluster.AllFaults(err, checkGroups(body.Groups, local), check(body != (wire.UserChange{}), "body", "{}", "at least one of role, disabled, local and groups"))
	if err != nil {
		return err
	}
	if user.Name == caller.Name && (body.Role != nil && *body.Role != string(user.Role) || body.Disabled != nil && *body.Disabled) {
		return fmt.Errorf("change user %s: administrators neither disable nor demote themselves: %w", user.Name, cluster.ErrConflict)
	}
	act := h.audit.entry(caller, journal.AuditUserChange, user.Name, details(role, body.Disabled, body.Local, body.Groups))
	if err := h.accounts.ChangeUser(c.Request.Context(), user.Name, change, act); err != nil {
		return err
	}
	h.audit.logged(c.Request.Context(), &act)
	if user, err = h.accounts.User(c.Request.Context(), user.Name); err != nil {
		return err
	}
	return answerTagged(c, http.StatusOK, user.Revision(), wireUser(&user))
}

// delete answers DELETE /v1/users/{name}.
func (h *accountHandler) delete(c *gin.Context, caller Subject) error {
	user, err := h.account(c)
	if err != nil {
		return err
	}
	if user.Name == caller.Name {
		return fmt.Errorf("delete user %s: administrators do not delete themselves: %w", user.Name, cluster.ErrConflict)
	}
	act := h.audit.entry(caller, journal.AuditUserDelete, user.Name, "")
	former, err := h.accounts.DeleteUser(c.Request.Context(), user.Name, act)
	if err != nil {
		return err
	}
	h.tail.forget() // a later account of this name must not read of the vjobs of this one
	h.audit.logged(c.Request.Context(), &act)
	if err := h.scheduler.Disown(c.Request.Context(), user.Name, former); err != nil {
		return err
	}
	return noContent(c)
}
