package db

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
)

// How many valid and how many ended tokens an account may have.
const (
	liveTokens  = 100
	endedTokens = 100
)

// CreateToken adds a bearer token of a user and returns its number.
func (d *DB) CreateToken(ctx context.Context, n journal.NewToken, act journal.Audit) (id int64, err error) {
	err = d.writer.do(ctx, func(t *tx) error {
		var account, count int64
		found, err := t.row("SELECT id, (SELECT count(*) FROM tokens WHERE account = users.id AND NOT revoked AND (expires_ns IS NULL OR expires_ns > ?2)) FROM users WHERE name = ?1 AND "+present,
			[]any{n.User, act.At.UnixNano()}, &account, &count)
		switch {
		case err != nil:
			return err
		case !found:
			return cluster.ErrNotFound
		}
		if n.Replaces != 0 {
			if err := t.revoke(account, n.Replaces); err != nil {
				return err
			}
		} else if count >= liveTokens {
			return fmt.Errorf("the user has %d valid tokens; revoke one first: %w", count, cluster.ErrConflict)
		}
		id, err = t.insert("INSERT INTO tokens (account, name, sha256, created_ns, expires_ns) VALUES (?, ?, ?, ?, ?)",
			account, n.Name, n.Hash[:], act.At.UnixNano(), nanos(n.Expires))
		if err != nil {
			return err
		}
		act.Object = fmt.Sprintf("token %d of %s", id, n.User)
		return firstError(func() error { return t.forgetTokens(account, act.At) }, func() error { return t.audited(&act) })
	})
	if err != nil {
		return 0, fmt.Errorf("create token of user %s: %w", n.User, err)
	}
	return id, nil
}

// forgetTokens deletes all but the latest tokens of an account that are no longer valid.
func (t *tx) forgetTokens(account int64, now time.Time) error {
	return t.exec(`DELETE FROM tokens WHERE id IN (SELECT id FROM tokens WHERE account = ?1 AND (revoked OR expires_ns <= ?2)
		ORDER BY id DESC LIMIT -1 OFFSET ?3)`, account, now.UnixNano(), endedTokens)
}

// UserByToken returns the account of a token, and of the token its number and its name. A token that is unknown, revoked,
// expired, or of a disabled account is ErrUnauthenticated; the error does not tell which.
func (d *DB) UserByToken(ctx context.Context, hash [sha256.Size]byte, now time.Time) (u journal.User, token journal.Token, err error) {
	err = d.snapshot(ctx, func(r *snapshot) (err error) {
		u, err = scanUser(r.tx.QueryRowContext(r.ctx, "SELECT "+userColumns+`, tokens.id, tokens.name FROM tokens JOIN users ON users.id = tokens.account
			WHERE sha256 = ? AND NOT revoked AND (expires_ns IS NULL OR expires_ns > ?) AND users.state = 'active'`,
			hash[:], now.UnixNano()), &token.ID, &token.Name)
		return err
	})
	switch {
	case errors.Is(err, cluster.ErrNotFound):
		return journal.User{}, journal.Token{}, fmt.Errorf("token: %w", cluster.ErrUnauthenticated)
	case err != nil:
		return journal.User{}, journal.Token{}, fmt.Errorf("token: %w", err)
	}
	return u, token, nil
}

// Tokens lists the tokens of a user, the oldest first.
func (d *DB) Tokens(ctx context.Context, user string) (list []journal.Token, err error) {
	query := `SELECT tokens.id, users.name, tokens.name, tokens.created_ns, expires_ns, used_ns, revoked
		FROM tokens JOIN users ON users.id = tokens.account WHERE users.name = ? AND ` + present + " ORDER BY tokens.id"
	err = d.snapshot(ctx, func(r *snapshot) error {
		return r.each(query, []any{user}, func(s row) error {
			var t journal.Token
			err := s.Scan(&t.ID, &t.User, &t.Name, instant{&t.Created}, instant{&t.Expires}, instant{&t.Used}, &t.Revoked)
			list = append(list, t)
			return err
		})
	})
	if err != nil {
		return nil, fmt.Errorf("list tokens of user %s: %w", user, err)
	}
	return list, nil
}

// RevokeToken revokes a token of a user. Repeating it changes nothing.
func (d *DB) RevokeToken(ctx context.Context, user string, id int64, act journal.Audit) error {
	err := d.writer.do(ctx, func(t *tx) error {
		var account int64
		found, err := t.row("SELECT id FROM users WHERE name = ? AND "+present, []any{user}, &account)
		if err == nil && !found {
			err = cluster.ErrNotFound
		}
		if err != nil {
			return err
		}
		return firstError(func() error { return t.revoke(account, id) }, func() error { return t.audited(&act) })
	})
	if err != nil {
		return fmt.Errorf("revoke token %d: %w", id, err)
	}
	return nil
}

func (t *tx) revoke(account, id int64) error {
	n, err := t.change("UPDATE tokens SET revoked = 1 WHERE id = ? AND account = ?", id, account)
	if err == nil && n == 0 {
		err = cluster.ErrNotFound
	}
	return err
}

// NoteUse writes when tokens were last used. It skips deleted tokens.
func (d *DB) NoteUse(ctx context.Context, used map[int64]time.Time) error {
	err := d.writer.do(ctx, func(t *tx) error {
		for id, at := range used {
			if err := t.exec("UPDATE tokens SET used_ns = max(coalesce(used_ns, 0), ?) WHERE id = ?", at.UnixNano(), id); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("note the use of tokens: %w", err)
	}
	return nil
}
