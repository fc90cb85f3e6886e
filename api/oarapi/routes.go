package oarapi

import (
	"slices"

	"vjob/api"
	"vjob/oar"
)

// endpoints is the table of OAR's REST API, without the common part of the paths.
func (d *Dialect) endpoints(s *api.Service) []api.Endpoint {
	base := &service{s}
	jobs := &jobHandler{base}
	d.submissions = &submitter{service: base, site: &d.Site}
	list := slices.Concat(
		jobRoutes(jobs), submissionRoutes(d.submissions), orderRoutes(&orderHandler{jobs, d.Suspenders}), nodeRoutes(&nodeHandler{jobs}),
		siteRoutes(&siteHandler{base, &d.Config}),
	)
	for i := range list {
		list[i].Access = api.Users
	}
	return append(list, adminRoutes(&nodeHandler{jobs})...)
}

// pageQuery has the parameters of paged lists.
var pageQuery = []api.Param{
	{Name: "offset", Kind: "integer", Meaning: "how many to leave out"},
	{Name: "limit", Kind: "integer", Meaning: "how many at most, from 1 to 100000"},
}

// structures returns the forms of a list of jobs: a page, and with the parameter structure an object by
// their numbers, or a list.
func structures(page any) api.OneOf {
	return api.OneOf{page, map[string]map[string]any{}, []map[string]any{}}
}

var jobQuery = append([]api.Param{
	{Name: "state", Kind: "string", Meaning: "only jobs in these states, with commas"},
	{Name: "user", Kind: "string", Meaning: "only jobs of this user"},
	{Name: "array", Kind: "integer", Meaning: "only jobs of this array"},
	{Name: "ids", Kind: "string", Meaning: "only these jobs, with colons"},
	{Name: "from", Kind: "integer", Meaning: "also jobs that have ended, if not before then, in seconds since 1970"},
	{Name: "to", Kind: "integer", Meaning: "and were submitted by then"},
	{Name: "structure", Kind: "string", Meaning: "oar: an object by the numbers of jobs, as oarstat -J prints it; simple: a list"},
	{Name: "format", Kind: "integer", Meaning: "of an object: 2 or 3"},
}, pageQuery...)

var timeSpanQuery = []api.Param{
	{Name: "from", Kind: "integer", Meaning: "seconds since 1970"},
	{Name: "to", Kind: "integer", Meaning: "seconds since 1970"},
	{Name: "user", Kind: "string", Meaning: "only this user"},
}

func jobRoutes(h *jobHandler) []api.Endpoint {
	list := []api.Endpoint{
		{Method: "GET", Path: "/jobs", Name: "oarJobs", Summary: "Jobs of OAR", Query: jobQuery, Result: structures(oar.Page[oar.Item]{}), Handle: h.list(jobItem)},
		{Method: "GET", Path: "/jobs/details", Name: "oarJobDetails", Summary: "Jobs of OAR in full", Query: jobQuery, Result: structures(oar.Page[oar.Detail]{}), Handle: h.list(jobDetail)},
		{Method: "GET", Path: "/jobs/table", Name: "oarJobTable", Summary: "Jobs of OAR", Query: jobQuery, Result: structures(oar.Page[oar.Item]{}), Handle: h.list(jobItem)},
		{Method: "GET", Path: "/jobs/:id/resources", Name: "oarJobResources", Summary: "The nodes of a job", Result: oar.Page[oar.Resource]{}, Handle: h.nodesOf},
		{Method: "GET", Path: "/jobs/:id/nodes", Name: "oarJobNodes", Summary: "The nodes of a job", Result: oar.Page[oar.Resource]{}, Handle: h.nodesOf},
		{Method: "GET", Path: "/accounting", Name: "oarAccounting", Summary: "What users requested and used", Query: timeSpanQuery, Result: oar.Page[oar.Usage]{}, Handle: h.accounting},
		{Method: "GET", Path: "/gantt", Name: "oarGantt", Summary: "When which job has which nodes", Query: timeSpanQuery, Result: map[string]any{}, Handle: h.gantt},
	}
	for _, r := range [][2]string{{"/jobs/:id", "oarJob"}, {"/jobs/:id/details", "oarJobDetail"}} {
		path, name := r[0], r[1]
		list = append(list, api.Endpoint{Method: "GET", Path: path, Name: name, Summary: "One job of OAR in full", Result: oar.Detail{}, Handle: h.show})
	}
	return list
}

