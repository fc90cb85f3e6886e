-- The pools that administrators have stated: one row, or none.
CREATE TABLE pools (
  id        INTEGER PRIMARY KEY CHECK (id = 1),
  text      TEXT NOT NULL,
  stated_by TEXT NOT NULL,
  stated_ns INTEGER
) STRICT;

-- The pool that a vjob names now: that of its terms, or the one to which it was moved.
ALTER TABLE vjobs ADD COLUMN pool TEXT NOT NULL DEFAULT '';
