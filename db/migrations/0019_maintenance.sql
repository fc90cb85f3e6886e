-- Why a node is in maintenance, or being emptied for it (JSON); '' if it is not.
ALTER TABLE nodes ADD COLUMN maintenance TEXT NOT NULL DEFAULT '';