func submissionRoutes(s *submitter) []api.Endpoint {
	return []api.Endpoint{
		{
			Method: "POST", Path: "/jobs", Name: "oarSubmit", Summary: "Submit a job of OAR, or an array of them", Verb: api.Create, LargeBody: true,
			Body: oar.Submission{}, Result: oar.Accepted{}, Handle: s.submit,
		},
		{
			Method: "POST", Path: "/jobs/:id/resubmissions/new", Name: "oarResubmit", Summary: "Submit an ended job again", Verb: api.Create,
			Result: oar.Accepted{}, Handle: s.resubmit,
		},
	}
}

func orderRoutes(h *orderHandler) []api.Endpoint {
	list := []api.Endpoint{
		{Method: "DELETE", Path: "/jobs/:id", Name: "oarDelete", Summary: "End a job", Verb: api.Change, Result: oar.Done{}, Handle: h.handle(h.remove)},
		{Method: "POST", Path: "/jobs/:id", Name: "oarDo", Summary: "End a job, with the method delete", Verb: api.Change, Body: oar.Method{}, Result: oar.Done{}, Handle: h.method},
	}
	for _, o := range []struct {
		path, name, summary string
		run                 order
	}{
		{"deletions", "Delete", "End a job", h.remove},
		{"holds", "Hold", "Hold a waiting job", h.hold},
		{"rholds", "HoldRunning", "Suspend a running job, and hold it", h.suspend},
		{"resumptions", "Resume", "Release a held job, or resume a suspended one", h.resume},
		{"checkpoints", "Checkpoint", "Not offered: a preempted job is suspended with its memory", h.checkpoint},
	} {
		list = append(list,
			api.Endpoint{Method: "POST", Path: "/jobs/:id/" + o.path + "/new", Name: "oar" + o.name + "Job", Summary: o.summary, Verb: api.Change, Result: oar.Done{}, Handle: h.handle(o.run)},
			api.Endpoint{Method: "POST", Path: "/jobs/array/:id/" + o.path + "/new", Name: "oar" + o.name + "Array", Summary: o.summary + ": each of an array", Verb: api.Change, Result: oar.Page[oar.Done]{}, Handle: h.handleArray(o.run)},
		)
	}
	for _, path := range []string{"signals", "signal"} {
		list = append(list, api.Endpoint{
			Method: "POST", Path: "/jobs/:id/" + path + "/:signal", Name: "oar" + map[string]string{"signals": "Signal", "signal": "SignalJob"}[path],
			Summary: "Not offered: signals do not reach VMs", Verb: api.Change, Result: oar.Done{}, Handle: h.signal,
		})
	}
	return list
}

func nodeRoutes(h *nodeHandler) []api.Endpoint {
	list := []api.Endpoint{
		{Method: "GET", Path: "/resources/nodes/:name/jobs", Name: "oarNodeJobs", Summary: "The jobs on a node", Result: oar.Page[oar.Item]{}, Handle: h.jobsOn},
	}
	for _, r := range [][2]string{{"/resources", ""}, {"/resources/details", "Details"}, {"/resources/full", "Full"}} {
		path, name := r[0], r[1]
		list = append(list, api.Endpoint{Method: "GET", Path: path, Name: "oarResources" + name, Summary: "The nodes", Query: pageQuery, Result: oar.Page[oar.Resource]{}, Handle: h.resources})
	}
	for _, r := range [][2]string{{"/resources/:name", "oarResource"}, {"/resources/nodes/:name", "oarNode"}} {
		path, name := r[0], r[1]
		list = append(list, api.Endpoint{Method: "GET", Path: path, Name: name, Summary: "One node", Result: oar.Resource{}, Handle: h.resource})
	}
	return list
}

func siteRoutes(h *siteHandler) []api.Endpoint {
	return []api.Endpoint{
		{Method: "GET", Path: "/version", Name: "oarVersion", Summary: "Versions", Result: Info{}, Handle: h.version},
		{Method: "GET", Path: "/index", Name: "oarIndex", Summary: "Versions", Result: Info{}, Handle: h.version},
		{Method: "GET", Path: "/whoami", Name: "oarWhoami", Summary: "The identity of the caller", Result: Info{}, Handle: h.whoami},
		{Method: "GET", Path: "/timezone", Name: "oarTimezone", Summary: "The time zone of the daemon", Result: Info{}, Handle: h.timezone},
		{Method: "GET", Path: "/queues", Name: "oarQueues", Summary: "The queues", Result: oar.Page[oar.Queue]{}, Handle: h.queues},
	}
}

// adminRoutes are for administrators.
func adminRoutes(h *nodeHandler) []api.Endpoint {
	return []api.Endpoint{
		{
			Method: "POST", Path: "/resources/:name/state", Name: "oarNodeState", Summary: "Enable a node, or move all VMs away", Verb: api.Change,
			Body: oar.Change{}, Result: oar.Resource{}, Handle: h.setState,
		},
	}
}
