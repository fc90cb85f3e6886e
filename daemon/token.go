package daemon

import (
	"context"
	"errors"
	"regexp"
	"time"

	"vjob/api"
	"vjob/cluster"
	"vjob/journal"
)

// userName is the shape of an account's name, as the API has it.
var userName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._-]{0,63}$`)

// CreateToken makes an account if there is none and a token for it, directly in
// the database of a daemon that does not run.
func CreateToken(ctx context.Context, store Accounts, user string, role journal.Role, now, expires time.Time) (secret string, err error) {
	if !userName.MatchString(user) {
		return "", cluster.BadField("name", user, "1 to 64 letters, digits, '.', '_' or '-', not beginning with '.' or '-'")
	}
	known, err := store.User(ctx, user)
	switch {
	case err == nil && known.Role != role:
		return "", cluster.BadField("--role", string(role), "the role that the account has: "+string(known.Role))
	case errors.Is(err, cluster.ErrNotFound):
		if err := store.CreateUser(ctx, journal.User{Name: user, Role: role}); err != nil {
			return "", err
		}
	case err != nil:
		return "", err
	}
	secret = api.NewSecret()
	if _, err := store.CreateToken(ctx, user, api.HashSecret(secret), now, expires); err != nil {
		return "", err
	}
	return secret, nil
}

// Accounts is where accounts and tokens are kept.
type Accounts interface {
	User(ctx context.Context, name string) (journal.User, error)
	CreateUser(ctx context.Context, user journal.User) error
	CreateToken(ctx context.Context, user string, hash [32]byte, created, expires time.Time) (id int64, err error)
}
