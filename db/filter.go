package db

import (
	"encoding/json"
	"strings"
	"time"

	"vjob/ctxswitch/journal"
)

// condition collects the terms of a WHERE clause with their arguments.
type condition struct {
	terms []string
	args  []any
}

// add adds a term.
func (c *condition) add(term string, args ...any) {
	c.terms, c.args = append(c.terms, term), append(c.args, args...)
}

// text adds the comparison with a text that is not empty.
func (c *condition) text(term, value string) {
	if value != "" {
		c.add(term, value)
	}
}

// period adds the bounds of an instant in a column.
func (c *condition) period(column string, p journal.Period) {
	for _, bound := range []struct {
		operator string
		at       time.Time
	}{{" >= ?", p.Since}, {" < ?", p.Until}} {
		if !bound.at.IsZero() {
			c.add(column+bound.operator, bound.at.UnixNano())
		}
	}
}

// conditions returns the WHERE clause of a filter on the table vjobs.
func conditions(f *journal.Filter) (where string, args []any) {
	c := &condition{}
	c.text("owner = ?", f.Owner)
	c.text("project = ?", f.Project)
	c.text("queue = ?", f.Queue)
	if f.Name != "" { // that of a vjob, or of its array
		c.add("(name = ? OR array <> 0 AND name = ? || '[' || array_index || ']')", f.Name, f.Name)
	}
	if f.Live {
		c.add(live)
	}
	if f.Ended {
		c.add("NOT (" + live + ")")
	}
	if f.VJob != 0 {
		c.add("id = ?", int64(f.VJob))
	}
	c.array(f)
	if len(f.States) > 0 {
		states := make([]any, len(f.States))
		for i, s := range f.States {
			states[i] = s.String()
		}
		c.add("state IN (?"+strings.Repeat(", ?", len(states)-1)+")", states...)
	}
	if len(f.Outcomes) > 0 {
		outcomes := make([]any, len(f.Outcomes))
		for i, o := range f.Outcomes {
			outcomes[i] = o.String()
		}
		c.add("outcome IN (?"+strings.Repeat(", ?", len(outcomes)-1)+")", outcomes...)
	}
	for _, l := range f.Labels {
		c.label(l)
	}
	if f.Node != "" {
		c.node(string(f.Node))
	}
	if f.Match != "" {
		const found = "instr(lower(name || char(10) || parameter || char(10) || coalesce((SELECT json_extract(json, '$.terms.comment') FROM specs WHERE specs.spec = vjobs.spec), '')), lower(?)) > 0"
		c.add(found, f.Match)
	}
	if f.Prefix != "" {
		c.add("(substr(name, 1, length(?)) = ? OR substr(CAST(id AS TEXT), 1, length(?)) = ?)", f.Prefix, f.Prefix, f.Prefix, f.Prefix)
	}
	c.period("submitted_ns", f.Submitted)
	c.period("ended_ns", f.Finished)
	if len(c.terms) == 0 {
		return "", nil
	}
	return " WHERE " + strings.Join(c.terms, " AND "), c.args
}

// array adds the array and the places in it.
func (c *condition) array(f *journal.Filter) {
	if f.Array != 0 {
		c.add("array <> 0 AND array = ?", int64(f.Array))
	}
	if len(f.Indexes) == 0 {
		return
	}
	ranges := make([][2]int, len(f.Indexes))
	for i, r := range f.Indexes {
		ranges[i] = [2]int{r.First, r.Last}
	}
	list, _ := json.Marshal(ranges) // numbers have JSON
	// One term for all ranges: SQLite bounds the depth of an expression.
	c.add("EXISTS (SELECT 1 FROM json_each(?) AS place WHERE array_index BETWEEN place.value ->> 0 AND place.value ->> 1)", string(list))
}

// label adds a label, which the specification has.
func (c *condition) label(l journal.Label) {
	const value = "(SELECT json_extract(json, ?) FROM specs WHERE specs.spec = vjobs.spec)"
	path := `$.terms.labels."` + l.Name + `"`
	if l.Any {
		c.add(value+" IS NOT NULL", path)
		return
	}
	c.add(value+" = ?", path, l.Value)
}

// node adds the node on which a VM is, or was.
func (c *condition) node(name string) {
	c.add(`(EXISTS (SELECT 1 FROM vms WHERE vms.vjob = vjobs.id AND (vms.node = ? OR vms.next_node = ?))
		OR NOT (`+live+`) AND EXISTS (SELECT 1 FROM intents WHERE intents.vjob = vjobs.id AND (intents.node = ? OR intents.to_node = ?)))`,
		name, name, name, name)
}
