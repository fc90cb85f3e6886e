package oarapi

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"

	"github.com/gin-gonic/gin"

	"vjob/api"
	"vjob/cluster"
	"vjob/ctxswitch/journal"
	"vjob/oar"
	"vjob/oar/request"
	"vjob/scheduler"
)

// nodeHandler answers requests for nodes.
type nodeHandler struct{ jobs *jobHandler }

// resources answers GET /resources: all nodes, unless a limit is given.
func (h *nodeHandler) resources(c *gin.Context, caller api.Subject) error {
	q, err := readQuery(c)
	if err != nil {
		return err
	}
	list, err := h.jobs.visibleNodes(c, caller)
	if err != nil {
		return err
	}
	if c.Query("limit") == "" {
		q.limit = max(1, len(list))
	}
	page := list[min(q.offset, len(list)):min(q.offset+q.limit, len(list))]
	c.JSON(http.StatusOK, oar.Page[oar.Resource]{Timestamp: h.jobs.now(), Items: page, Links: pageLinks(c, q, len(list)), Offset: q.offset, Total: len(list)})
	return nil
}

// find returns the node with a number or name.
func (h *nodeHandler) find(c *gin.Context, caller api.Subject) (oar.Resource, error) {
	name := c.Param("name")
	list, err := h.jobs.visibleNodes(c, caller)
	if err != nil {
		return oar.Resource{}, err
	}
	at := slices.IndexFunc(list, func(r oar.Resource) bool { return r.Node == name || strconv.Itoa(r.ID) == name })
	if at < 0 {
		return oar.Resource{}, notFound("node", name)
	}
	return list[at], nil
}

func (h *nodeHandler) resource(c *gin.Context, caller api.Subject) error {
	r, err := h.find(c, caller)
	if err == nil {
		c.JSON(http.StatusOK, r)
	}
	return err
}

func (h *nodeHandler) jobsOn(c *gin.Context, caller api.Subject) error {
	r, err := h.find(c, caller)
	if err != nil {
		return err
	}
	items := []oar.Item{}
	now := h.jobs.Snapshot()
	for _, id := range r.Jobs {
		kept, err := h.jobs.Find(c.Request.Context(), caller, cluster.VJobID(id), api.Read)
		if err != nil {
			continue // ended meanwhile
		}
		v := jobView(&kept.Row, now, caller.Viewer())
		j := h.jobs.job(caller, &v, nodeNumbers(now))
		items = append(items, jobItem(&j, h.jobs.now()).(oar.Item))
	}
	c.JSON(http.StatusOK, oar.Page[oar.Item]{Timestamp: h.jobs.now(), Items: items, Links: selfLink(c), Total: len(items)})
	return nil
}

// setState answers POST /resources/{name}/state.
func (h *nodeHandler) setState(c *gin.Context, caller api.Subject) error {
	r, err := h.find(c, caller)
	if err != nil {
		return err
	}
	data, err := h.jobs.Body(c)
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
	if err := h.jobs.SetNode(c.Request.Context(), caller, cluster.NodeID(r.Node), to); err != nil {
		return err
	}
	r.State = body.State
	c.JSON(http.StatusOK, r)
	return nil
}

// visibleNodes returns the nodes with the jobs that the caller may see.
func (h *jobHandler) visibleNodes(c *gin.Context, caller api.Subject) ([]oar.Resource, error) {
	var own map[cluster.VJobID]bool
	if caller.Role != journal.RoleAdmin {
		rows, err := h.List(c.Request.Context(), caller, journal.Filter{Live: true})
		if err != nil {
			return nil, err
		}
		own = make(map[cluster.VJobID]bool, len(rows))
		for i := range rows {
			own[rows[i].ID] = true
		}
	}
	list := resources(h.Snapshot(), own)
	for i := range list {
		href := root + "/resources/" + strconv.Itoa(list[i].ID)
		list[i].Links = []oar.Link{{Rel: "self", Href: href}, {Rel: "member", Title: "node", Href: root + "/resources/nodes/" + list[i].Node}}
	}
	return list, nil
}

// inventory returns the nodes of the cluster.
func inventory(now *scheduler.Snapshot) request.Inventory {
	w := request.Inventory{Free: make(map[cluster.NodeID]bool, len(now.Nodes))}
	for i := range now.Nodes {
		n := now.Nodes[i]
		w.Nodes = append(w.Nodes, n.Node)
		w.Free[n.ID] = len(n.VMs) == 0 && !n.Silent && n.Hosts()
	}
	return w
}

// nodeNumbers numbers the nodes, from 1.
func nodeNumbers(now *scheduler.Snapshot) map[cluster.NodeID]int {
	index := make(map[cluster.NodeID]int, len(now.Nodes))
	for i := range now.Nodes {
		index[now.Nodes[i].ID] = i + 1
	}
	return index
}

// The states of nodes in OAR's terms.
const (
	nodeAlive     = "Alive"
	nodeAbsent    = "Absent"
	nodeSuspected = "Suspected"
	nodeDead      = "Dead"
)

// resources returns the nodes in OAR's terms, with those of their jobs that are in own, or with all if
// own is nil.
func resources(now *scheduler.Snapshot, own map[cluster.VJobID]bool) []oar.Resource {
	list := make([]oar.Resource, len(now.Nodes))
	for i := range now.Nodes {
		n := now.Nodes[i]
		r := oar.Resource{
			ID: i + 1, Node: string(n.ID), State: nodeState(n), Draining: "NO", CPUMilli: int64(n.Capacity.CPU),
			MemoryMiB: int64(n.Capacity.Memory), Jobs: []int64{}, Labels: n.Labels,
		}
		if n.State == cluster.Draining {
			r.Draining = "YES"
		}
		if r.Labels == nil {
			r.Labels = map[string]string{}
		}
		seen := map[cluster.VJobID]bool{}
		for _, vm := range n.VMs {
			if !seen[vm.VJob] && (own == nil || own[vm.VJob]) {
				seen[vm.VJob] = true
				r.Jobs = append(r.Jobs, int64(vm.VJob))
			}
		}
		list[i] = r
	}
	return list
}

func nodeState(n *scheduler.NodeStatus) string {
	switch {
	case n.State == cluster.Down:
		return nodeDead
	case n.State == cluster.Offline:
		return nodeAbsent
	case n.Silent:
		return nodeSuspected
	}
	return nodeAlive
}
