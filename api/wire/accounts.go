package wire

import "time"

// User is one account, GET /v1/users (administrators), and the body of POST /v1/users, which
// has neither disabled, uid nor created.
type User struct {
	Name     string     `json:"name"`               // of the account
	Role     string     `json:"role"`               // user, admin
	Disabled bool       `json:"disabled,omitempty"` // its requests are refused
	Local    bool       `json:"local,omitempty"`    // the local user of that name needs no token on the socket
	UID      *uint32    `json:"uid,omitempty"`      // of the local user, once it has made a request
	Groups   *[]string  `json:"groups,omitempty"`   // of an account that is not local; absent: unknown
	Created  *time.Time `json:"created,omitempty"`  // absent: before this was noted
}

// UserChange is the body of PATCH /v1/users/{name}; absent fields stay as they are.
type UserChange struct {
	Role     *string   `json:"role,omitempty"`     // user or admin
	Disabled *bool     `json:"disabled,omitempty"` // true: its requests are refused
	Local    *bool     `json:"local,omitempty"`    // true: the local user of that name needs no token on the socket
	Groups   *[]string `json:"groups,omitempty"`   // of an account that is not local
}

// UserList is the answer to GET /v1/users.
type UserList struct {
	Users []User `json:"users"` // all accounts
}

// TokenRequest is the body of POST /v1/users/{name}/tokens.
type TokenRequest struct {
	Name             string `json:"name,omitempty"`               // to tell it from others
	ExpiresInSeconds int64  `json:"expires_in_seconds,omitempty"` // 0: as long as tokens are valid by default
	Never            bool   `json:"never,omitempty"`              // never expires (administrators)
}

// Token is the answer to POST /v1/users/{name}/tokens, and when one is rotated: the only time
// that the secret is shown.
type Token struct {
	ID      int64      `json:"id"`                // its number
	User    string     `json:"user"`              // the account that it stands for
	Name    string     `json:"name,omitempty"`    // that was given to it
	Secret  string     `json:"secret"`            // what goes behind Bearer in the header Authorization
	Expires *time.Time `json:"expires,omitempty"` // absent: never
}

// TokenInfo is a token as it is kept: everything but the secret.
type TokenInfo struct {
	ID      int64      `json:"id"`                // its number
	User    string     `json:"user"`              // the account that it stands for
	Name    string     `json:"name,omitempty"`    // that was given to it
	Created time.Time  `json:"created"`           // when it was made
	Expires *time.Time `json:"expires,omitempty"` // absent: never
	Used    *time.Time `json:"used,omitempty"`    // at most some minutes late; absent: never
	Revoked bool       `json:"revoked"`           // it is of no use any more
}

// TokenList is the answer to GET /v1/users/{name}/tokens.
type TokenList struct {
	Tokens []TokenInfo `json:"tokens"` // also those that are revoked or have expired
}

// AuditEntry is an administrative act, a change of tokens, or a failed login.
type AuditEntry struct {
	ID     int64     `json:"id"`               // its number; later entries have larger ones
	At     time.Time `json:"at"`               // when it happened
	By     string    `json:"by,omitempty"`     // the account; absent for failed logins
	From   string    `json:"from"`             // uid or network address
	Action string    `json:"action"`           // such as user.create or login.failed
	Object string    `json:"object,omitempty"` // what was changed, such as the name of an account
	Text   string    `json:"text,omitempty"`   // the change in words
}

// AuditList is the answer to GET /v1/audit, the latest first.
type AuditList struct {
	Entries []AuditEntry `json:"entries"`        // the latest first
	Next    string       `json:"next,omitempty"` // the cursor of the following page; absent at the end
}
