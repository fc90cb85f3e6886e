-- The id of this installation: random, made once, and kept by back-ups. It marks the
-- folders of the image store as ours.
CREATE TABLE installation (
  id TEXT NOT NULL
) STRICT;

INSERT INTO installation (id)
SELECT format('%s-%s-4%s-%s%s-%s', substr(h, 1, 8), substr(h, 9, 4), substr(h, 14, 3),
  substr('89ab', 1 + (random() & 3), 1), substr(h, 18, 3), substr(h, 21, 12))
FROM (SELECT lower(hex(randomblob(16))) AS h);
