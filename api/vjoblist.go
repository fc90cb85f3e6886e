package api

import (
	"cmp"
	"context"
	"iter"
	"math"
	"net/http"
	"reflect"
	"strconv"

	"github.com/gin-gonic/gin"

	"vjob/api/wire"
	"vjob/ctxswitch/journal"
	"vjob/scheduler"
)

// streamPart is how many vjobs of a stream are read at once.
const streamPart = 1000

// list answers GET /v1/vjobs.
func (h *vjobHandler) list(c *gin.Context, caller Subject) error {
	filter, err := vjobFilter(c, caller)
	if word, given := c.GetQuery("vjob"); given && err == nil {
		err = h.narrow(c.Request.Context(), caller, &filter, "vjob", word)
	}
	q := queryReader{c: c, err: err}
	v := &view{fields: q.fields(), viewer: caller.Viewer()}
	if q.err != nil {
		return q.err
	}
	filter.Terms = v.fields == nil || inTerms(v.fields)
	c.Header("Vary", "Accept")
	if accepts(c.Request, wire.MediaLines) {
		return h.stream(c, caller, filter, v)
	}
	return h.page(c, filter, v)
}

// page answers with a page of a list.
func (h *vjobHandler) page(c *gin.Context, filter journal.Filter, v *view) error {
	limit := filter.Limit
	filter.Limit++
	part, err := h.read(c.Request.Context(), filter)
	if err != nil {
		return err
	}
	rows, next := cut(c, part.rows, limit, func(r *journal.Row) string { return number(r.Place(filter.Fold)) })
	text := append([]byte(nil), `{"vjobs":[`...)
	for i := range rows {
		if i > 0 {
			text = append(text, ',')
		}
		if text, err = v.write(text, &rows[i], part.now); err != nil {
			return err
		}
	}
	text = strconv.AppendInt(append(text, `],"total":`...), int64(part.total), 10)
	if next != "" {
		text = appendText(append(text, `,"next":`...), next)
	}
	send(c, contentJSON, "", append(text, '}'))
	return nil
}

// stream answers with a vjob on each line. An error after the first part breaks the connection.
func (h *vjobHandler) stream(c *gin.Context, caller Subject, filter journal.Filter, v *view) error {
	ctx, stop := context.WithCancel(c.Request.Context())
	defer stop()
	var out *streamWriter
	var text []byte
	for part, err := range ahead(h.parts(ctx, filter)) {
		if err != nil {
			return err
		}
		if out == nil {
			c.Header("Content-Type", wire.MediaLines)
			if filter.Cursor == 0 {
				c.Header(wire.TotalHeader, strconv.Itoa(part.total))
			}
			c.Status(http.StatusOK)
			out = h.streaming.writer(c, caller)
		}
		text = text[:0]
		for i := range part.rows {
			if text, err = v.write(text, &part.rows[i], part.now); err != nil {
				return err
			}
			text = append(text, '\n')
		}
		if _, err := out.Write(text); err != nil {
			return err
		}
	}
	return nil
}

// vjobPart is a part of a list, and what the loop knew before that was read.
type vjobPart struct {
	now   *scheduler.Snapshot
	rows  []journal.Row
	total int // of the whole list; 0 behind a cursor
}

// read reads a part of a list. Of vjobs that the loop knows as a whole it reads next to nothing.
func (h *vjobHandler) read(ctx context.Context, filter journal.Filter) (p vjobPart, err error) {
	p.now = h.snapshot()
	filter.Known = p.now.VJobs.Untouched
	p.rows, p.total, err = h.vjobs.VJobs(ctx, filter)
	return p, err
}

// parts reads a list in parts, each as it is by then. At least one part comes, or an error.
func (h *vjobHandler) parts(ctx context.Context, filter journal.Filter) iter.Seq2[vjobPart, error] {
	return func(yield func(vjobPart, error) bool) {
		left := cmp.Or(filter.Limit, math.MaxInt)
		for {
			filter.Limit = min(left, streamPart)
			part, err := h.read(ctx, filter)
			n := len(part.rows)
			if !yield(part, err) || err != nil || n < filter.Limit || n == left {
				return
			}
			left -= n
			filter.Cursor = part.rows[n-1].Place(filter.Fold)
		}
	}
}

// view is how a caller sees vjobs, one at a time.
type view struct {
	fields objectWriter // nil: all
	viewer string
	job    wire.VJob // that is written
}

// write appends the JSON of a vjob.
func (v *view) write(text []byte, row *journal.Row, now *scheduler.Snapshot) ([]byte, error) {
	fields := v.fields
	if fields == nil {
		fields = vjobFields()
	}
	v.job = wireVJob(row, now, v.viewer)
	return fields.write(text, reflect.ValueOf(&v.job).Elem())
}
