-- What was reserved for vjobs while they ran, by the hour: shares and quotas are
-- reckoned from it after a start. It is not what vjobs have used since before this.
CREATE TABLE charges (
  id INTEGER PRIMARY KEY,
  hour_ns INTEGER NOT NULL,
  user TEXT NOT NULL,
  project TEXT NOT NULL,
  queue TEXT NOT NULL,
  cpu_milliseconds INTEGER NOT NULL,
  memory_mib_seconds INTEGER NOT NULL,
  UNIQUE (hour_ns, user, project, queue)
) STRICT;
