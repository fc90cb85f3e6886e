package client

import (
	"net/url"
	"time"
)

// VJobQuery narrows a list of vjobs. Zero fields do not narrow.
type VJobQuery struct {
	States   []string
	Outcomes []string // how they ended
	Owner    string   // administrators only
	Name     string   // of a vjob, or of an array
	Live     bool     // only those that have not ended
	Ended    bool     // only those that have ended
	Newest   bool     // latest first
	Array    int64    // only the vjobs of this array
	Indexes  string   // only those at these places of their arrays: "3", "3-7" or "2,5-9"
	Fold     bool     // one entry for each array
	Project  string
	Queue    string
	Labels   []string // NAME=VALUE, or NAME for any value
	Node     string   // where VMs are or move to, or were
	Match    string   // in the name, the parameter or the comment
	Prefix   string   // of the name or the number
	// The bounds of when they were submitted, and of when they ended.
	SubmittedSince, SubmittedUntil, EndedSince, EndedUntil time.Time
	Named                                                  string // what this word names: "7", "sweep", "sweep[3-7]"
	Fields                                                 string // only these fields of each, with commas between them; "": all
	Cursor                                                 string // the Next of the page before; "" is the first page
	Limit                                                  int    // at most; 0 is a page of the server's default, or all of a stream
}

func (q *VJobQuery) values() url.Values {
	v := url.Values{}
	for _, s := range q.States {
		v.Add("state", s)
	}
	for _, o := range q.Outcomes {
		v.Add("outcome", o)
	}
	for _, l := range q.Labels {
		v.Add("label", l)
	}
	for key, text := range map[string]string{
		"owner": q.Owner, "name": q.Name, "index": q.Indexes, "project": q.Project, "queue": q.Queue,
		"vjob": q.Named, "fields": q.Fields, "cursor": q.Cursor, "node": q.Node, "match": q.Match, "prefix": q.Prefix,
	} {
		setText(v, key, text)
	}
	for key, is := range map[string]bool{"live": q.Live, "ended": q.Ended, "newest": q.Newest, "fold": q.Fold} {
		setTrue(v, key, is)
	}
	for key, at := range map[string]time.Time{
		"submitted_since": q.SubmittedSince, "submitted_until": q.SubmittedUntil, "ended_since": q.EndedSince, "ended_until": q.EndedUntil,
	} {
		if !at.IsZero() {
			v.Set(key, at.UTC().Format(time.RFC3339Nano))
		}
	}
	setNumber(v, "array", q.Array)
	setNumber(v, "limit", int64(q.Limit))
	return v
}
