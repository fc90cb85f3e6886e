package api

import (
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"vjob/api/wire"
	"vjob/queue/multifactor"
	"vjob/queue/quota"
)

func queueEndpoints() []endpoint {
	return []endpoint{
		{
			method: "GET", path: "/v1/queues", operation: "listQueues", summary: "The queues, their limits, and how many vjobs are in them",
			access: authenticated, verb: Read, status: 200, result: wire.QueueList{}, handle: (*Server).listQueues,
		},
		{
			method: "GET", path: "/v1/quotas", operation: "listQuotas", summary: "The quotas as they stand now; users see their own and those for all",
			access: authenticated, verb: Read, status: 200, result: wire.QuotaList{}, handle: (*Server).listQuotas,
		},
		{
			method: "GET", path: "/v1/shares", operation: "listShares", summary: "Fair share: the share and the usage of each account; users see projects and themselves",
			access: authenticated, verb: Read, status: 200, result: wire.ShareList{}, handle: (*Server).listShares,
		},
	}
}

// listQueues answers GET /v1/queues.
func (s *Server) listQueues(c *gin.Context, _ Subject) error {
	now, err := s.scheduler.QueueStatus(c.Request.Context())
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

// listQuotas answers GET /v1/quotas.
func (s *Server) listQuotas(c *gin.Context, caller Subject) error {
	now, err := s.scheduler.QueueStatus(c.Request.Context())
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

// listShares answers GET /v1/shares.
func (s *Server) listShares(c *gin.Context, caller Subject) error {
	now, err := s.scheduler.QueueStatus(c.Request.Context())
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

// wireRank is the rank of a vjob; nil for one that has none, since it has ended.
func wireRank(r *multifactor.Priority) *wire.Rank {
	if r.ID == 0 {
		return nil
	}
	w := &wire.Rank{Parts: []wire.RankPart{}}
	var parts []multifactor.Part
	w.Points, parts = r.Points()
	for _, p := range parts {
		w.Parts = append(w.Parts, wire.RankPart{Name: p.Name, Points: p.Points})
	}
	return w
}
