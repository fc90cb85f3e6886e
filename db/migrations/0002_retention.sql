-- History is deleted when it is old enough; see DESIGN.md.

-- How far that has come: no event and no vjob with a larger number was deleted.
INSERT INTO meta (name, value) VALUES ('pruned_events', 0), ('pruned_vjobs', 0);

-- What is left of a vjob that was deleted: who it was, and what it has used.
CREATE TABLE closed_accounts (
  vjob               INTEGER PRIMARY KEY,
  owner              TEXT NOT NULL,
  name               TEXT NOT NULL,
  submitted_ns       INTEGER,
  ended_ns           INTEGER,
  running_ns         INTEGER NOT NULL,
  cpu_ns             INTEGER NOT NULL,
  memory_mib_seconds INTEGER NOT NULL
) STRICT;

-- To find what is old, and who refers to what is about to be deleted.
CREATE INDEX vjobs_ended ON vjobs (ended_ns) WHERE state IN ('terminated', 'failed');
CREATE INDEX plans_ended ON plans (ended_ns) WHERE state <> 'running';
CREATE INDEX intents_plan ON intents (plan) WHERE plan IS NOT NULL;
CREATE INDEX idempotency_keys_vjob ON idempotency_keys (vjob);

-- Skews of no plan: nobody can ask for them, and they are no longer written.
DELETE FROM plan_skews WHERE plan IS NULL;

DROP TRIGGER events_are_kept;

CREATE TRIGGER events_are_kept BEFORE DELETE ON events
WHEN OLD.seq > (SELECT value FROM meta WHERE name = 'pruned_events')
  OR EXISTS (SELECT 1 FROM vjobs WHERE id = OLD.vjob AND state NOT IN ('terminated', 'failed'))
BEGIN SELECT RAISE (ABORT, 'the event log is append-only'); END;
