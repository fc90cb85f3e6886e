-- Terms on which vjobs run, arrays, and how vjobs have ended.

-- What never changes of a submission stands apart, so that lists need not read past it
-- and the vjobs of an array share one.
CREATE TABLE specs (
  spec INTEGER PRIMARY KEY,
  json TEXT NOT NULL -- payloads, rules and terms
) STRICT;

INSERT INTO specs (spec, json) SELECT id, spec_json FROM vjobs;

ALTER TABLE vjobs DROP COLUMN spec_json;
ALTER TABLE vjobs ADD COLUMN spec INTEGER REFERENCES specs (spec);
ALTER TABLE vjobs ADD COLUMN queue TEXT NOT NULL DEFAULT '';
ALTER TABLE vjobs ADD COLUMN project TEXT NOT NULL DEFAULT '';
ALTER TABLE vjobs ADD COLUMN array INTEGER NOT NULL DEFAULT 0;       -- the first vjob of the array, 0 for none
ALTER TABLE vjobs ADD COLUMN array_index INTEGER NOT NULL DEFAULT 0; -- from 1
ALTER TABLE vjobs ADD COLUMN parameter TEXT NOT NULL DEFAULT '';
ALTER TABLE vjobs ADD COLUMN replaces INTEGER NOT NULL DEFAULT 0;    -- the vjob of which it is the next attempt
ALTER TABLE vjobs ADD COLUMN outcome TEXT NOT NULL DEFAULT 'open';

UPDATE vjobs SET spec = id;
UPDATE vjobs SET outcome = 'broken' WHERE state = 'failed';
UPDATE vjobs SET outcome = iif(reason LIKE 'deleted by %', 'deleted', iif(reason LIKE 'its walltime is over%', 'overdue', 'completed'))
WHERE state = 'terminated';

CREATE INDEX vjobs_spec ON vjobs (spec);
CREATE INDEX vjobs_array ON vjobs (array, array_index) WHERE array <> 0;

ALTER TABLE closed_accounts ADD COLUMN project TEXT NOT NULL DEFAULT '';
