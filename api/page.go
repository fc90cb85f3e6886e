package api

import (
	"strconv"

	"github.com/gin-gonic/gin"

	"vjob/cluster"
)

// Lists come in pages. A page ends with the cursor of the next one, which names the last entry that was read: entries that
// come or go meanwhile shift no page.
var (
	limitParam  = Param{Name: "limit", Kind: "integer", Meaning: "entries of a page at most, from 1 to 10000"}
	cursorParam = Param{Name: "cursor", Kind: "string", Meaning: "the next of the page before; absent: the first page"}
)

// cursor reads a cursor that names an entry by its number; 0 is the first page.
func (q *queryReader) cursor() int64 {
	text, given := q.c.GetQuery("cursor")
	if !given || q.err != nil {
		return 0
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 1 {
		q.err = cluster.BadField("cursor", text, "the next of an earlier page of the same list")
	}
	return n
}

// cut returns the entries of a page, of which one more than its limit was read, and the cursor of the next page; "" if this
// is the last. The header Link has the address of the next page.
func cut[T any](c *gin.Context, entries []T, limit int, name func(*T) string) (page []T, next string) {
	if len(entries) <= limit {
		return entries, ""
	}
	page = entries[:limit]
	next = name(&page[limit-1])
	address := *c.Request.URL
	query := address.Query()
	query.Set("cursor", next)
	address.RawQuery = query.Encode()
	c.Header("Link", "<"+address.RequestURI()+`>; rel="next"`)
	return page, next
}

// number names an entry by its number.
func number[N ~int64](n N) string { return strconv.FormatInt(int64(n), 10) }
