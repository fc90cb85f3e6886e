package api

import (
	"context"

	"vjob/ctxswitch/journal"
)

// accountReader finds accounts.
type accountReader interface {
	User(ctx context.Context, name string) (journal.User, error)
}

// userGroups finds the groups of users.
type userGroups struct {
	accounts accountReader
	system   func(name string) ([]string, error) // the groups of a local user
}

// of returns the groups of a subject: those that the system knows for a local account, else those of the
// account. known is false if neither has any knowledge.
func (g *userGroups) of(ctx context.Context, caller Subject) (list []string, known bool, err error) {
	account, err := g.accounts.User(ctx, caller.Name)
	switch {
	case isNotFound(err):
		account.Local = caller.Via == "socket"
	case err != nil:
		return nil, false, err
	}
	if !account.Local {
		return account.Groups, account.Groups != nil, nil
	}
	list, err = g.system(caller.Name)
	return list, err == nil, nil
}
