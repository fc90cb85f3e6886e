package oarapi

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"

	"vjob/cluster"
	"vjob/oar"
)

// The limits of a page.
const (
	defaultPage = 500
	maxPage     = 100_000
	maxIDs      = 1000
)

// query selects jobs.
type query struct {
	user          string
	states        []oar.State
	array         cluster.VJobID
	ids           []cluster.VJobID
	from, to      int64 // 0 if not given
	offset, limit int
	keyed, simple bool
	format        int
}

func readQuery(c *gin.Context) (q query, err error) {
	q = query{user: c.Query("user"), limit: defaultPage, format: 2}
	if text := c.Query("state"); text != "" {
		if q.states, err = oar.ParseStates(text); err != nil {
			return q, err
		}
	}
	for _, text := range strings.FieldsFunc(c.Query("ids"), func(r rune) bool { return r == ':' }) {
		id, err := cluster.ParseVJobID(text)
		if err != nil {
			return q, cluster.BadField("ids", text, "numbers of jobs with colons, such as 1:2")
		}
		q.ids = append(q.ids, id)
	}
	if len(q.ids) > maxIDs {
		return q, cluster.BadField("ids", len(q.ids), fmt.Sprintf("at most %d jobs", maxIDs))
	}
	for _, n := range []struct {
		name        string
		least, most int64
		put         func(int64)
	}{
		{"array", 1, 1 << 62, func(n int64) { q.array = cluster.VJobID(n) }},
		{"from", 0, 1 << 40, func(n int64) { q.from = n }},
		{"to", 0, 1 << 40, func(n int64) { q.to = n }},
		{"offset", 0, 1 << 31, func(n int64) { q.offset = int(n) }},
		{"limit", 1, maxPage, func(n int64) { q.limit = int(n) }},
		{"format", 2, 3, func(n int64) { q.format = int(n) }},
	} {
		text, given := c.GetQuery(n.name)
		if !given {
			continue
		}
		value, err := strconv.ParseInt(text, 10, 64)
		if err != nil || value < n.least || value > n.most {
			return q, cluster.BadField(n.name, text, fmt.Sprintf("a whole number from %d to %d", n.least, n.most))
		}
		n.put(value)
	}
	if q.to != 0 && q.to < q.from {
		return q, cluster.BadField("to", q.to, "a time that is not before from")
	}
	switch text := c.Query("structure"); text {
	case "":
	case "oar":
		q.keyed = true
	case "simple":
		q.simple = true
	default:
		return q, cluster.BadField("structure", text, "oar or simple")
	}
	return q, nil
}

// liveOnly reports whether the query excludes ended jobs.
func (q *query) liveOnly() bool {
	ended := func(s oar.State) bool { return !s.Active() }
	return len(q.ids) == 0 && q.array == 0 && q.from == 0 && q.to == 0 && !slices.ContainsFunc(q.states, ended)
}

// matches reports whether a job matches the query.
func (q *query) matches(v *oar.JobView) bool {
	switch {
	case len(q.states) > 0 && !slices.Contains(q.states, v.State()):
		return false
	case q.from != 0 && !v.Ended.IsZero() && v.Ended.Unix() < q.from:
		return false
	case q.to != 0 && v.Submitted.Unix() > q.to:
		return false
	case q.user != "" && v.Owner != q.user:
		return false
	case q.array != 0 && v.ID != q.array && v.Array != q.array:
		return false
	}
	return true
}

// pageLinks returns the links of a page to itself and its neighbours.
func pageLinks(c *gin.Context, q query, total int) []oar.Link {
	at := func(rel string, offset int) oar.Link {
		u := *c.Request.URL
		values := u.Query()
		values.Set("offset", strconv.Itoa(offset))
		values.Set("limit", strconv.Itoa(q.limit))
		u.RawQuery = values.Encode()
		return oar.Link{Rel: rel, Href: u.RequestURI()}
	}
	list := selfLink(c)
	if q.offset+q.limit < total {
		list = append(list, at("next", q.offset+q.limit))
	}
	if q.offset > 0 {
		list = append(list, at("previous", max(q.offset-q.limit, 0)))
	}
	return list
}
