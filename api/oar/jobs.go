package oar

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
	"vjob/oar/job"
	"vjob/oar/report"
	"vjob/oar/rest"
	"vjob/scheduler"
)

// paging is how long lists are asked for page by page.
var paging = []api.Parameter{
	{Name: "offset", Kind: "integer", Meaning: "how many to leave out"},
	{Name: "limit", Kind: "integer", Meaning: "how many at most, from 1 to 100000"},
}

// otherwise is what a list of jobs is when the query has a structure: an object by their
// numbers, or a list.
var otherwise = []any{map[string]map[string]any{}, []map[string]any{}}

var jobQuery = append([]api.Parameter{
	{Name: "state", Kind: "string", Meaning: "only jobs in these states, with commas"},
	{Name: "user", Kind: "string", Meaning: "only jobs of this user"},
	{Name: "array", Kind: "integer", Meaning: "only jobs of this array"},
	{Name: "ids", Kind: "string", Meaning: "only these jobs, with colons"},
	{Name: "from", Kind: "integer", Meaning: "also jobs that have ended, if not before then, in seconds since 1970"},
	{Name: "to", Kind: "integer", Meaning: "and were submitted by then"},
	{Name: "structure", Kind: "string", Meaning: "oar: an object by the numbers of jobs, as oarstat -J prints it; simple: a list"},
	{Name: "format", Kind: "integer", Meaning: "of an object: 2 or 3"},
}, paging...)

func (d *Dialect) jobOperations() []api.Operation {
	list := []api.Operation{
		{
			Method: "POST", Path: "/jobs", Name: "oarSubmit", Summary: "Submit a job of OAR, or an array of them", Verb: api.Create, Bulky: true,
			Body: rest.Submission{}, Result: rest.Accepted{}, Handle: d.submit,
		},
		{Method: "GET", Path: "/jobs", Name: "oarJobs", Summary: "Jobs of OAR", Query: jobQuery, Result: rest.Page[rest.Item]{}, Also: otherwise, Handle: d.list(item)},
		{Method: "GET", Path: "/jobs/details", Name: "oarJobDetails", Summary: "Jobs of OAR in full", Query: jobQuery, Result: rest.Page[rest.Detail]{}, Also: otherwise, Handle: d.list(detail)},
		{Method: "GET", Path: "/jobs/table", Name: "oarJobTable", Summary: "Jobs of OAR", Query: jobQuery, Result: rest.Page[rest.Item]{}, Also: otherwise, Handle: d.list(item)},
		{Method: "GET", Path: "/jobs/:id/resources", Name: "oarJobResources", Summary: "The nodes of a job", Result: rest.Page[rest.Resource]{}, Handle: d.nodesOf},
		{Method: "GET", Path: "/jobs/:id/nodes", Name: "oarJobNodes", Summary: "The nodes of a job", Result: rest.Page[rest.Resource]{}, Handle: d.nodesOf},
	}
	for path, name := range map[string]string{"/jobs/:id": "oarJob", "/jobs/:id/details": "oarJobDetail"} {
		list = append(list, api.Operation{Method: "GET", Path: path, Name: name, Summary: "One job of OAR in full", Result: rest.Detail{}, Handle: d.show})
	}
	return list
}

// show answers GET /jobs/{id}.
func (d *Dialect) show(c *gin.Context, who api.Subject) error {
	kept, err := d.find(c, who, api.Read)
	if err != nil {
		return err
	}
	j, err := d.full(c.Request.Context(), who, &kept)
	if err != nil {
		return err
	}
	c.JSON(http.StatusOK, detail(&j, d.now()))
	return nil
}

// find is the job of the path.
func (d *Dialect) find(c *gin.Context, who api.Subject, verb api.Verb) (journal.Kept, error) {
	id, err := cluster.ParseVJobID(c.Param("id"))
	if err != nil {
		return journal.Kept{}, err
	}
	return d.service.Find(c.Request.Context(), who, id, verb)
}

// full is a job with its events.
func (d *Dialect) full(ctx context.Context, who api.Subject, kept *journal.Kept) (j rest.Job, err error) {
	events, err := d.service.Events(ctx, who, kept.ID)
	if err != nil {
		return j, err
	}
	now := d.service.Snapshot()
	v := view(&kept.Row, now, who.Viewer())
	v.Reserved = kept.VJob.Reserved()
	for _, e := range events {
		v.Events = append(v.Events, rest.Event{ID: e.Seq, Type: strings.ToUpper(string(e.Kind)), At: e.At.Unix(), Text: d.service.Shown(who, e.Told(who.Viewer()))})
	}
	v.Exit, err = d.exit(ctx, kept)
	return d.job(who, &v, numbers(now)), err
}

