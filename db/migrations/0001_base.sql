-- The first schema. Conventions: units end the names of columns; *_ns are
-- nanoseconds (of UTC since 1970, or of a duration), NULL where nothing happened
-- yet; opaque values are JSON. AUTOINCREMENT is what makes numbers unique for
-- ever: SQLite keeps the largest one ever given in sqlite_sequence, inside the
-- same transaction, and never gives it again.

CREATE TABLE meta (
  name  TEXT PRIMARY KEY,
  value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

INSERT INTO meta (name, value) VALUES ('epoch', 0); -- starts of the scheduler so far

CREATE TABLE users (
  name TEXT PRIMARY KEY,
  role TEXT NOT NULL CHECK (role IN ('user', 'admin'))
) STRICT, WITHOUT ROWID;

CREATE TABLE tokens (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  user       TEXT NOT NULL REFERENCES users (name) ON DELETE CASCADE,
  sha256     BLOB NOT NULL UNIQUE CHECK (length(sha256) = 32), -- of the secret, which is not kept
  created_ns INTEGER NOT NULL,
  expires_ns INTEGER, -- NULL: never
  revoked    INTEGER NOT NULL DEFAULT 0 CHECK (revoked IN (0, 1))
) STRICT;

CREATE INDEX tokens_user ON tokens (user);

-- An owner need not be a user: people on the unix socket have no account, and a
-- vjob outlives the account of its owner.
CREATE TABLE vjobs (
  id           INTEGER PRIMARY KEY AUTOINCREMENT,
  owner        TEXT NOT NULL CHECK (owner <> ''),
  name         TEXT NOT NULL,
  submitted_ns INTEGER,
  priority     INTEGER NOT NULL,
  walltime_ns  INTEGER NOT NULL,
  state        TEXT NOT NULL,
  held         INTEGER NOT NULL CHECK (held IN (0, 1)),
  reason       TEXT NOT NULL,
  version      INTEGER NOT NULL,
  started_ns   INTEGER,
  ended_ns     INTEGER,
  vm_count     INTEGER NOT NULL CHECK (vm_count > 0),
  cpu_milli    INTEGER NOT NULL, -- sum over the members, as memory_mib
  memory_mib   INTEGER NOT NULL,
  spec_json    TEXT NOT NULL -- payloads and rules: immutable, and last so that lists need not read it
) STRICT;

CREATE INDEX vjobs_owner ON vjobs (owner, state);
CREATE INDEX vjobs_state ON vjobs (state);
CREATE INDEX vjobs_live ON vjobs (id) WHERE state NOT IN ('terminated', 'failed');
CREATE UNIQUE INDEX vjobs_live_name ON vjobs (owner, name)
  WHERE state NOT IN ('terminated', 'failed') AND name <> '';

CREATE TABLE gangs (
  vjob         INTEGER PRIMARY KEY REFERENCES vjobs (id),
  phase        TEXT NOT NULL,
  continuation TEXT NOT NULL, -- what the phase leads to, where it can lead to several
  since_ns     INTEGER,
  incarnation  INTEGER NOT NULL,
  generation   INTEGER NOT NULL,
  restores     INTEGER NOT NULL,
  losses       INTEGER NOT NULL,
  cause        TEXT NOT NULL,
  skew_ns      INTEGER NOT NULL
) STRICT;

-- Nodes are named here without a foreign key, as in the logs below: what was
-- observed must be recorded even on a node that the settings no longer declare.
CREATE TABLE vms (
  vjob         INTEGER NOT NULL REFERENCES vjobs (id),
  rank         INTEGER NOT NULL,
  cpu_milli    INTEGER NOT NULL, -- reserved
  memory_mib   INTEGER NOT NULL, -- reserved
  payload      INTEGER NOT NULL, -- index into the payloads of the vjob's spec
  node         TEXT NOT NULL DEFAULT '',
  next_node    TEXT NOT NULL DEFAULT '',
  ended        INTEGER NOT NULL DEFAULT 0 CHECK (ended IN (0, 1)),
  save_attempt INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (vjob, rank)
) STRICT, WITHOUT ROWID;

-- A row is a sealed image of the present generation: one that may be restored.
CREATE TABLE images (
  vjob       INTEGER NOT NULL,
  rank       INTEGER NOT NULL,
  generation INTEGER NOT NULL,
  attempt    INTEGER NOT NULL,
  node       TEXT NOT NULL,
  size_bytes INTEGER NOT NULL,
  checksum   TEXT NOT NULL,
  PRIMARY KEY (vjob, rank),
  FOREIGN KEY (vjob, rank) REFERENCES vms (vjob, rank)
) STRICT, WITHOUT ROWID;

CREATE TABLE accounts (
  vjob               INTEGER PRIMARY KEY REFERENCES vjobs (id),
  running_ns         INTEGER NOT NULL,
  cpu_ns             INTEGER NOT NULL,
  memory_mib_seconds INTEGER NOT NULL
) STRICT;

CREATE TABLE idempotency_keys (
  owner       TEXT NOT NULL,
  key         TEXT NOT NULL,
  vjob        INTEGER NOT NULL REFERENCES vjobs (id),
  fingerprint BLOB NOT NULL, -- SHA-256 of the submission
  created_ns  INTEGER,
  PRIMARY KEY (owner, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE nodes (
  id          TEXT PRIMARY KEY,
  cpu_milli   INTEGER NOT NULL,
  memory_mib  INTEGER NOT NULL,
  state       TEXT NOT NULL,
  labels_json TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE plans (
  id           INTEGER PRIMARY KEY AUTOINCREMENT,
  at_ns        INTEGER,
  ended_ns     INTEGER,
  policy       TEXT NOT NULL,
  state        TEXT NOT NULL,
  note         TEXT NOT NULL DEFAULT '',
  cost_mib     INTEGER NOT NULL,
  makespan_ns  INTEGER NOT NULL,
  action_count INTEGER NOT NULL,
  plan_json    TEXT NOT NULL
) STRICT;

CREATE INDEX plans_running ON plans (id) WHERE state = 'running';

-- An action without a row has not begun.
CREATE TABLE plan_actions (
  plan     INTEGER NOT NULL REFERENCES plans (id),
  action   INTEGER NOT NULL,
  state    TEXT NOT NULL,
  began_ns INTEGER,
  ended_ns INTEGER,
  note     TEXT NOT NULL,
  PRIMARY KEY (plan, action)
) STRICT, WITHOUT ROWID;

CREATE TABLE plan_skews (
  id      INTEGER PRIMARY KEY,
  plan    INTEGER REFERENCES plans (id),
  vjob    INTEGER NOT NULL,
  kind    TEXT NOT NULL,
  skew_ns INTEGER NOT NULL
) STRICT;

CREATE INDEX plan_skews_plan ON plan_skews (plan);

-- Calls to hypervisors: the row is the intent, committed before the call is made;
-- the result is filled in afterwards. error is NULL as long as there is none.
-- The vjob carries no foreign key: a stray machine of an unknown vjob is paused
-- too, and that call needs its intent like any other.
CREATE TABLE intents (
  op                INTEGER PRIMARY KEY AUTOINCREMENT,
  plan              INTEGER REFERENCES plans (id),
  epoch             INTEGER NOT NULL,
  at_ns             INTEGER,
  verb              TEXT NOT NULL,
  vjob              INTEGER NOT NULL,
  rank              INTEGER NOT NULL,
  node              TEXT NOT NULL,
  to_node           TEXT NOT NULL,
  image             TEXT NOT NULL, -- name, '' for none
  checksum          TEXT NOT NULL,
  attempt           INTEGER NOT NULL,
  stamp_incarnation INTEGER NOT NULL,
  stamp_epoch       INTEGER NOT NULL,
  began_ns          INTEGER,
  ended_ns          INTEGER,
  error             TEXT
) STRICT;

CREATE INDEX intents_open ON intents (op) WHERE error IS NULL;
CREATE INDEX intents_vjob ON intents (vjob, op);

CREATE TABLE events (
  seq   INTEGER PRIMARY KEY AUTOINCREMENT,
  at_ns INTEGER,
  kind  TEXT NOT NULL,
  vjob  INTEGER,
  vm    TEXT NOT NULL,
  node  TEXT NOT NULL,
  plan  INTEGER,
  state TEXT NOT NULL,
  text  TEXT NOT NULL
) STRICT;

CREATE INDEX events_vjob ON events (vjob, seq) WHERE vjob IS NOT NULL;
CREATE INDEX events_plan ON events (plan, seq) WHERE plan IS NOT NULL;

CREATE TRIGGER events_are_kept BEFORE DELETE ON events
BEGIN SELECT RAISE (ABORT, 'the event log is append-only'); END;

CREATE TRIGGER events_are_final BEFORE UPDATE ON events
BEGIN SELECT RAISE (ABORT, 'the event log is append-only'); END;
