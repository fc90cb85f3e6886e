-- Up to where an account goes (0: unknown), and the CPU time of the present copies of the VMs that is in it, by rank
-- (JSON, nanoseconds). A start of the daemon continues from there.
ALTER TABLE accounts ADD COLUMN until_ns INTEGER NOT NULL DEFAULT 0;
ALTER TABLE accounts ADD COLUMN seen_json TEXT NOT NULL DEFAULT '';
