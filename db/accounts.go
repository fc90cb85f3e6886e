package db

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"vjob/cluster"
	"vjob/journal"
)

// CreateUser adds an account; a name that exists is ErrConflict.
func (d *DB) CreateUser(ctx context.Context, u journal.User) error {
	if u.Name == "" {
		return fmt.Errorf("create user: %w", cluster.BadField("name", u.Name, "a name"))
	}
	if u.Role != journal.RoleUser && u.Role != journal.RoleAdmin {
		return fmt.Errorf("create user %s: %w", u.Name, cluster.BadField("role", string(u.Role), "admin or user"))
	}
	err := d.writer.do(ctx, func(t *tx) error {
		err := t.exec("INSERT INTO users (name, role) VALUES (?, ?)", u.Name, string(u.Role))
		if errors.Is(err, cluster.ErrConflict) {
			return fmt.Errorf("the user exists already: %w", cluster.ErrConflict)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("create user %s: %w", u.Name, err)
	}
	return nil
}

// Users lists the accounts in order of their names.
func (d *DB) Users(ctx context.Context) (list []journal.User, err error) {
	err = d.snapshot(ctx, func(r *reader) error {
		return r.each("SELECT name, role FROM users ORDER BY name", nil, func(s scanner) error {
			var u journal.User
			err := s.Scan(&u.Name, &u.Role)
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
	err = d.snapshot(ctx, func(r *reader) error {
		return r.one("SELECT name, role FROM users WHERE name = ?", []any{name}, &u.Name, &u.Role)
	})
	if err != nil {
		return journal.User{}, fmt.Errorf("user %s: %w", name, err)
	}
	return u, nil
}

// DeleteUser removes an account with its tokens. While the user has live vjobs
// that is ErrConflict; ended ones stay, with their owner's name.
func (d *DB) DeleteUser(ctx context.Context, name string) error {
	err := d.writer.do(ctx, func(t *tx) error {
		var n int64
		if _, err := t.row("SELECT count(*) FROM vjobs WHERE owner = ? AND "+live, []any{name}, &n); err != nil {
			return err
		}
		if n > 0 {
			return fmt.Errorf("the user has %d live vjobs; end them first: %w", n, cluster.ErrConflict)
		}
		n, err := t.change("DELETE FROM users WHERE name = ?", name)
		if err == nil && n == 0 {
			err = cluster.ErrNotFound
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("delete user %s: %w", name, err)
	}
	return nil
}

// CreateToken adds a bearer token of a user by the SHA-256 of its secret and
// returns its number. A zero time of expiry means never.
func (d *DB) CreateToken(ctx context.Context, user string, hash [sha256.Size]byte, created, expires time.Time) (id int64, err error) {
	err = d.writer.do(ctx, func(t *tx) (err error) {
		id, err = t.insert("INSERT INTO tokens (user, sha256, created_ns, expires_ns) VALUES (?, ?, ?, ?)",
			user, hash[:], created.UnixNano(), nanos(expires))
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("create token of user %s: %w", user, err)
	}
	return id, nil
}

// UserByToken returns whose token it is. One that is unknown, revoked or expired
// is ErrUnauthenticated, and the error does not tell which.
func (d *DB) UserByToken(ctx context.Context, hash [sha256.Size]byte, now time.Time) (u journal.User, err error) {
	err = d.snapshot(ctx, func(r *reader) error {
		return r.one(`SELECT users.name, users.role FROM tokens JOIN users ON users.name = tokens.user
			WHERE sha256 = ? AND NOT revoked AND (expires_ns IS NULL OR expires_ns > ?)`,
			[]any{hash[:], now.UnixNano()}, &u.Name, &u.Role)
	})
	switch {
	case errors.Is(err, cluster.ErrNotFound):
		return journal.User{}, fmt.Errorf("token: %w", cluster.ErrUnauthenticated)
	case err != nil:
		return journal.User{}, fmt.Errorf("token: %w", err)
	}
	return u, nil
}

// Tokens lists the tokens of a user, the oldest first.
func (d *DB) Tokens(ctx context.Context, user string) (list []journal.Token, err error) {
	query := "SELECT id, user, created_ns, expires_ns, revoked FROM tokens WHERE user = ? ORDER BY id"
	err = d.snapshot(ctx, func(r *reader) error {
		return r.each(query, []any{user}, func(s scanner) error {
			var t journal.Token
			err := s.Scan(&t.ID, &t.User, instant{&t.Created}, instant{&t.Expires}, &t.Revoked)
			list = append(list, t)
			return err
		})
	})
	if err != nil {
		return nil, fmt.Errorf("list tokens of user %s: %w", user, err)
	}
	return list, nil
}

// RevokeToken makes a token worthless. Doing it again changes nothing.
func (d *DB) RevokeToken(ctx context.Context, id int64) error {
	err := d.writer.do(ctx, func(t *tx) error {
		n, err := t.change("UPDATE tokens SET revoked = 1 WHERE id = ?", id)
		if err == nil && n == 0 {
			err = cluster.ErrNotFound
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("revoke token %d: %w", id, err)
	}
	return nil
}
