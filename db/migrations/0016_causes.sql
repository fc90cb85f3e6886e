-- Why a vjob is in its state is a cause now (JSON, or the text of an older vjob), why it is held
-- another, and events of states have one as well.
ALTER TABLE vjobs RENAME COLUMN reason TO cause;
ALTER TABLE vjobs ADD COLUMN hold TEXT NOT NULL DEFAULT '';
ALTER TABLE events ADD COLUMN cause TEXT NOT NULL DEFAULT '';
