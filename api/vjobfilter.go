package api

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"vjob/api/wire"
	"vjob/cluster"
	"vjob/ctxswitch/journal"
)

// mostLabels is how many labels one request may name; a vjob has no more.
const mostLabels = 64

// maxPattern is the longest text that is searched for, in bytes.
const maxPattern = 200

// vjobParams are the parameters that [vjobFilter] reads.
func vjobParams() []Param {
	const instant = ", RFC 3339"
	return []Param{
		{Name: "state", Kind: "string", Many: true, Meaning: "only vjobs in one of these states"},
		{Name: "outcome", Kind: "string", Many: true, Meaning: "only vjobs that ended in one of these ways"},
		{Name: "owner", Kind: "string", Meaning: "only vjobs of this owner (administrators)"},
		{Name: "name", Kind: "string", Meaning: "only vjobs of this name, or of the array of this name"},
		{Name: "live", Kind: "boolean", Meaning: "only vjobs that have not ended"},
		{Name: "ended", Kind: "boolean", Meaning: "only vjobs that have ended"},
		{Name: "newest", Kind: "boolean", Meaning: "latest first"},
		{Name: "array", Kind: "integer", Meaning: "only the vjobs of this array"},
		{Name: "index", Kind: "string", Meaning: "only vjobs at these places of their arrays, from 1: 3, 3-7 or 2,5-9"},
		{Name: "fold", Kind: "boolean", Meaning: "one entry for each array, with members"},
		{Name: "project", Kind: "string", Meaning: "only vjobs of this project"},
		{Name: "queue", Kind: "string", Meaning: "only vjobs of this queue"},
		{Name: "label", Kind: "string", Many: true, Meaning: "only vjobs with this label: NAME=VALUE, or NAME for any value; several: with all of them"},
		{Name: "node", Kind: "string", Meaning: "only vjobs of which a VM is on this node or moves there; ended ones that were there"},
		{Name: "match", Kind: "string", Meaning: "only vjobs with this text in their name, parameter or comment; case is ignored"},
		{Name: "prefix", Kind: "string", Meaning: "only vjobs with a name or a number that begins with this text"},
		{Name: "submitted_since", Kind: "string", Meaning: "only vjobs submitted then or later" + instant},
		{Name: "submitted_until", Kind: "string", Meaning: "only vjobs submitted before" + instant},
		{Name: "ended_since", Kind: "string", Meaning: "only vjobs that ended then or later" + instant},
		{Name: "ended_until", Kind: "string", Meaning: "only vjobs that ended before" + instant},
		{Name: "vjob", Kind: "string", Meaning: "only what this word names: the number or the name of a vjob or an array, or some of an array such as sweep[3-7]"},
		fieldsParam, cursorParam,
		{Name: limitParam.Name, Kind: limitParam.Kind, Meaning: limitParam.Meaning + "; of lines: how many at most, absent: all"},
	}
}

// vjobFilter reads the query; a user's list is always that of the user.
func vjobFilter(c *gin.Context, caller Subject) (f journal.Filter, err error) {
	f.Owner, f.Name = c.Query("owner"), c.Query("name")
	for _, text := range c.QueryArray("state") {
		state, err := cluster.ParseState(text)
		if err != nil {
			return f, err
		}
		f.States = append(f.States, state)
	}
	for _, text := range c.QueryArray("outcome") {
		outcome, err := cluster.ParseOutcome(text)
		if err != nil {
			return f, err
		}
		f.Outcomes = append(f.Outcomes, outcome)
	}
	q := queryReader{c: c}
	f.Fold = q.flag("fold")
	f.Array = cluster.VJobID(q.number("array", 1, 1<<62, 0))
	f.Live, f.Newest, f.Ended = q.flag("live"), q.flag("newest"), q.flag("ended")
	f.Cursor = cluster.VJobID(q.cursor())
	if accepts(c.Request, wire.MediaLines) {
		f.Limit = int(q.number("limit", 1, math.MaxInt32, 0))
	} else {
		f.Limit = q.limit(defaultPage)
	}
	f.Project, f.Queue = q.name("project"), q.name("queue")
	f.Node, f.Match, f.Prefix = cluster.NodeID(q.pattern("node")), q.pattern("match"), q.pattern("prefix")
	f.Indexes, f.Labels = q.indexes("index"), q.labels("label")
	f.Submitted, f.Finished = q.period("submitted_since", "submitted_until"), q.period("ended_since", "ended_until")
	if f.Live && (f.Ended || f.Finished != journal.Period{}) && q.err == nil {
		q.err = cluster.Fault("live", "no vjob has ended and is live, want one of live and ended")
	}
	if q.err != nil {
		return f, q.err
	}
	if own := caller.Viewer(); own != "" {
		if f.Owner != "" && f.Owner != own {
			return f, fmt.Errorf("owner: %s may not list the vjobs of others: %w", own, cluster.ErrForbidden)
		}
		f.Owner = own
	}
	return f, nil
}

// name reads a name; "" was not given.
func (q *queryReader) name(key string) string {
	text, given := q.c.GetQuery(key)
	if given && q.err == nil {
		q.err = cluster.CheckName(key, text)
	}
	return text
}

// pattern reads a text that is searched for; "" was not given.
func (q *queryReader) pattern(key string) string {
	text, given := q.c.GetQuery(key)
	if given && q.err == nil && (text == "" || len(text) > maxPattern || !cluster.Printable(text, "")) {
		q.err = cluster.BadField(key, text, fmt.Sprintf("a text of 1 to %d bytes without control characters", maxPattern))
	}
	return text
}

// indexes reads places of an array.
func (q *queryReader) indexes(key string) (list []cluster.IndexRange) {
	text, given := q.c.GetQuery(key)
	if given && q.err == nil {
		list, q.err = cluster.ParseIndexes(key, text)
	}
	return list
}

// labels reads labels: NAME=VALUE, or NAME.
func (q *queryReader) labels(key string) (list []journal.Label) {
	texts := q.c.QueryArray(key)
	if len(texts) > mostLabels && q.err == nil {
		q.err = cluster.BadField(key, len(texts), fmt.Sprintf("at most %d labels", mostLabels))
	}
	for _, text := range texts {
		name, value, exact := strings.Cut(text, "=")
		if !cluster.IsLabel(name) && q.err == nil {
			q.err = cluster.BadField(key, text, "NAME=VALUE or NAME, where NAME begins with a letter")
		}
		list = append(list, journal.Label{Name: name, Value: value, Any: !exact})
	}
	return list
}

// period reads the two ends of a span of time.
func (q *queryReader) period(since, until string) journal.Period {
	p := journal.Period{Since: q.bound(since), Until: q.bound(until)}
	if !p.Since.IsZero() && !p.Until.IsZero() && !p.Since.Before(p.Until) && q.err == nil {
		q.err = cluster.Fault(until, "%s is not after %s, which is %s", p.Until.Format(time.RFC3339), since, p.Since.Format(time.RFC3339))
	}
	return p
}

// bound reads an instant that may be absent.
func (q *queryReader) bound(key string) time.Time {
	if _, given := q.c.GetQuery(key); !given {
		return time.Time{}
	}
	return q.instant(key, time.Time{})
}
