-- Whether the VMs of a vjob move to improve the cluster now: as its terms say, or as it was changed. '' is automatic.
ALTER TABLE vjobs ADD COLUMN moves TEXT NOT NULL DEFAULT '';
