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

// pageQuery has the parameters of paged lists.
var pageQuery = []api.Parameter{
	{Name: "offset", Kind: "integer", Meaning: "how many to leave out"},
	{Name: "limit", Kind: "integer", Meaning: "how many at most, from 1 to 100000"},
}

// otherStructures are the forms of a list of jobs with the parameter structure: an object by their
// numbers, or a list.
var otherStructures = []any{map[string]map[string]any{}, []map[string]any{}}

var jobQuery = append([]api.Parameter{
	{Name: "state", Kind: "string", Meaning: "only jobs in these states, with commas"},
	{Name: "user", Kind: "string", Meaning: "only jobs of this user"},
	{Name: "array", Kind: "integer", Meaning: "only jobs of this array"},
	{Name: "ids", Kind: "string", Meaning: "only these jobs, with colons"},
	{Name: "from", Kind: "integer", Meaning: "also jobs that have ended, if not before then, in seconds since 1970"},
	{Name: "to", Kind: "integer", Meaning: "and were submitted by then"},
	{Name: "structure", Kind: "string", Meaning: "oar: an object by the numbers of jobs, as oarstat -J prints it; simple: a list"},
	{Name: "format", Kind: "integer", Meaning: "of an object: 2 or 3"},
}, pageQuery...)

func (d *Dialect) jobOperations() []api.Operation {
	list := []api.Operation{
		{
			Method: "POST", Path: "/jobs", Name: "oarSubmit", Summary: "Submit a job of OAR, or an array of them", Verb: api.Create, Bulky: true,
			Body: oar.Submission{}, Result: oar.Accepted{}, Handle: d.submit,
		},
		{Method: "GET", Path: "/jobs", Name: "oarJobs", Summary: "Jobs of OAR", Query: jobQuery, Result: oar.Page[oar.Item]{}, Also: otherStructures, Handle: d.list(jobItem)},
		{Method: "GET", Path: "/jobs/details", Name: "oarJobDetails", Summary: "Jobs of OAR in full", Query: jobQuery, Result: oar.Page[oar.Detail]{}, Also: otherStructures, Handle: d.list(jobDetail)},
		{Method: "GET", Path: "/jobs/table", Name: "oarJobTable", Summary: "Jobs of OAR", Query: jobQuery, Result: oar.Page[oar.Item]{}, Also: otherStructures, Handle: d.list(jobItem)},
		{Method: "GET", Path: "/jobs/:id/resources", Name: "oarJobResources", Summary: "The nodes of a job", Result: oar.Page[oar.Resource]{}, Handle: d.nodesOf},
		{Method: "GET", Path: "/jobs/:id/nodes", Name: "oarJobNodes", Summary: "The nodes of a job", Result: oar.Page[oar.Resource]{}, Handle: d.nodesOf},
	}
	for path, name := range map[string]string{"/jobs/:id": "oarJob", "/jobs/:id/details": "oarJobDetail"} {
		list = append(list, api.Operation{Method: "GET", Path: path, Name: name, Summary: "One job of OAR in full", Result: oar.Detail{}, Handle: d.show})
	}
	return list
}

// show answers GET /jobs/{id}.
func (d *Dialect) show(c *gin.Context, who api.Subject) error {
	kept, err := d.findJob(c, who, api.Read)
	if err != nil {
		return err
	}
	j, err := d.jobWithEvents(c.Request.Context(), who, &kept)
	if err != nil {
		return err
	}
	c.JSON(http.StatusOK, jobDetail(&j, d.now()))
	return nil
}

// findJob returns the job of the path.
func (d *Dialect) findJob(c *gin.Context, who api.Subject, verb api.Verb) (journal.Kept, error) {
	id, err := cluster.ParseVJobID(c.Param("id"))
	if err != nil {
		return journal.Kept{}, err
	}
	return d.service.Find(c.Request.Context(), who, id, verb)
}

