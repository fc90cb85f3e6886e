-- Who waits for whom, and further attempts.

-- A row as long as a live vjob waits for another, or for all of an array. What is waited
-- for is not deleted.
CREATE TABLE dependencies (
  vjob  INTEGER NOT NULL REFERENCES vjobs (id),
  needs INTEGER NOT NULL, -- a vjob, or an array
  whole INTEGER NOT NULL CHECK (whole IN (0, 1)), -- of an array: all its vjobs
  PRIMARY KEY (vjob, needs, whole)
) STRICT, WITHOUT ROWID;

CREATE INDEX dependencies_needs ON dependencies (needs);

ALTER TABLE vjobs ADD COLUMN attempts INTEGER NOT NULL DEFAULT 0; -- how many failed before it

CREATE INDEX vjobs_replaces ON vjobs (replaces) WHERE replaces <> 0;
