package oarapi

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"

	"vjob/api"
	"vjob/cluster"
	"vjob/ctxswitch/journal"
	"vjob/oar"
	"vjob/oar/report"
)

// Info is the answer to GET /version, /timezone and /whoami.
type Info struct {
	Version   string `json:"oar_version,omitempty"`
	Server    string `json:"oar_server_version,omitempty"`
	API       string `json:"api_version,omitempty"`
	TimeZone  string `json:"timezone,omitempty"`
	User      string `json:"authenticated_user,omitempty"`
	Timestamp int64  `json:"api_timestamp"`
}

// apiVersion is the version of OAR's API that this API follows.
const apiVersion = "1.0.4"

var timeSpanQuery = []api.Parameter{
	{Name: "from", Kind: "integer", Meaning: "seconds since 1970"},
	{Name: "to", Kind: "integer", Meaning: "seconds since 1970"},
	{Name: "user", Kind: "string", Meaning: "only this user"},
}

func (d *Dialect) siteOperations() []api.Operation {
	info := func(show func(api.Subject) Info) func(*gin.Context, api.Subject) error {
		return func(c *gin.Context, who api.Subject) error {
			i := show(who)
			i.Timestamp = d.now()
			c.JSON(http.StatusOK, i)
			return nil
		}
	}
	version := func(api.Subject) Info { return Info{Version: d.Version, Server: d.Version, API: apiVersion} }
	list := []api.Operation{
		{Method: "GET", Path: "/version", Name: "oarVersion", Summary: "Versions", Result: Info{}, Handle: info(version)},
		{Method: "GET", Path: "/index", Name: "oarIndex", Summary: "Versions", Result: Info{}, Handle: info(version)},
		{Method: "GET", Path: "/whoami", Name: "oarWhoami", Summary: "The identity of the caller", Result: Info{}, Handle: info(func(who api.Subject) Info { return Info{User: who.Name} })},
		{Method: "GET", Path: "/timezone", Name: "oarTimezone", Summary: "The time zone of the daemon", Result: Info{}, Handle: info(func(api.Subject) Info {
			zone, _ := d.service.Now().In(time.Local).Zone()
			return Info{TimeZone: zone}
		})},
		{Method: "GET", Path: "/queues", Name: "oarQueues", Summary: "The queues", Result: oar.Page[oar.Queue]{}, Handle: d.queues},
		{Method: "GET", Path: "/accounting", Name: "oarAccounting", Summary: "What users requested and used", Query: timeSpanQuery, Result: oar.Page[oar.Usage]{}, Handle: d.accounting},
		{Method: "GET", Path: "/gantt", Name: "oarGantt", Summary: "When which job has which nodes", Query: timeSpanQuery, Result: map[string]any{}, Handle: d.gantt},
		{Method: "GET", Path: "/resources/nodes/:name/jobs", Name: "oarNodeJobs", Summary: "The jobs on a node", Result: oar.Page[oar.Item]{}, Handle: d.jobsOn},
		{
			Method: "POST", Path: "/resources/:name/state", Name: "oarNodeState", Summary: "Enable a node, or move all VMs away", Verb: api.Change, Reserved: true,
			Body: oar.Change{}, Result: oar.Resource{}, Handle: d.setState,
		},
	}
	for path, name := range map[string]string{"/resources": "", "/resources/details": "Details", "/resources/full": "Full"} {
		list = append(list, api.Operation{Method: "GET", Path: path, Name: "oarResources" + name, Summary: "The nodes", Query: pageQuery, Result: oar.Page[oar.Resource]{}, Handle: d.resources})
	}
	for path, name := range map[string]string{"/resources/:name": "oarResource", "/resources/nodes/:name": "oarNode"} {
		list = append(list, api.Operation{Method: "GET", Path: path, Name: name, Summary: "One node", Result: oar.Resource{}, Handle: d.resource})
	}
	return list
}

func (d *Dialect) queues(c *gin.Context, _ api.Subject) error {
	c.JSON(http.StatusOK, oar.Page[oar.Queue]{Timestamp: d.now(), Items: d.Queues, Links: selfLink(c), Total: len(d.Queues)})
	return nil
}

// visibleNodes returns the nodes with the jobs that the caller may see.
func (d *Dialect) visibleNodes(c *gin.Context, who api.Subject) ([]oar.Resource, error) {
	var own map[cluster.VJobID]bool
	if who.Role != journal.RoleAdmin {
		rows, err := d.service.List(c.Request.Context(), who, journal.Filter{Live: true})
		if err != nil {
			return nil, err
		}
		own = make(map[cluster.VJobID]bool, len(rows))
		for i := range rows {
			own[rows[i].ID] = true
		}
	}
	list := resources(d.service.Snapshot(), own)
	for i := range list {
		href := root + "/resources/" + strconv.Itoa(list[i].ID)
		list[i].Links = []oar.Link{{Rel: "self", Href: href}, {Rel: "member", Title: "node", Href: root + "/resources/nodes/" + list[i].Node}}
	}
	return list, nil
}

