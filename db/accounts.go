package db

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
	"vjob/internal/revision"
)

// userColumns are what [scanUser] reads.
const userColumns = "users.id, users.name, users.role, users.state = 'disabled', users.local, users.uid, users.groups, users.created_ns"

// present is the condition of accounts that are not deleted.
const present = "users.state <> 'deleted'"

func scanUser(s row, more ...any) (u journal.User, err error) {
	var uid sql.NullInt64
	var groups sql.NullString
	err = s.Scan(append([]any{&u.ID, &u.Name, &u.Role, &u.Disabled, &u.Local, &uid, &groups, instant{&u.Created}}, more...)...)
	if err != nil {
		return u, err
	}
	if uid.Valid {
		id := uint32(uid.Int64) //nolint:gosec // written from one
		u.UID = &id
	}
	if groups.Valid {
		err = json.Unmarshal([]byte(groups.String), &u.Groups)
	}
	return u, err
}

// groupsText is a list of groups as it is stored: NULL is unknown.
func groupsText(groups []string) any {
	if groups == nil {
		return nil
	}
	raw, _ := json.Marshal(groups) // strings can be encoded
	return string(raw)
}

// CreateUser adds an account. A name that exists is ErrConflict.
func (d *DB) CreateUser(ctx context.Context, u journal.User, act journal.Audit) error {
	if u.Name == "" {
		return fmt.Errorf("create user: %w", cluster.BadField("name", u.Name, "a name"))
	}
	if u.Role != journal.RoleUser && u.Role != journal.RoleAdmin {
		return fmt.Errorf("create user %s: %w", u.Name, cluster.BadField("role", string(u.Role), "admin or user"))
	}
	err := d.writer.do(ctx, func(t *tx) error {
		if _, err := t.addUser(u, act); err != nil {
			return err
		}
		return t.audited(&act)
	})
	if err != nil {
		return fmt.Errorf("create user %s: %w", u.Name, err)
	}
	return nil
}

func (t *tx) addUser(u journal.User, act journal.Audit) (id int64, err error) {
	var uid any
	if u.UID != nil {
		uid = int64(*u.UID)
	}
	id, err = t.insert("INSERT INTO users (name, role, local, uid, groups, created_ns) VALUES (?, ?, ?, ?, ?, ?)",
		u.Name, string(u.Role), u.Local, uid, groupsText(u.Groups), nanos(act.At))
	if errors.Is(err, cluster.ErrConflict) {
		err = fmt.Errorf("the user exists already: %w", cluster.ErrConflict)
	}
	return id, err
}

// Users lists the accounts in order of their names.
func (d *DB) Users(ctx context.Context) (list []journal.User, err error) {
	err = d.snapshot(ctx, func(r *snapshot) error {
		return r.each("SELECT "+userColumns+" FROM users WHERE "+present+" ORDER BY name", nil, func(s row) error {
			u, err := scanUser(s)
			list = append(list, u)
			return err
		})
	})
	if err != nil {
		return nil, fmt.Errorf("list users: %w", err)
	}
	return list, nil
}

// User returns an account by name.
func (d *DB) User(ctx context.Context, name string) (u journal.User, err error) {
	err = d.snapshot(ctx, func(r *snapshot) (err error) {
		u, err = scanUser(r.tx.QueryRowContext(r.ctx, "SELECT "+userColumns+" FROM users WHERE name = ? AND "+present, name))
		return err
	})
	if err != nil {
		return journal.User{}, fmt.Errorf("user %s: %w", name, err)
	}
	return u, nil
}

// ChangeUser changes an account.
func (d *DB) ChangeUser(ctx context.Context, name string, c journal.UserChange, act journal.Audit) error {
	var role, state, local, groups, uid any
	if c.Role != nil {
		role = string(*c.Role)
	}
	if c.Disabled != nil {
		state = map[bool]string{false: "active", true: "disabled"}[*c.Disabled]
	}
	if c.Local != nil {
		local, uid = *c.Local, true // the next uid of that name is the local user
	}
	if c.Groups != nil {
		groups = groupsText(*c.Groups)
	}
	err := d.writer.do(ctx, func(t *tx) error {
		if err := t.meets(ctx, name); err != nil {
			return err
		}
		n, err := t.change(`UPDATE users SET role = coalesce(?, role), state = coalesce(?, state), local = coalesce(?, local),
			groups = coalesce(?, groups), uid = iif(?, NULL, uid) WHERE name = ? AND `+present, role, state, local, groups, uid, name)
		if err == nil && n == 0 {
			err = cluster.ErrNotFound
		}
		if err != nil {
			return err
		}
		return t.audited(&act)
	})
	if err != nil {
		return fmt.Errorf("change user %s: %w", name, err)
	}
	return nil
}

// meets returns an error unless an account meets the condition of a request, see [revision.With].
func (t *tx) meets(ctx context.Context, name string) (err error) {
	unmet := revision.Check(ctx, func() (string, revision.Revision) {
		var u journal.User
		u, err = scanUser(t.conn.QueryRowContext(t.ctx, "SELECT "+userColumns+" FROM users WHERE name = ? AND "+present, name))
		if errors.Is(err, sql.ErrNoRows) {
			err = cluster.ErrNotFound
		}
		return "it", u.Revision()
	})
	return cmp.Or(err, unmet)
}

// DeleteUser deletes an account with its tokens. It is ErrConflict while the user has live
// vjobs. Ended vjobs and their usage stay: their owner becomes the name with the number of the
// account, such as ann#7, so that a new account of that name does not inherit them. The row
// stays and locks the uid out.
func (d *DB) DeleteUser(ctx context.Context, name string, act journal.Audit) (former string, err error) {
	err = d.writer.do(ctx, func(t *tx) error {
		if err := t.meets(ctx, name); err != nil {
			return err
		}
		var n, id int64
		found, err := t.row("SELECT id, (SELECT count(*) FROM vjobs WHERE owner = ?1 AND "+live+") FROM users WHERE name = ?1 AND "+present,
			[]any{name}, &id, &n)
		switch {
		case err != nil:
			return err
		case !found:
			return cluster.ErrNotFound
		case n > 0:
			return fmt.Errorf("the user has %d live vjobs; end them first, or disable the account: %w", n, cluster.ErrConflict)
		}
		former = fmt.Sprintf("%s#%d", name, id)
		return firstError(
			func() error { return t.exec("DELETE FROM tokens WHERE account = ?", id) },
			func() error { return t.exec("UPDATE users SET state = 'deleted' WHERE id = ?", id) },
			func() error { return t.exec("UPDATE vjobs SET owner = ?2 WHERE owner = ?1", name, former) },
			func() error { return t.exec("UPDATE closed_accounts SET owner = ?2 WHERE owner = ?1", name, former) },
			func() error { return t.exec("UPDATE vjob_hours SET owner = ?2 WHERE owner = ?1", name, former) },
			func() error { return t.exec("UPDATE charges SET user = ?2 WHERE user = ?1", name, former) },
			func() error { return t.exec("UPDATE idempotency_keys SET owner = ?2 WHERE owner = ?1", name, former) },
			func() error { return t.audited(&act) },
		)
	})
	if err != nil {
		return "", fmt.Errorf("delete user %s: %w", name, err)
	}
	return former, nil
}
