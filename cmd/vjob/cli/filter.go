package cli

import (
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"vjob/api/client"
	"vjob/cluster"
)

// Filter is the flags that select vjobs by what they are, of lists and of orders to many.
type Filter struct {
	states, labels                            []string
	owner, name, project, queue, node, search string
}

// filterFlags are the names of the flags.
var filterFlags = []string{"state", "label", "user", "name", "project", "queue", "node", "match"}

// Register adds the flags; their help begins with a word such as "only".
func (f *Filter) Register(flags *pflag.FlagSet, only string) {
	flags.SetNormalizeFunc(synonyms)
	WordsVar(flags, &f.states, "state", nil, only+" those in these `STATES`: waiting,running,…; live and ended are several")
	flags.StringArrayVar(&f.labels, "label", nil, only+" those with this `NAME=VALUE`, or NAME with any value; may be repeated: all must hold")
	flags.StringVarP(&f.owner, "user", "u", "", only+" those of this `OWNER` (administrators)")
	flags.StringVar(&f.name, "name", "", only+" those of this `NAME`, or of the array of this name")
	flags.StringVar(&f.project, "project", "", only+" those of this `PROJECT`")
	flags.StringVarP(&f.queue, "queue", "q", "", only+" those of this `QUEUE`")
	flags.StringVar(&f.node, "node", "", only+" those with a VM on this `NODE` or on its way there; ended ones that were there")
	flags.StringVar(&f.search, "match", "", only+" those with this `TEXT` in their name, parameter or comment; case is ignored")
}

// synonyms are other names of the flags: the column of --user is OWNER.
func synonyms(_ *pflag.FlagSet, name string) pflag.NormalizedName {
	if name == "owner" {
		name = "user"
	}
	return pflag.NormalizedName(name)
}

// Given returns the flag that was given, or "".
func (f *Filter) Given(flags *pflag.FlagSet) string {
	for _, name := range filterFlags {
		if flags.Changed(name) {
			return "--" + name
		}
	}
	return ""
}

// Query returns the query of the flags.
func (f *Filter) Query() (q client.VJobQuery, err error) {
	q = client.VJobQuery{Owner: f.owner, Name: f.name, Project: f.project, Queue: f.queue, Labels: f.labels, Node: f.node, Match: f.search}
	for _, check := range []struct{ flag, name string }{{"--name", f.name}, {"--project", f.project}, {"--queue", f.queue}} {
		if check.name == "" {
			continue
		}
		if err := cluster.CheckName(check.flag, cluster.ArrayName(check.name)); err != nil {
			return q, err
		}
	}
	for _, text := range f.labels {
		if name, _, _ := strings.Cut(text, "="); !cluster.IsLabel(name) {
			return q, cluster.BadField("--label", text, "NAME=VALUE or NAME, where NAME begins with a letter")
		}
	}
	q.States, err = parseStates(f.states)
	return q, err
}

// parseStates reads the names of states, and live and ended, which stand for several.
func parseStates(words []string) (names []string, err error) {
	for _, word := range words {
		found := []string{word}
		switch word {
		case "live", "ended":
			found = nil
			for s := cluster.Waiting; s <= cluster.Failed; s++ {
				if s.Terminal() == (word == "ended") {
					found = append(found, s.String())
				}
			}
		default:
			if _, err := cluster.ParseState(word); err != nil {
				return nil, cluster.Renamed("--state", err)
			}
		}
		for _, name := range found {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names, nil
}

// ParsePast reads an instant of the past: a date, a date and a time of where the user is, "today 08:00",
// "yesterday", a time alone for the last such, or a time ago such as 2h or 3d. "" is the zero time.
func ParsePast(field, text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if d, err := cluster.ParseDuration(strings.TrimSuffix(text, " ago")); err == nil && d > 0 {
		return now.Add(-d), nil
	}
	for _, layout := range append(layouts, time.DateOnly) {
		if t, err := time.ParseInLocation(layout, text, now.Location()); err == nil {
			return t, nil
		}
	}
	day, clock, given := strings.Cut(text, " ")
	ago, named := map[string]int{"today": 0, "yesterday": 1}[day]
	if !named {
		clock, given = text, true
	}
	at := time.Time{}
	if given {
		var err error
		if at, err = time.Parse("15:04", clock); err != nil {
			return at, cluster.BadField(field, text, "a date such as 2026-12-01, with a time 2026-12-01 08:00, today 08:00, yesterday, 08:00 for the last such, or a time ago such as 2h or 3d")
		}
	}
	t := time.Date(now.Year(), now.Month(), now.Day()-ago, at.Hour(), at.Minute(), 0, 0, now.Location())
	if !named && t.After(now) {
		t = t.AddDate(0, 0, -1)
	}
	return t, nil
}

// ParseFilter reads a filter on one line: words such as state:waiting, owner:ada or label:campaign=7, and text that is
// searched for as by --match.
func ParseFilter(text string) (client.VJobQuery, error) {
	var f Filter
	texts := map[string]*string{
		"user": &f.owner, "owner": &f.owner, "name": &f.name, "project": &f.project, "queue": &f.queue, "node": &f.node, "match": &f.search,
	}
	var words []string
	for word := range strings.FieldsSeq(text) {
		key, value, labelled := strings.Cut(word, ":")
		switch target := texts[key]; {
		case !labelled:
			words = append(words, word)
		case value == "":
			return client.VJobQuery{}, cluster.Fault(key, "missing, want %s:%s", key, "VALUE without a blank")
		case key == "state":
			f.states = append(f.states, strings.Split(value, ",")...)
		case key == "label":
			f.labels = append(f.labels, value)
		case target != nil:
			*target = value
		default:
			return client.VJobQuery{}, cluster.BadField("filter", word, "text, or state:, owner:, name:, project:, queue:, node: or label: with a value")
		}
	}
	if len(words) > 0 {
		f.search = strings.Join(words, " ")
	}
	return f.Query()
}
