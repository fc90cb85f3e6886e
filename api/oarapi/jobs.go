package oarapi

import (
	"cmp"
	"context"
	"net/http"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"

	"vjob/api"
	"vjob/cluster"
	"vjob/ctxswitch/journal"
	"vjob/oar"
	"vjob/oar/report"
	"vjob/scheduler"
)

// jobHandler answers requests for jobs.
type jobHandler struct{ *service }

// show answers GET /jobs/{id}.
func (h *jobHandler) show(c *gin.Context, caller api.Subject) error {
	kept, err := h.find(c, caller, api.Read)
	if err != nil {
		return err
	}
	j, err := h.jobWithEvents(c.Request.Context(), caller, &kept)
	if err != nil {
		return err
	}
	c.JSON(http.StatusOK, jobDetail(&j, h.now()))
	return nil
}

// find returns the job of the path.
func (h *jobHandler) find(c *gin.Context, caller api.Subject, verb api.Verb) (journal.Kept, error) {
	id, err := cluster.ParseVJobID(c.Param("id"))
	if err != nil {
		return journal.Kept{}, err
	}
	return h.Find(c.Request.Context(), caller, id, verb)
}

// jobWithEvents returns a job with its events.
func (h *jobHandler) jobWithEvents(ctx context.Context, caller api.Subject, kept *journal.Kept) (j oar.Job, err error) {
	events, err := h.Events(ctx, caller, kept.ID)
	if err != nil {
		return j, err
	}
	now := h.Snapshot()
	v := jobView(&kept.Row, now, caller.Viewer())
	v.Reserved = kept.VJob.Reserved()
	for _, e := range events {
		v.Events = append(v.Events, oar.Event{ID: e.Seq, Type: strings.ToUpper(string(e.Kind)), At: e.At.Unix(), Text: h.Redact(caller, e.TextFor(caller.Viewer()))})
	}
	return h.job(caller, &v, nodeNumbers(now)), nil
}

// job converts a vjob to a job, with a message that the caller may read.
func (h *jobHandler) job(caller api.Subject, v *oar.JobView, index map[cluster.NodeID]int) oar.Job {
	v.OutputFolder = h.FolderOf(v.Owner)
	j := oar.JobOf(v, index)
	j.Message = h.Redact(caller, j.Message)
	return j
}

// jobView combines what the journal and the scheduler know of a vjob.
func jobView(row *journal.Row, now *scheduler.Snapshot, viewer string) oar.JobView {
	v := oar.JobView{VJob: row.VJob, Why: row.Cause.For(viewer).Why(row.State), Reserved: row.Reserved, Started: row.Started, Ended: row.Ended}
	status, live := now.VJobs.Get(row.ID)
	if !live || row.State.Terminal() {
		return v
	}
	for _, m := range status.Gang.Members {
		v.Nodes = append(v.Nodes, cmp.Or(m.Node, m.Next)) // the current or the next node
	}
	if status.State != row.State {
		return v // the row is newer than the snapshot
	}
	v.Start, v.Planned = status.Start, status.Promised
	v.Why = status.Why(viewer, now.At)
	return v
}

func jobItem(j *oar.Job, now int64) any {
	return oar.Item{
		ID: j.ID, Name: j.Name, Owner: j.Owner, Queue: j.Queue, State: j.State, Submitted: j.Submitted, Timestamp: now,
		Links: jobLinks(strconv.FormatInt(j.ID, 10)),
	}
}

func jobDetail(j *oar.Job, now int64) any {
	return oar.Detail{Job: *j, Timestamp: now, Links: jobLinks(strconv.FormatInt(j.ID, 10))}
}

// list answers with a page of jobs.
func (h *jobHandler) list(show func(*oar.Job, int64) any) func(*gin.Context, api.Subject) error {
	return func(c *gin.Context, caller api.Subject) error {
		q, err := readQuery(c)
		if err != nil {
			return err
		}
		jobs, err := h.jobs(c.Request.Context(), caller, &q)
		if err != nil {
			return err
		}
		page := jobs[min(q.offset, len(jobs)):min(q.offset+q.limit, len(jobs))]
		if q.keyed {
			data, err := report.JSON(page, q.format)
			if err == nil {
				c.Data(http.StatusOK, "application/json; charset=utf-8", data)
			}
			return err
		}
		now := h.now()
		items := make([]any, len(page))
		for i := range page {
			items[i] = show(&page[i], now)
		}
		if q.simple {
			c.JSON(http.StatusOK, items)
			return nil
		}
		c.JSON(http.StatusOK, oar.Page[any]{Timestamp: now, Items: items, Links: pageLinks(c, q, len(jobs)), Offset: q.offset, Total: len(jobs)})
		return nil
	}
}

// jobs returns the jobs of a query, sorted by number.
func (h *jobHandler) jobs(ctx context.Context, caller api.Subject, q *query) ([]oar.Job, error) {
	if len(q.ids) > 0 {
		return h.jobsByID(ctx, caller, q)
	}
	rows, err := h.List(ctx, caller, journal.Filter{Owner: q.user, Array: q.array, Live: q.liveOnly(), Terms: true})
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 && q.array != 0 {
		one := *q
		one.ids = []cluster.VJobID{q.array} // a single job is its own array
		return h.jobsByID(ctx, caller, &one)
	}
	now := h.Snapshot()
	index := nodeNumbers(now)
	jobs := make([]oar.Job, 0, len(rows))
	for i := range rows {
		v := jobView(&rows[i], now, caller.Viewer())
		if q.matches(&v) {
			jobs = append(jobs, h.job(caller, &v, index))
		}
	}
	return jobs, nil
}

// jobsByID returns the named jobs of a query, without those that the caller may not see.
func (h *jobHandler) jobsByID(ctx context.Context, caller api.Subject, q *query) (jobs []oar.Job, err error) {
	for _, id := range q.ids {
		kept, err := h.Find(ctx, caller, id, api.Read)
		if err != nil {
			continue
		}
		v := jobView(&kept.Row, h.Snapshot(), caller.Viewer())
		if !q.matches(&v) {
			continue
		}
		j, err := h.jobWithEvents(ctx, caller, &kept)
		if err != nil {
			return nil, err
		}
		jobs = append(jobs, j)
	}
	return jobs, nil
}

// nodesOf answers with the nodes of a job.
func (h *jobHandler) nodesOf(c *gin.Context, caller api.Subject) error {
	kept, err := h.find(c, caller, api.Read)
	if err != nil {
		return err
	}
	now := h.Snapshot()
	v := jobView(&kept.Row, now, caller.Viewer())
	has := map[cluster.NodeID]bool{}
	for _, id := range v.Nodes {
		has[id] = true
	}
	items := []oar.Resource{}
	for _, r := range resources(now, map[cluster.VJobID]bool{kept.ID: true}) {
		if has[cluster.NodeID(r.Node)] {
			items = append(items, r)
		}
	}
	c.JSON(http.StatusOK, oar.Page[oar.Resource]{Timestamp: h.now(), Items: items, Links: selfLink(c), Total: len(items)})
	return nil
}

func selfLink(c *gin.Context) []oar.Link {
	return []oar.Link{{Rel: "self", Href: c.Request.URL.RequestURI()}}
}