// jobWithEvents returns a job with its events and exit code.
func (d *Dialect) jobWithEvents(ctx context.Context, who api.Subject, kept *journal.Kept) (j oar.Job, err error) {
	events, err := d.service.Events(ctx, who, kept.ID)
	if err != nil {
		return j, err
	}
	now := d.service.Snapshot()
	v := jobView(&kept.Row, now, who.Viewer())
	v.Reserved = kept.VJob.Reserved()
	for _, e := range events {
		v.Events = append(v.Events, oar.Event{ID: e.Seq, Type: strings.ToUpper(string(e.Kind)), At: e.At.Unix(), Text: d.service.Redact(who, e.TextFor(who.Viewer()))})
	}
	v.Exit, err = d.exitCode(ctx, kept)
	return d.job(who, &v, nodeNumbers(now)), err
}

// job converts a vjob to a job, with a message that the caller may read.
func (d *Dialect) job(who api.Subject, v *oar.JobView, index map[cluster.NodeID]int) oar.Job {
	j := oar.JobOf(v, index)
	j.Message = d.service.Redact(who, j.Message)
	return j
}

// exitCode returns the exit code of an ended job, which its first VM printed on the console, or nil if
// it is missing.
func (d *Dialect) exitCode(ctx context.Context, kept *journal.Kept) (*int, error) {
	if kept.Outcome != cluster.Completed {
		return nil, nil
	}
	said, err := d.service.ConsoleOutput(ctx, cluster.VMID{VJob: kept.ID})
	if code, ok := cluster.ExitCode(said); ok {
		return &code, err
	}
	return nil, err
}

// jobView combines what the journal and the scheduler know of a vjob.
func jobView(row *journal.Row, now *scheduler.Snapshot, viewer string) oar.JobView {
	v := oar.JobView{VJob: row.VJob, Why: row.Cause.For(viewer).Why(row.State), Reserved: row.Reserved, Started: row.Started, Ended: row.Ended}
	status, live := now.VJobs[row.ID]
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
func (d *Dialect) list(show func(*oar.Job, int64) any) func(*gin.Context, api.Subject) error {
	return func(c *gin.Context, who api.Subject) error {
		q, err := readQuery(c)
		if err != nil {
			return err
		}
		jobs, err := d.jobs(c.Request.Context(), who, &q)
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
		now := d.now()
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
func (d *Dialect) jobs(ctx context.Context, who api.Subject, q *query) ([]oar.Job, error) {
	if len(q.ids) > 0 {
		return d.jobsByID(ctx, who, q)
	}
	rows, err := d.service.List(ctx, who, journal.Filter{Owner: q.user, Array: q.array, Live: q.liveOnly(), Terms: true})
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 && q.array != 0 {
		one := *q
		one.ids = []cluster.VJobID{q.array} // a single job is its own array
		return d.jobsByID(ctx, who, &one)
	}
	now := d.service.Snapshot()
	index := nodeNumbers(now)
	jobs := make([]oar.Job, 0, len(rows))
	for i := range rows {
		v := jobView(&rows[i], now, who.Viewer())
		if q.matches(&v) {
			jobs = append(jobs, d.job(who, &v, index))
		}
	}
	return jobs, nil
}

// jobsByID returns the named jobs of a query, without those that the caller may not see.
func (d *Dialect) jobsByID(ctx context.Context, who api.Subject, q *query) (jobs []oar.Job, err error) {
	for _, id := range q.ids {
		kept, err := d.service.Find(ctx, who, id, api.Read)
		if err != nil {
			continue
		}
		v := jobView(&kept.Row, d.service.Snapshot(), who.Viewer())
		if !q.matches(&v) {
			continue
		}
		j, err := d.jobWithEvents(ctx, who, &kept)
		if err != nil {
			return nil, err
		}
		jobs = append(jobs, j)
	}
	return jobs, nil
}

// nodesOf answers with the nodes of a job.
func (d *Dialect) nodesOf(c *gin.Context, who api.Subject) error {
	kept, err := d.findJob(c, who, api.Read)
	if err != nil {
		return err
	}
	now := d.service.Snapshot()
	v := jobView(&kept.Row, now, who.Viewer())
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
	c.JSON(http.StatusOK, oar.Page[oar.Resource]{Timestamp: d.now(), Items: items, Links: selfLink(c), Total: len(items)})
	return nil
}

func selfLink(c *gin.Context) []oar.Link {
	return []oar.Link{{Rel: "self", Href: c.Request.URL.RequestURI()}}
}
