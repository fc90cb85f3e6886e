-- Shares of CPU, and the energy that is drawn.

ALTER TABLE accounts ADD COLUMN wanted_ns INTEGER NOT NULL DEFAULT 0;     -- CPU time, had it got all it needs
ALTER TABLE accounts ADD COLUMN energy_joules INTEGER NOT NULL DEFAULT 0; -- of its share of the nodes
ALTER TABLE closed_accounts ADD COLUMN wanted_ns INTEGER NOT NULL DEFAULT 0;
ALTER TABLE closed_accounts ADD COLUMN energy_joules INTEGER NOT NULL DEFAULT 0;

-- What each node has drawn, also one that is forgotten by now.
CREATE TABLE node_energy (
  node   TEXT PRIMARY KEY,
  joules INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The power budgets that administrators have stated: one row, or none.
CREATE TABLE budgets (
  id        INTEGER PRIMARY KEY CHECK (id = 1),
  text      TEXT NOT NULL,
  stated_by TEXT NOT NULL,
  stated_ns INTEGER
) STRICT;
