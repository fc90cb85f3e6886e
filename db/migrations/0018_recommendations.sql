-- Changes that are proposed for the cluster, and what became of them. The rest of each is JSON.
CREATE TABLE recommendations (
  id    INTEGER PRIMARY KEY AUTOINCREMENT,
  at_ns INTEGER NOT NULL,
  kind  TEXT NOT NULL,
  state TEXT NOT NULL,
  json  TEXT NOT NULL
) STRICT;
CREATE INDEX recommendations_state ON recommendations (state, id);
