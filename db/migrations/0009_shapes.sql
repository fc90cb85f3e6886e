-- Moldable vjobs: which of the shapes in its specification a vjob has.

ALTER TABLE vjobs ADD COLUMN shape INTEGER NOT NULL DEFAULT 0;
