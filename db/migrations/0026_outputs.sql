-- Whether a vjob keeps its output in files: 0 no, 1 yes, and output may be missing there, 2 yes, and they are complete.
ALTER TABLE vjobs ADD COLUMN output INTEGER NOT NULL DEFAULT 0;
CREATE INDEX vjobs_output ON vjobs (id) WHERE output = 1;
