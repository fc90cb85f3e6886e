-- The power of nodes that have ever been switched: the way from on to off and back. Each
-- request to a node's power driver is written down here before it is made.
CREATE TABLE power (
  node       TEXT PRIMARY KEY REFERENCES nodes (id),
  phase      TEXT NOT NULL, -- on, emptying, stopping, off, starting, stuck
  since_ns   INTEGER,
  wanted_off INTEGER NOT NULL CHECK (wanted_off IN (0, 1)),
  wanted_by  TEXT NOT NULL,
  attempt    INTEGER NOT NULL,
  called_ns  INTEGER,
  reason     TEXT NOT NULL
) STRICT, WITHOUT ROWID;
