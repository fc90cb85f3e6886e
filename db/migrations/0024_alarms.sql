-- Conditions that need or needed an administrator. The rest of each is JSON.
CREATE TABLE alarms (
  id       INTEGER PRIMARY KEY AUTOINCREMENT,
  kind     TEXT NOT NULL,
  since_ns INTEGER NOT NULL,
  ended_ns INTEGER, -- NULL: open
  json     TEXT NOT NULL
) STRICT;
CREATE INDEX alarms_ended ON alarms (ended_ns);