// resources answers GET /resources: all nodes, unless a limit is given.
func (d *Dialect) resources(c *gin.Context, who api.Subject) error {
	q, err := readQuery(c)
	if err != nil {
		return err
	}
	list, err := d.visibleNodes(c, who)
	if err != nil {
		return err
	}
	if c.Query("limit") == "" {
		q.limit = max(1, len(list))
	}
	page := list[min(q.offset, len(list)):min(q.offset+q.limit, len(list))]
	c.JSON(http.StatusOK, oar.Page[oar.Resource]{Timestamp: d.now(), Items: page, Links: pageLinks(c, q, len(list)), Offset: q.offset, Total: len(list)})
	return nil
}

// findNode returns the node with a number or name.
func (d *Dialect) findNode(c *gin.Context, who api.Subject) (oar.Resource, error) {
	name := c.Param("name")
	list, err := d.visibleNodes(c, who)
	if err != nil {
		return oar.Resource{}, err
	}
	at := slices.IndexFunc(list, func(r oar.Resource) bool { return r.Node == name || strconv.Itoa(r.ID) == name })
	if at < 0 {
		return oar.Resource{}, notFound("node", name)
	}
	return list[at], nil
}

func (d *Dialect) resource(c *gin.Context, who api.Subject) error {
	r, err := d.findNode(c, who)
	if err == nil {
		c.JSON(http.StatusOK, r)
	}
	return err
}

func (d *Dialect) jobsOn(c *gin.Context, who api.Subject) error {
	r, err := d.findNode(c, who)
	if err != nil {
		return err
	}
	items := []oar.Item{}
	now := d.service.Snapshot()
	for _, id := range r.Jobs {
		kept, err := d.service.Find(c.Request.Context(), who, cluster.VJobID(id), api.Read)
		if err != nil {
			continue // ended meanwhile
		}
		v := jobView(&kept.Row, now, who.Viewer())
		j := d.job(who, &v, nodeNumbers(now))
		items = append(items, jobItem(&j, d.now()).(oar.Item))
	}
	c.JSON(http.StatusOK, oar.Page[oar.Item]{Timestamp: d.now(), Items: items, Links: selfLink(c), Total: len(items)})
	return nil
}

// setState answers POST /resources/{name}/state.
func (d *Dialect) setState(c *gin.Context, who api.Subject) error {
	r, err := d.findNode(c, who)
	if err != nil {
		return err
	}
	data, err := d.service.Body(c)
	if err != nil {
		return err
	}
	var body oar.Change
	if err := json.Unmarshal(data, &body); err != nil {
		return cluster.BadField("state", string(data), `{"state": "Alive"} or {"state": "Absent"}`)
	}
	to, ok := map[string]cluster.NodeState{nodeAlive: cluster.Online, nodeAbsent: cluster.Draining}[body.State]
	if !ok {
		return cluster.BadField("state", body.State, "Alive or Absent; to declare a node down, fence it first: vjob nodes down --fenced")
	}
	if err := d.service.SetNode(c.Request.Context(), who, cluster.NodeID(r.Node), to); err != nil {
		return err
	}
	r.State = body.State
	c.JSON(http.StatusOK, r)
	return nil
}

// gantt answers GET /gantt.
func (d *Dialect) gantt(c *gin.Context, who api.Subject) error {
	q, err := readQuery(c)
	if err != nil {
		return err
	}
	if q.to == 0 {
		q.to = 1 << 40
	}
	jobs, err := d.jobs(c.Request.Context(), who, &query{user: q.user, from: max(q.from, 1)})
	if err != nil {
		return err
	}
	nodes, err := d.visibleNodes(c, who)
	if err != nil {
		return err
	}
	data, err := report.Gantt(jobs, nodes, q.from, q.to)
	if err == nil {
		c.Data(http.StatusOK, "application/json; charset=utf-8", data)
	}
	return err
}

// accounting answers GET /accounting.
func (d *Dialect) accounting(c *gin.Context, who api.Subject) error {
	q, err := readQuery(c)
	if err != nil {
		return err
	}
	if q.to == 0 {
		q.to = d.now()
	}
	jobs, err := d.jobs(c.Request.Context(), who, &query{user: q.user, from: max(q.from, 1), to: q.to})
	if err != nil {
		return err
	}
	list := report.Used(jobs, q.from, q.to, d.now())
	c.JSON(http.StatusOK, oar.Page[oar.Usage]{Timestamp: d.now(), Items: list, Links: selfLink(c), Total: len(list)})
	return nil
}