// job is a job as a user may read it.
func (d *Dialect) job(who api.Subject, v *job.View, index map[cluster.NodeID]int) rest.Job {
	j := job.Of(v, index)
	j.Message = d.service.Shown(who, j.Message)
	return j
}

// exit is what the command of a job that has ended exited with, as its first VM has said
// on its console; nil if it did not, or that is not kept any more.
func (d *Dialect) exit(ctx context.Context, kept *journal.Kept) (*int, error) {
	if kept.Outcome != cluster.Completed {
		return nil, nil
	}
	said, err := d.service.Said(ctx, cluster.VMID{VJob: kept.ID})
	if code, ok := cluster.ExitCode(said); ok {
		return &code, err
	}
	return nil, err
}

// view is what is known of a vjob.
func view(row *journal.Row, now *scheduler.Snapshot, viewer string) job.View {
	v := job.View{VJob: row.VJob, Why: row.Cause.For(viewer).Why(row.State), Reserved: row.Reserved, Started: row.Started, Ended: row.Ended}
	status, live := now.VJobs[row.ID]
	if !live || row.State.Terminal() {
		return v
	}
	for _, m := range status.Gang.Members {
		v.Nodes = append(v.Nodes, cmp.Or(m.Node, m.Next)) // where it is, or is about to be
	}
	if status.State != row.State {
		return v // the row is newer, and so is its reason
	}
	v.Start, v.Planned = status.Start, status.Promised
	v.Why = status.Why(viewer, now.At)
	return v
}

func item(j *rest.Job, now int64) any {
	return rest.Item{
		ID: j.ID, Name: j.Name, Owner: j.Owner, Queue: j.Queue, State: j.State, Submitted: j.Submitted, Timestamp: now,
		Links: links(strconv.FormatInt(j.ID, 10)),
	}
}

func detail(j *rest.Job, now int64) any {
	return rest.Detail{Job: *j, Timestamp: now, Links: links(strconv.FormatInt(j.ID, 10))}
}

// list answers with a page of jobs.
func (d *Dialect) list(show func(*rest.Job, int64) any) func(*gin.Context, api.Subject) error {
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
		c.JSON(http.StatusOK, rest.Page[any]{Timestamp: now, Items: items, Links: turn(c, q, len(jobs)), Offset: q.offset, Total: len(jobs)})
		return nil
	}
}

// jobs are those of a query, by number.
func (d *Dialect) jobs(ctx context.Context, who api.Subject, q *query) ([]rest.Job, error) {
	if len(q.ids) > 0 {
		return d.named(ctx, who, q)
	}
	rows, err := d.service.List(ctx, who, journal.Filter{Owner: q.user, Array: q.array, Live: q.live(), Terms: true})
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 && q.array != 0 {
		one := *q
		one.ids = []cluster.VJobID{q.array} // a job that is alone is its own array
		return d.named(ctx, who, &one)
	}
	now := d.service.Snapshot()
	index := numbers(now)
	jobs := make([]rest.Job, 0, len(rows))
	for i := range rows {
		v := view(&rows[i], now, who.Viewer())
		if q.wants(&v) {
			jobs = append(jobs, d.job(who, &v, index))
		}
	}
	return jobs, nil
}

// named are the jobs of a query that names them; those that the caller may not see are
// left out.
func (d *Dialect) named(ctx context.Context, who api.Subject, q *query) (jobs []rest.Job, err error) {
	for _, id := range q.ids {
		kept, err := d.service.Find(ctx, who, id, api.Read)
		if err != nil {
			continue
		}
		v := view(&kept.Row, d.service.Snapshot(), who.Viewer())
		if !q.wants(&v) {
			continue
		}
		j, err := d.full(ctx, who, &kept)
		if err != nil {
			return nil, err
		}
		jobs = append(jobs, j)
	}
	return jobs, nil
}

// nodesOf answers with the nodes that a job has.
func (d *Dialect) nodesOf(c *gin.Context, who api.Subject) error {
	kept, err := d.find(c, who, api.Read)
	if err != nil {
		return err
	}
	now := d.service.Snapshot()
	v := view(&kept.Row, now, who.Viewer())
	has := map[cluster.NodeID]bool{}
	for _, id := range v.Nodes {
		has[id] = true
	}
	items := []rest.Resource{}
	for _, r := range resources(now, map[cluster.VJobID]bool{kept.ID: true}) {
		if has[cluster.NodeID(r.Node)] {
			items = append(items, r)
		}
	}
	c.JSON(http.StatusOK, rest.Page[rest.Resource]{Timestamp: d.now(), Items: items, Links: self(c), Total: len(items)})
	return nil
}

func self(c *gin.Context) []rest.Link {
	return []rest.Link{{Rel: "self", Href: c.Request.URL.RequestURI()}}
}
