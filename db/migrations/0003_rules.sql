-- Rules are texts in a language of their own: docs/reference/rules.md.

-- The rules that administrators have stated for the cluster: one row, or none.
CREATE TABLE rules (
  id        INTEGER PRIMARY KEY CHECK (id = 1),
  text      TEXT NOT NULL,
  stated_by TEXT NOT NULL,
  stated_ns INTEGER
) STRICT;

-- The rules of vjobs were lists of objects; ranks that are left out mean all members.
UPDATE vjobs SET spec_json = json_set(spec_json, '$.rules', (
  SELECT group_concat(
    iif(rule.value ->> 'kind' = 'gather', '', 'continuous ') || (rule.value ->> 'kind') || '('
    || coalesce('{' || (SELECT group_concat('VM' || value, ', ') FROM json_each(rule.value, '$.ranks')) || '}', '$VMS')
    || coalesce(', {' || (SELECT group_concat('"' || value || '"', ', ') FROM json_each(rule.value, '$.nodes')) || '}', '')
    || ');', char(10))
  FROM json_each(spec_json, '$.rules') AS rule))
WHERE json_type(spec_json, '$.rules') = 'array';
