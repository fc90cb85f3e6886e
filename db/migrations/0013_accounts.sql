-- Accounts have a number that is never given again, can be disabled, and say whether they are
-- those of local users. A deleted account keeps its row: it locks its uid out.
CREATE TABLE new_users (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  name       TEXT NOT NULL,
  role       TEXT NOT NULL CHECK (role IN ('user', 'admin')),
  state      TEXT NOT NULL DEFAULT 'active' CHECK (state IN ('active', 'disabled', 'deleted')),
  local      INTEGER NOT NULL CHECK (local IN (0, 1)), -- the account of the local user of that name
  uid        INTEGER, -- of that user; NULL before its first request
  groups     TEXT,    -- JSON, of accounts that are not local; NULL: unknown
  created_ns INTEGER
) STRICT;

CREATE UNIQUE INDEX users_name ON new_users (name) WHERE state <> 'deleted';
CREATE INDEX users_uid ON new_users (uid) WHERE uid IS NOT NULL;

-- Accounts were those of local users as well. Those of administrators are no longer, unless an
-- administrator says so: a role over the network does not hold on the socket.
INSERT INTO new_users (name, role, local) SELECT name, role, role = 'user' FROM users ORDER BY name;

CREATE TABLE new_tokens (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  account    INTEGER NOT NULL REFERENCES new_users (id),
  name       TEXT NOT NULL DEFAULT '',
  sha256     BLOB NOT NULL UNIQUE CHECK (length(sha256) = 32), -- of the secret, which is not kept
  created_ns INTEGER NOT NULL,
  expires_ns INTEGER, -- NULL: never
  used_ns    INTEGER, -- about when it was last used
  revoked    INTEGER NOT NULL DEFAULT 0 CHECK (revoked IN (0, 1))
) STRICT;

INSERT INTO new_tokens (id, account, sha256, created_ns, expires_ns, revoked)
SELECT tokens.id, new_users.id, sha256, tokens.created_ns, expires_ns, revoked FROM tokens JOIN new_users ON new_users.name = tokens.user;

-- Numbers of tokens that are gone are not given again either.
INSERT INTO sqlite_sequence (name, seq) SELECT 'new_tokens', 0 WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'new_tokens');
UPDATE sqlite_sequence SET seq = max(seq, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'tokens'), 0)) WHERE name = 'new_tokens';

DROP TABLE tokens;
DROP TABLE users;
ALTER TABLE new_users RENAME TO users;
ALTER TABLE new_tokens RENAME TO tokens;

CREATE INDEX tokens_account ON tokens (account);

-- Administrative acts and failed logins. Entries are never changed, and deleted from the front only.
CREATE TABLE audit (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  at_ns       INTEGER NOT NULL,
  by_name     TEXT NOT NULL, -- the account, '' for none
  from_where  TEXT NOT NULL, -- uid or network address
  action      TEXT NOT NULL,
  object      TEXT NOT NULL,
  text        TEXT NOT NULL
) STRICT;

INSERT INTO meta (name, value) VALUES ('pruned_audit', 0);

CREATE TRIGGER audit_is_kept BEFORE DELETE ON audit
WHEN OLD.id > (SELECT value FROM meta WHERE name = 'pruned_audit')
BEGIN SELECT RAISE (ABORT, 'the audit list is append-only'); END;

CREATE TRIGGER audit_is_final BEFORE UPDATE ON audit
BEGIN SELECT RAISE (ABORT, 'the audit list is append-only'); END;
