-- The prices of energy that administrators have stated: one row, or none.
CREATE TABLE prices (
  id        INTEGER PRIMARY KEY CHECK (id = 1),
  text      TEXT NOT NULL,
  stated_by TEXT NOT NULL,
  stated_ns INTEGER
) STRICT;

-- What was drawn by the hour, in millijoules: by nodes, and of that by vjobs. The sums of
-- both agree to the last one.

CREATE TABLE node_hours (
  id          INTEGER PRIMARY KEY,
  hour_ns     INTEGER NOT NULL,
  node        TEXT NOT NULL,
  millijoules INTEGER NOT NULL,
  unused      INTEGER NOT NULL, -- of these for no vjob
  UNIQUE (hour_ns, node)
) STRICT;

-- Whose a vjob is stands here as well: vjobs are forgotten earlier, or later.
CREATE TABLE vjob_hours (
  id          INTEGER PRIMARY KEY,
  hour_ns     INTEGER NOT NULL,
  vjob        INTEGER NOT NULL,
  owner       TEXT NOT NULL,
  project     TEXT NOT NULL,
  queue       TEXT NOT NULL,
  millijoules INTEGER NOT NULL,
  waited_ns   INTEGER NOT NULL, -- for a lower price, before it started
  UNIQUE (hour_ns, vjob)
) STRICT;
