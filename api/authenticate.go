package api

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
)

// secretPrefix makes leaked tokens easy to find.
const secretPrefix = "vjob_"

// secretLength is the length of the prefix and 256 bits, encoded.
var secretLength = len(secretPrefix) + base64.RawURLEncoding.EncodedLen(32)

// NewSecret makes a bearer token of 256 random bits.
func NewSecret() string {
	var b [32]byte
	rand.Read(b[:]) // never fails
	return secretPrefix + base64.RawURLEncoding.EncodeToString(b[:])
}

// HashSecret returns the stored hash of a bearer token.
func HashSecret(secret string) [sha256.Size]byte { return sha256.Sum256([]byte(secret)) }

// credentials is the part of the accounts that authentication needs.
type credentials interface {
	// Admit finds the account of a local user, or fails with cluster.ErrForbidden and the reason.
	Admit(ctx context.Context, l journal.LocalUser, now time.Time) (journal.User, error)
	// UserByToken finds the user of a token that is neither revoked nor expired, and its number and name,
	// or fails with cluster.ErrUnauthenticated.
	UserByToken(ctx context.Context, hash [sha256.Size]byte, now time.Time) (user journal.User, token journal.Token, err error)
}

// authenticator identifies callers by bearer tokens, and on the unix socket as local users.
type authenticator struct {
	accounts credentials
	locals   *localUsers
	uses     *tokenUses
	now      func() time.Time
}

// identify returns the caller of a request. It is the zero subject without credentials.
// Wrong credentials are an error, even on a connection with a known local user.
func (a *authenticator) identify(r *http.Request) (Subject, error) {
	if values := r.Header.Values("Authorization"); len(values) > 0 {
		if len(values) > 1 {
			return Subject{}, errUnauthenticated
		}
		return a.bearer(r, values[0])
	}
	if conn := connOf(r); conn != nil && conn.Peer.Local {
		return a.local(r.Context(), conn.Peer.UID)
	}
	return Subject{}, nil
}

// bearer returns the caller of a token. All errors for wrong tokens are the same.
func (a *authenticator) bearer(r *http.Request, header string) (Subject, error) {
	scheme, secret, _ := strings.Cut(header, " ")
	if !strings.EqualFold(scheme, "bearer") || len(secret) != secretLength || !strings.HasPrefix(secret, secretPrefix) {
		return Subject{}, errUnauthenticated
	}
	now := a.now()
	account, token, err := a.accounts.UserByToken(r.Context(), HashSecret(secret), now)
	if errors.Is(err, cluster.ErrNotFound) || errors.Is(err, cluster.ErrUnauthenticated) {
		return Subject{}, errUnauthenticated
	}
	if err != nil {
		return Subject{}, fmt.Errorf("look up a token: %w", err)
	}
	a.uses.note(token.ID, now.UTC())
	return Subject{Name: account.Name, Role: account.Role, Via: "token", From: origin(r), Token: cmp.Or(token.Name, strconv.FormatInt(token.ID, 10))}, nil
}

// local is the subject of a local user. Root and the daemon's own user are administrators,
// whatever the accounts say.
func (a *authenticator) local(ctx context.Context, uid uint32) (Subject, error) {
	caller := Subject{Via: "socket", From: fmt.Sprintf("uid %d", uid)}
	l := a.locals.get(uid)
	if privileged(uid) {
		caller.Name, caller.Role = l.name, journal.RoleAdmin
		if caller.Name == "" {
			caller.Name = fmt.Sprintf("uid-%d", uid)
		}
		return caller, nil
	}
	if l.refusal != "" {
		return Subject{}, fmt.Errorf("%s: %w", l.refusal, cluster.ErrForbidden)
	}
	account, err := a.accounts.Admit(ctx, journal.LocalUser{
		Name: l.name, UID: uid, Open: !a.locals.locals.Listed && isRegularUID(uid),
	}, a.now().UTC())
	if err != nil {
		return Subject{}, err
	}
	caller.Name, caller.Role = account.Name, account.Role
	return caller, nil
}

// confirm fails unless the credentials of a request still have the name and the role of a subject.
func (a *authenticator) confirm(r *http.Request, caller Subject) error {
	now, err := a.identify(r)
	if err == nil && (now.Name != caller.Name || now.Role != caller.Role) {
		return errUnauthenticated
	}
	return err
}

// origin returns the origin of a request: the uid of a local user, or the network address.
func origin(r *http.Request) string {
	if conn := connOf(r); conn != nil && conn.Peer.Local {
		return fmt.Sprintf("uid %d", conn.Peer.UID)
	}
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}
