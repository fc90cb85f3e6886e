-- The exit status of the work of a VM, and of the whole vjob: code:signal, 'unknown', or '' for none.
ALTER TABLE vms ADD COLUMN exit_status TEXT NOT NULL DEFAULT '';
ALTER TABLE vjobs ADD COLUMN exit_status TEXT NOT NULL DEFAULT '';
