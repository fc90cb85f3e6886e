package daemon

import (
	"context"
	"errors"
	"time"

	"vjob/api"
	"vjob/cluster"
	"vjob/journal"
)

// CreateToken makes an account if there is none and a token for it, directly in
// the database of a daemon that does not run.
func CreateToken(ctx context.Context, store Accounts, user string, role journal.Role, now, expires time.Time) (secret string, err error) {
	if err := cluster.CheckName("name", user); err != nil {
		return "", err
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
