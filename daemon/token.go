package daemon

import (
	"context"
	"errors"
	"time"

	"vjob/api"
	"vjob/cluster"
	"vjob/ctxswitch/journal"
)

// CreateToken creates a token, and its account if that is missing, directly in
// the database of a daemon that does not run.
func CreateToken(ctx context.Context, store Accounts, n journal.NewToken, role journal.Role, act journal.Audit) (secret string, err error) {
	if err := cluster.CheckName("name", n.User); err != nil {
		return "", err
	}
	known, err := store.User(ctx, n.User)
	switch {
	case err == nil && known.Role != role:
		return "", cluster.BadField("--role", string(role), "the role that the account has: "+string(known.Role))
	case errors.Is(err, cluster.ErrNotFound):
		added := act
		added.Action, added.Object, added.Text = journal.AuditUserCreate, n.User, "role "+string(role)
		if err := store.CreateUser(ctx, journal.User{Name: n.User, Role: role}, added); err != nil {
			return "", err
		}
	case err != nil:
		return "", err
	}
	act.Action, act.Text = journal.AuditTokenCreate, "never expires"
	if !n.Expires.IsZero() {
		act.Text = "expires " + n.Expires.UTC().Format(time.RFC3339)
	}
	secret = api.NewSecret()
	n.Hash = api.HashSecret(secret)
	if _, err := store.CreateToken(ctx, n, act); err != nil {
		return "", err
	}
	return secret, nil
}

// Accounts stores accounts and tokens.
type Accounts interface {
	User(ctx context.Context, name string) (journal.User, error)
	CreateUser(ctx context.Context, user journal.User, act journal.Audit) error
	CreateToken(ctx context.Context, n journal.NewToken, act journal.Audit) (id int64, err error)
}
