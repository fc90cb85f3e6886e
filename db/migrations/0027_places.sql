-- The places of live vjobs in a list that has each array once: a page of it is read without sorting all of them.
CREATE INDEX vjobs_place ON vjobs (iif(array = 0, id, array)) WHERE state NOT IN ('terminated', 'failed');
