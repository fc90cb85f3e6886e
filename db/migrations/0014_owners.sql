-- What each owner has in vjobs that have not ended. A submission asks for it inside the
-- transaction that adds to it, however many vjobs there are; so it is counted as they come
-- and go, and not each time.
CREATE TABLE owners (
  owner TEXT PRIMARY KEY,
  vjobs INTEGER NOT NULL CHECK (vjobs > 0),
  vms   INTEGER NOT NULL CHECK (vms > 0)
) STRICT, WITHOUT ROWID;

INSERT INTO owners (owner, vjobs, vms)
  SELECT owner, count(*), sum(vm_count) FROM vjobs WHERE state NOT IN ('terminated', 'failed') GROUP BY owner;

CREATE TRIGGER owners_submitted AFTER INSERT ON vjobs WHEN NEW.state NOT IN ('terminated', 'failed')
BEGIN
  INSERT INTO owners (owner, vjobs, vms) VALUES (NEW.owner, 1, NEW.vm_count)
    ON CONFLICT (owner) DO UPDATE SET vjobs = vjobs + 1, vms = vms + excluded.vms;
END;

CREATE TRIGGER owners_reshaped AFTER UPDATE OF vm_count ON vjobs WHEN NEW.state NOT IN ('terminated', 'failed')
BEGIN
  UPDATE owners SET vms = vms + NEW.vm_count - OLD.vm_count WHERE owner = NEW.owner;
END;

-- The last vjob takes the row with it.
CREATE TRIGGER owners_ended AFTER UPDATE OF state ON vjobs
  WHEN NEW.state IN ('terminated', 'failed') AND OLD.state NOT IN ('terminated', 'failed')
BEGIN
  DELETE FROM owners WHERE owner = NEW.owner AND vjobs = 1;
  UPDATE owners SET vjobs = vjobs - 1, vms = vms - NEW.vm_count WHERE owner = NEW.owner;
END;
