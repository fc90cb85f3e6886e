-- What reports are made of (vjob report). What was used before this is not known by the hour.

-- What a vjob has used of a node within an hour of UTC.
CREATE TABLE usage_hours (
  id                 INTEGER PRIMARY KEY,
  hour_ns            INTEGER NOT NULL,
  vjob               INTEGER NOT NULL,
  node               TEXT NOT NULL,
  cpu_milliseconds   INTEGER NOT NULL, -- of one processor, reserved while the vjob ran
  used_milliseconds  INTEGER NOT NULL, -- CPU time that its guests got
  memory_mib_seconds INTEGER NOT NULL,
  UNIQUE (hour_ns, vjob, node)
) STRICT;

CREATE INDEX usage_hours_vjob ON usage_hours (vjob, hour_ns);

-- Runs of vjobs whose results are lost: the vjob started again from scratch, or ended because of it.
CREATE TABLE discarded_runs (
  id               INTEGER PRIMARY KEY,
  vjob             INTEGER NOT NULL,
  at_ns            INTEGER NOT NULL,
  cause            TEXT NOT NULL, -- kind of the cause
  running_ns       INTEGER NOT NULL,
  cpu_milliseconds INTEGER -- reserved meanwhile; NULL: unknown
) STRICT;

CREATE INDEX discarded_runs_at ON discarded_runs (at_ns);
CREATE INDEX discarded_runs_vjob ON discarded_runs (vjob);

-- What a node offers from an instant on; 0 while it is out of service.
CREATE TABLE node_capacity (
  id         INTEGER PRIMARY KEY,
  node       TEXT NOT NULL,
  at_ns      INTEGER NOT NULL,
  cpu_milli  INTEGER NOT NULL,
  memory_mib INTEGER NOT NULL
) STRICT;

CREATE INDEX node_capacity_node ON node_capacity (node, at_ns);

-- What was reserved for a vjob in sum, like its hours. NULL: unknown, because it used something before this.
ALTER TABLE accounts ADD COLUMN reserved_milliseconds INTEGER;

CREATE INDEX vjobs_started ON vjobs (started_ns) WHERE started_ns IS NOT NULL;
