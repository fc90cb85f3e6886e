-- How long vjobs ran on nodes that were asked for more CPU than they have: of running_ns, and
-- not counted towards their walltimes.
ALTER TABLE accounts ADD COLUMN crowded_ns INTEGER NOT NULL DEFAULT 0;
