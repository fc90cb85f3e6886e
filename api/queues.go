package api

import (
	"context"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"vjob/api/wire"
	"vjob/queue/ordering"
	"vjob/queue/quota"
)

// queueService is the part of the scheduler that keeps the queues.
type queueService interface {
	// QueueStatus returns the present state of queues, quotas and shares.
	QueueStatus(ctx context.Context) (ordering.Status, error)
}

// queueHandler answers requests for queues, quotas and shares.
type queueHandler struct{ scheduler queueService }

// list answers GET /v1/queues.
func (h *queueHandler) list(c *gin.Context, _ Subject) error {
	now, err := h.scheduler.QueueStatus(c.Request.Context())
	if err != nil {
		return err
	}
	list := wire.QueueList{Queues: make([]wire.Queue, len(now.Queues))}
	for i, q := range now.Queues {
		list.Queues[i] = wire.Queue{
			Name: q.Name, Priority: q.Priority, Policy: q.Policy.Name(), Default: q.Default,
			MostVMs: q.VMs, MostCPUMilli: int64(q.CPU), MostMemoryMiB: int64(q.Memory),
			WalltimeSeconds: int64(q.Walltime / time.Second), Running: q.Running, Waiting: q.Waiting,
		}
	}
	return answer(c, http.StatusOK, list)
}

// quotas answers GET /v1/quotas.
func (h *queueHandler) quotas(c *gin.Context, caller Subject) error {
	now, err := h.scheduler.QueueStatus(c.Request.Context())
	if err != nil {
		return err
	}
	list := wire.QuotaList{Quotas: []wire.Quota{}}
	for i := range now.Quotas {
		if q := &now.Quotas[i]; caller.maySee(q.Association.User) {
			list.Quotas = append(list.Quotas, wireQuota(q))
		}
	}
	return answer(c, http.StatusOK, list)
}

// maySee reports whether the caller may see the data of a user; "" is data of all users.
func (caller Subject) maySee(user string) bool {
	own := caller.Viewer()
	return user == "" || own == "" || user == own
}

func wireQuota(q *quota.Status) wire.Quota {
	w := wire.Quota{
		Name: q.Name, Window: q.Window, Until: instant(q.Until), User: q.Association.User, Project: q.Association.Project, Queue: q.Association.Queue,
		VMs: measure(q, quota.VMs, 1), CPUMilli: measure(q, quota.CPU, 1), MemoryMiB: measure(q, quota.Memory, 1),
		CPUSeconds: measure(q, quota.CPUTime, 1000),
	}
	if w.CPUSeconds != nil {
		w.WithinSeconds = int64(q.Within / time.Second)
	}
	return w
}

// measure is one limit of a quota in a larger unit; nil without a limit now.
func measure(q *quota.Status, m quota.Measure, unit int64) *wire.Measure {
	limit, limited := q.Limits[m]
	if !limited {
		return nil
	}
	return &wire.Measure{Used: q.Used[m] / unit, Limit: limit / unit}
}

// shares answers GET /v1/shares.
func (h *queueHandler) shares(c *gin.Context, caller Subject) error {
	now, err := h.scheduler.QueueStatus(c.Request.Context())
	if err != nil {
		return err
	}
	list := wire.ShareList{HalfLifeSeconds: int64(now.HalfLife / time.Second), Shares: []wire.Share{}}
	for _, a := range now.Shares {
		if caller.maySee(a.User) {
			list.Shares = append(list.Shares, wire.Share{
				Account: a.Path.String(), Share: a.Share, Part: a.Fraction, Used: a.Used, Taken: a.Taken, Factor: a.Factor,
			})
		}
	}
	return answer(c, http.StatusOK, list)
}
