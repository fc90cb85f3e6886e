package journal

import (
	"crypto/sha256"
	"time"

	"vjob/internal/revision"
)

// User is an account. Its name is unique among accounts that are not deleted.
type User struct {
	ID       int64 // given by the store, never given again
	Name     string
	Role     Role
	Disabled bool
	// Local links the account with the local user of the same name: that user needs no token
	// on the unix socket, and the groups of that user count.
	Local bool
	UID   *uint32 // of the local user; nil before its first request
	// Groups are those of an account that is not local; nil: unknown, which no rule about
	// groups and no image for groups lets pass.
	Groups  []string
	Created time.Time // zero: before this was noted
}

// Revision is that of the account: of what administrators change of it.
func (u *User) Revision() revision.Revision {
	return revision.Of(u.ID, u.Name, u.Role, u.Disabled, u.Local, u.Groups == nil, u.Groups)
}

// Role is what an account may do.
type Role string

// The roles.
const (
	RoleUser  Role = "user"  // own vjobs
	RoleAdmin Role = "admin" // everything
)

// UserChange changes an account. Nil fields stay as they are.
type UserChange struct {
	Role     *Role
	Disabled *bool
	Local    *bool
	Groups   *[]string
}

// LocalUser is the caller at the other end of a unix socket.
type LocalUser struct {
	Name string
	UID  uint32
	Open bool // an account is added at the first request
}

// Token is a stored bearer token; the secret itself is not kept.
type Token struct {
	ID      int64
	User    string
	Name    string
	Created time.Time
	Expires time.Time // zero: never
	Used    time.Time // about when it was last used, at most minutes late; zero: never
	Revoked bool
}

// Live reports whether the token is valid at an instant.
func (t *Token) Live(now time.Time) bool {
	return !t.Revoked && (t.Expires.IsZero() || t.Expires.After(now))
}

// NewToken is a token that is added.
type NewToken struct {
	User     string
	Name     string
	Hash     [sha256.Size]byte
	Expires  time.Time // zero: never
	Replaces int64     // a token of the same user that is revoked in the same transaction; 0: none
}

// Audit is one entry of the audit list: an administrative act, or a failed login.
type Audit struct {
	ID     int64 // given by the store, only grows
	At     time.Time
	By     string      // the account; "" for failed logins
	From   string      // uid or network address of the caller
	Action AuditAction // what was done
	Object string      // to what
	Text   string      // details; never a secret
}

// AuditAction sorts the entries of the audit list.
type AuditAction string

// The audited acts.
const (
	AuditUserCreate     AuditAction = "user.create"
	AuditUserChange     AuditAction = "user.change"
	AuditUserDelete     AuditAction = "user.delete"
	AuditTokenCreate    AuditAction = "token.create"
	AuditTokenRotate    AuditAction = "token.rotate"
	AuditTokenRevoke    AuditAction = "token.revoke"
	AuditLoginFailed    AuditAction = "login.failed"
	AuditBackup         AuditAction = "backup"
	AuditRules          AuditAction = "rules"
	AuditPools          AuditAction = "pools"
	AuditBudgets        AuditAction = "budgets"
	AuditPrices         AuditAction = "prices"
	AuditNode           AuditAction = "node"
	AuditPower          AuditAction = "power"
	AuditRecommendation AuditAction = "recommendation"
	AuditAlarm          AuditAction = "alarm"
	AuditStart          AuditAction = "start"  // of the daemon, with its settings
	AuditReload         AuditAction = "reload" // of the settings
)

// Event is the entry as an event.
func (a *Audit) Event() Event {
	text := string(a.Action)
	if a.Object != "" {
		text += " " + a.Object
	}
	if a.Text != "" {
		text += ": " + a.Text
	}
	if a.By != "" {
		text += ", by " + a.By
	}
	if a.From != "" {
		text += ", from " + a.From
	}
	return Event{At: a.At, Kind: EventAudit, Text: text}
}

// AuditFilter narrows the audit list. Zero fields do not narrow.
type AuditFilter struct {
	Before int64 // only entries with a smaller number
	Limit  int
	Action AuditAction
	By     string
}
