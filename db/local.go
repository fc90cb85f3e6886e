package db

import (
	"context"
	"errors"
	"fmt"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
)

// Admit returns the account of a local user. The first request of a user creates the account
// if registration is open, or links the account that an administrator has added to the uid.
// ErrForbidden says why the user has no account, and what to do about it.
func (d *DB) Admit(ctx context.Context, l journal.LocalUser, now time.Time) (u journal.User, err error) {
	u, err = d.admit(ctx, l, now)
	if errors.Is(err, cluster.ErrConflict) { // another first request was faster
		u, err = d.admit(ctx, l, now)
	}
	return u, err
}

func (d *DB) admit(ctx context.Context, l journal.LocalUser, now time.Time) (u journal.User, err error) {
	var known []journal.User
	var locked bool
	err = d.snapshot(ctx, func(r *snapshot) error {
		known, locked, err = r.namesakes(l)
		return err
	})
	if err != nil {
		return u, fmt.Errorf("local user %s: %w", l.Name, err)
	}
	u, bind, err := matchAccount(l, known, locked)
	if err != nil || !bind {
		return u, err
	}
	u.UID = &l.UID
	if err := d.bind(ctx, &u, now); err != nil {
		return u, fmt.Errorf("local user %s: %w", l.Name, err)
	}
	return u, nil
}

// namesakes returns the accounts with the name or the uid; locked reports whether a deleted
// account was that of the local user.
func (r *snapshot) namesakes(l journal.LocalUser) (known []journal.User, locked bool, err error) {
	err = r.each("SELECT "+userColumns+", state = 'deleted' FROM users WHERE name = ?1 OR uid = ?2", []any{l.Name, int64(l.UID)}, func(s row) error {
		var deleted bool
		u, err := scanUser(s, &deleted)
		switch {
		case !deleted:
			known = append(known, u)
		case u.Local && (u.UID == nil || *u.UID == l.UID):
			locked = true
		}
		return err
	})
	return known, locked, err
}

// matchAccount finds the account of a local user; bind reports that it is new, or has no uid
// yet.
func matchAccount(l journal.LocalUser, known []journal.User, locked bool) (u journal.User, bind bool, err error) {
	refused := func(format string, args ...any) (journal.User, bool, error) {
		return journal.User{}, false, fmt.Errorf(format+": %w", append(args, cluster.ErrForbidden)...)
	}
	other := ""
	for _, k := range known {
		switch {
		case k.Name != l.Name:
			other = k.Name
		case !k.Local:
			return refused("the account %s is not that of the local user %s; an administrator links them: vjob accounts change %s --local", k.Name, k.Name, k.Name)
		case k.UID != nil && *k.UID != l.UID:
			return refused("the account %s is that of uid %d, and this is uid %d; an administrator links them anew: vjob accounts change %s --local", k.Name, *k.UID, l.UID, k.Name)
		case k.Disabled:
			return refused("the account %s is disabled", k.Name)
		default:
			return k, k.UID == nil, nil
		}
	}
	switch {
	case other != "":
		return refused("uid %d has the account %s, and is called %s now; an administrator adds an account: vjob accounts add %s --local", l.UID, other, l.Name, l.Name)
	case locked:
		return refused("the account of uid %d was deleted; an administrator adds it anew: vjob accounts add %s --local", l.UID, l.Name)
	case !l.Open:
		return refused("the local user %s has no account; an administrator adds it: vjob accounts add %s --local", l.Name, l.Name)
	}
	return journal.User{Name: l.Name, Role: journal.RoleUser, Local: true}, true, nil
}

// bind stores the uid of an account. It creates an account that has no id yet.
func (d *DB) bind(ctx context.Context, u *journal.User, now time.Time) error {
	act := journal.Audit{At: now, By: u.Name, From: fmt.Sprintf("uid %d", *u.UID), Action: journal.AuditUserCreate, Object: u.Name, Text: "at its first request"}
	return d.writer.do(ctx, func(t *tx) (err error) {
		if u.ID == 0 {
			u.ID, err = t.addUser(*u, act)
		} else {
			act.Action, act.Text = journal.AuditUserChange, "linked with the uid at its first request"
			var n int64
			n, err = t.change("UPDATE users SET uid = ? WHERE id = ? AND uid IS NULL", int64(*u.UID), u.ID)
			if err == nil && n == 0 {
				err = cluster.ErrConflict
			}
		}
		if err != nil {
			return err
		}
		return t.audited(&act)
	})
}
