-- How long actions took on nodes: the last ones of each kind, from which durations are estimated.
CREATE TABLE durations (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  node       TEXT NOT NULL,
  kind       TEXT NOT NULL,
  at_ns      INTEGER,
  memory_mib INTEGER NOT NULL,
  taken_ns   INTEGER NOT NULL
) STRICT;

CREATE INDEX durations_of ON durations (node, kind, id);
