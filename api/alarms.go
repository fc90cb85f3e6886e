package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"github.com/gin-gonic/gin"

	"vjob/api/wire"
	"vjob/cluster"
	"vjob/ctxswitch/journal"
	"vjob/scheduler"
)

// alarmReader reads alarms from the store.
type alarmReader interface {
	Alarms(ctx context.Context, f journal.AlarmFilter) ([]journal.Alarm, error)
	Alarm(ctx context.Context, id journal.AlarmID) (journal.Alarm, error)
}

// alarmService is the part of the scheduler that keeps alarms.
type alarmService interface {
	// Acknowledge acknowledges an open alarm; others are ErrNotFound.
	Acknowledge(ctx context.Context, id journal.AlarmID, comment string, act journal.Audit) error
}

// alarmHandler answers requests for alarms.
type alarmHandler struct {
	alarms    alarmReader
	scheduler alarmService
	audit     *auditLog
}

// list answers GET /v1/alarms.
func (h *alarmHandler) list(c *gin.Context, _ Subject) error {
	q := queryReader{c: c}
	f := journal.AlarmFilter{
		Open: !q.flag("ended"), Kind: journal.AlarmKind(c.Query("kind")), Limit: q.limit(defaultPage) + 1, Before: journal.AlarmID(q.cursor()),
	}
	if q.err != nil {
		return q.err
	}
	if f.Kind != "" && !slices.Contains(journal.AlarmKinds, f.Kind) {
		return cluster.BadField("kind", string(f.Kind), cluster.OneOf(journal.AlarmKinds))
	}
	found, err := h.alarms.Alarms(c.Request.Context(), f)
	if err != nil {
		return err
	}
	found, next := cut(c, found, f.Limit-1, func(a *journal.Alarm) string { return number(a.ID) })
	list := wire.AlarmList{Alarms: make([]wire.Alarm, len(found)), Next: next}
	for i := range found {
		list.Alarms[i] = wireAlarm(&found[i])
	}
	return answer(c, http.StatusOK, list)
}

// acknowledge answers POST /v1/alarms/{id}/ack.
func (h *alarmHandler) acknowledge(c *gin.Context, caller Subject) error {
	number, err := pathID(c)
	if err != nil {
		return err
	}
	var body wire.Acknowledgement
	if err := readBody(c, &body); err != nil {
		return err
	}
	if err := check(len(body.Comment) <= maxWhy && cluster.Printable(body.Comment, ""), "comment", body.Comment, fmt.Sprintf("one line of at most %d bytes", maxWhy)); err != nil {
		return err
	}
	id, ctx := journal.AlarmID(number), c.Request.Context()
	entry := h.audit.entry(caller, journal.AuditAlarm, strconv.FormatInt(number, 10), "acknowledged")
	err = h.audit.do(ctx, entry, func(act journal.Audit) error { return h.scheduler.Acknowledge(ctx, id, body.Comment, act) })
	if errors.Is(err, cluster.ErrNotFound) {
		if past, missing := h.alarms.Alarm(ctx, id); missing == nil && !past.Ended.IsZero() {
			return fmt.Errorf("alarm %d has ended at %s: %w", id, past.Ended.UTC().Format("2006-01-02 15:04:05"), cluster.ErrConflict)
		}
	}
	if err != nil {
		return err
	}
	found, err := h.alarms.Alarm(ctx, id)
	if err != nil {
		return err
	}
	return answer(c, http.StatusOK, wireAlarm(&found))
}

// unacknowledged counts the open alarms that no administrator has acknowledged; nil for users.
func unacknowledged(now *scheduler.Snapshot, caller Subject) *int {
	if caller.Role != journal.RoleAdmin {
		return nil
	}
	n := 0
	for i := range now.Alarms {
		if now.Alarms[i].AckedBy == "" {
			n++
		}
	}
	return &n
}

func wireAlarm(a *journal.Alarm) wire.Alarm {
	return wire.Alarm{
		ID: int64(a.ID), Kind: string(a.Kind), Object: a.Object(), VJob: int64(a.VJob), VM: a.VM, Node: string(a.Node), Text: a.Text, Next: a.Next(),
		Since: a.Since.UTC(), Count: a.Count, Ended: instant(a.Ended), AckedBy: a.AckedBy, AckedAt: instant(a.AckedAt), Comment: a.Comment,
	}
}
