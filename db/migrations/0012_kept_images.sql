-- How many boots there were, where that is more than the incarnation: a gang may be restored
-- from images of an earlier life.
ALTER TABLE gangs ADD COLUMN boots INTEGER NOT NULL DEFAULT 0;
-- Images up to this generation are older than what members have run since.
ALTER TABLE gangs ADD COLUMN used INTEGER NOT NULL DEFAULT 0;
UPDATE gangs SET used = CASE WHEN phase IN ('pausing', 'saving', 'saved', 'restoring', 'resuming', 'paused') THEN max(generation - 1, 0) ELSE generation END;
-- The generations whose images are kept although the vjob was lost: JSON, '' for none.
ALTER TABLE gangs ADD COLUMN kept TEXT NOT NULL DEFAULT '';
CREATE INDEX gangs_kept ON gangs (vjob) WHERE kept <> '';
ALTER TABLE images ADD COLUMN incarnation INTEGER NOT NULL DEFAULT 0;
