package settings

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"vjob/cluster"
)

// ChangeKind is what became of a setting.
type ChangeKind string

// The kinds.
const (
	Changed ChangeKind = "changed"
	Added   ChangeKind = "added"
	Removed ChangeKind = "removed"
)

// Change is a difference between two settings.
type Change struct {
	Path     string // such as queues.night.priority
	Kind     ChangeKind
	Old, New string // as they stand in a file; "" before an addition, and after a removal
	Class    Class
}

// String writes the change on one line.
func (c Change) String() string {
	switch c.Kind {
	case Changed:
		return c.Path + ": " + c.Old + " → " + c.New
	case Added:
		return strings.TrimSpace("+ " + c.Path + " " + c.New)
	default: // Removed
		return strings.TrimSpace("- " + c.Path + " " + c.Old)
	}
}

// Diff lists what differs between two settings, in order of paths. Entries of lists are compared by their names, ranges
// of nodes node by node, and entries without a name as a whole. Files that the settings name are not read.
func Diff(before, after *Settings) ([]Change, error) {
	was, err := before.tree()
	if err != nil {
		return nil, err
	}
	is, err := after.tree()
	if err != nil {
		return nil, err
	}
	d := &differ{}
	d.compare("", "", was, is)
	slices.SortStableFunc(d.changes, func(a, b Change) int { return strings.Compare(a.Path, b.Path) })
	return d.changes, errors.Join(d.errs...)
}

// tree returns the settings as JSON values, with an entry for each node.
func (s *Settings) tree() (tree map[string]any, err error) {
	each := *s
	each.Nodes, each.Switching.Nodes = nil, nil
	for _, n := range s.Nodes {
		for _, name := range ExpandRange(n.Name) {
			n.Name = name
			each.Nodes = append(each.Nodes, n)
		}
	}
	for i := range s.Switching.Nodes {
		for _, name := range s.Switching.Nodes[i].Switched() {
			n := s.Switching.Nodes[i]
			n.Name = string(name)
			each.Switching.Nodes = append(each.Switching.Nodes, n)
		}
	}
	data, err := json.Marshal(&each)
	if err == nil {
		err = json.Unmarshal(data, &tree)
	}
	if err != nil {
		return nil, fmt.Errorf("compare the settings: %w", err)
	}
	return tree, nil
}

// differ collects changes.
type differ struct {
	changes []Change
	errs    []error
}

// compare compares two values at a path. The key is the path without the names of entries.
func (d *differ) compare(path, key string, was, is any) {
	oldMap, wasMap := was.(map[string]any)
	newMap, isMap := is.(map[string]any)
	oldList, wasList := was.([]any)
	newList, isList := is.([]any)
	switch {
	case (wasMap || was == nil) && (isMap || is == nil) && (wasMap || isMap):
		d.compareMaps(path, key, oldMap, newMap)
	case (wasList || was == nil) && (isList || is == nil) && (wasList || isList):
		d.compareLists(path, key, oldList, newList)
	case strings.Contains(text(was)+text(is), "\n"):
		d.compareLists(path, key, lines(text(was)), lines(text(is)))
	default:
		if before, after := brief(was), brief(is); before != after {
			d.note(Change{Path: path, Kind: Changed, Old: before, New: after}, key)
		}
	}
}

// compareMaps compares the keys of two maps.
func (d *differ) compareMaps(path, key string, was, is map[string]any) {
	names := slices.Collect(maps.Keys(was))
	for name := range is {
		if _, both := was[name]; !both {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	byKey, _ := classes()
	for _, name := range names {
		before, had := was[name]
		after, has := is[name]
		inner, innerKey := join(path, name), join(key, name)
		if _, known := byKey[innerKey]; !known && !isSection(innerKey) {
			innerKey = join(key, "*") // a name that the administrator chose
		}
		switch {
		case had && has:
			d.compare(inner, innerKey, before, after)
		case had:
			d.note(Change{Path: inner, Kind: Removed, Old: brief(before)}, innerKey)
		default:
			d.note(Change{Path: inner, Kind: Added, New: brief(after)}, innerKey)
		}
	}
}

// compareLists compares two lists by the names of their entries, or by the entries themselves.
func (d *differ) compareLists(path, key string, was, is []any) {
	before, named := index(was)
	after, alsoNamed := index(is)
	if !named || !alsoNamed {
		before, after = byValue(was), byValue(is)
	}
	named = named && alsoNamed
	find := func(list []entry, name string) int {
		return slices.IndexFunc(list, func(e entry) bool { return e.name == name })
	}
	var kept, keptNow []string
	for _, e := range before {
		at := find(after, e.name)
		switch {
		case at >= 0:
			kept = append(kept, e.name)
			if named {
				d.compare(join(path, e.name), key, e.value, after[at].value)
			}
		case named:
			d.note(Change{Path: join(path, e.name), Kind: Removed, Old: brief(e.value)}, key)
		default:
			d.note(Change{Path: path, Kind: Removed, Old: brief(e.value)}, key)
		}
	}
	for _, e := range after {
		switch {
		case find(before, e.name) >= 0:
			keptNow = append(keptNow, e.name)
		case named:
			d.note(Change{Path: join(path, e.name), Kind: Added, New: brief(e.value)}, key)
		default:
			d.note(Change{Path: path, Kind: Added, New: brief(e.value)}, key)
		}
	}
	if !slices.Equal(kept, keptNow) {
		d.note(Change{Path: path, Kind: Changed, Old: strings.Join(kept, ", "), New: strings.Join(keptNow, ", ")}, key)
	}
}

// note adds a change with the class of its key.
func (d *differ) note(c Change, key string) {
	class, ok := classOf(key)
	if !ok {
		d.errs = append(d.errs, cluster.Fault(c.Path, "the setting has no class: %s", key))
	}
	c.Class = class
	d.changes = append(d.changes, c)
}

// entry is an entry of a list.
type entry struct {
	name  string
	value any
}

// index returns the entries of a list by their names or ids; ok is false if one has none, or two have the same.
func index(list []any) (entries []entry, ok bool) {
	seen := map[string]bool{}
	for _, v := range list {
		fields, _ := v.(map[string]any)
		name, _ := fields["name"].(string)
		if name == "" {
			name, _ = fields["id"].(string)
		}
		if name == "" || seen[name] {
			return nil, false
		}
		seen[name] = true
		entries = append(entries, entry{name, v})
	}
	return entries, true
}

// byValue returns the entries of a list, each under its own text. Repeated entries are numbered.
func byValue(list []any) (entries []entry) {
	count := map[string]int{}
	for _, v := range list {
		text := brief(v)
		count[text]++
		name := text
		if n := count[text]; n > 1 {
			name = fmt.Sprintf("%s (%d)", text, n)
		}
		entries = append(entries, entry{name, v})
	}
	return entries
}

// text returns a value that is a text, or "".
func text(v any) string {
	s, _ := v.(string)
	return s
}

// lines returns the lines of a text, without empty ones.
func lines(s string) (list []any) {
	for line := range strings.Lines(s) {
		if line = strings.TrimSpace(line); line != "" {
			list = append(list, line)
		}
	}
	return list
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}
