package api

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"vjob/api/wire"
	"vjob/cluster"
	"vjob/ctxswitch/journal"
	"vjob/scheduler"
)

// snapshot is the loop's latest, or an empty one before there is any.
func (s *Server) snapshot() *scheduler.Snapshot {
	if now := s.scheduler.Snapshot(); now != nil {
		return now
	}
	return &scheduler.Snapshot{}
}

// listNodes answers GET /v1/nodes.
func (s *Server) listNodes(c *gin.Context, caller Subject) error {
	nodes, err := s.nodes(c.Request.Context(), caller, s.snapshot())
	if err != nil {
		return err
	}
	return answer(c, http.StatusOK, wire.NodeList{Nodes: nodes})
}

// nodes shows the nodes. Users see which of their own VMs a node has, of others
// only how much room they take, and not what went wrong on a node.
func (s *Server) nodes(ctx context.Context, caller Subject, now *scheduler.Snapshot) ([]wire.Node, error) {
	own, err := s.ownLive(ctx, caller)
	if err != nil {
		return nil, err
	}
	list := make([]wire.Node, len(now.Nodes))
	for i, n := range now.Nodes {
		list[i] = wire.Node{
			Name: string(n.ID), State: n.State.String(), Silent: n.Silent, Since: n.Since.UTC(),
			CPUMilli: int64(n.Capacity.CPU), MemoryMiB: int64(n.Capacity.Memory),
			UsedCPUMilli: int64(n.Used.CPU), UsedMemoryMiB: int64(n.Used.Memory),
			VMs: []string{}, Labels: n.Labels, Switch: wireSwitch(n.Switch, caller),
		}
		if n.Power.Known {
			list[i].Power = &wire.NodePower{
				Watts: watts(n.Power.Now), MostWatts: watts(n.Power.Most), EnergyJoules: int64(n.Power.Drawn),
			}
		}
		if caller.Role == journal.RoleAdmin {
			list[i].Problem, list[i].Warnings = n.Problem, n.Warnings
		}
		for _, vm := range n.VMs {
			if own == nil || own[vm.VJob] {
				list[i].VMs = append(list[i].VMs, vm.String())
			}
		}
	}
	return list, nil
}

// changeNode answers PATCH /v1/nodes/{name}.
func (s *Server) changeNode(c *gin.Context, caller Subject) error {
	var change wire.NodeChange
	if err := s.readBody(c, &change); err != nil {
		return err
	}
	state, err := requestedState(&change)
	if err != nil {
		return err
	}
	return s.setNode(c, caller, state)
}

// changeNodes answers PATCH /v1/nodes.
func (s *Server) changeNodes(c *gin.Context, caller Subject) error {
	var change wire.NodesChange
	if err := s.readBody(c, &change); err != nil {
		return err
	}
	state, err := requestedState(&change.NodeChange)
	if err != nil {
		return err
	}
	if len(change.Names) == 0 {
		return cluster.BadField("names", "[]", "the name of at least one node")
	}
	return s.setNodes(c, caller, change.Names, state)
}

// requestedState is the state that a change asks for.
func requestedState(change *wire.NodeChange) (cluster.NodeState, error) {
	state, err := cluster.ParseNodeState(change.State)
	switch {
	case err != nil:
		return 0, err
	case state == cluster.Down && !change.Fenced:
		return 0, cluster.Fault("fenced", "down requires true: make sure first that nothing runs on the node")
	case state != cluster.Down && change.Fenced:
		return 0, cluster.Fault("fenced", "true goes with the state down only")
	}
	return state, nil
}

func (s *Server) drain(c *gin.Context, caller Subject) error {
	return s.setNode(c, caller, cluster.Draining)
}

func (s *Server) online(c *gin.Context, caller Subject) error {
	return s.setNode(c, caller, cluster.Online)
}

func (s *Server) setNode(c *gin.Context, caller Subject, state cluster.NodeState) error {
	return s.setNodes(c, caller, []string{c.Param("name")}, state)
}

func (s *Server) setNodes(c *gin.Context, caller Subject, names []string, state cluster.NodeState) error {
	ids := make([]cluster.NodeID, len(names))
	for i, name := range names {
		if !cluster.IsName(name) {
			return notFound("node", name)
		}
		ids[i] = cluster.NodeID(name)
	}
	if err := s.setNodeStates(c.Request.Context(), caller, ids, state); err != nil {
		return err
	}
	c.Status(http.StatusNoContent)
	return nil
}

// setNodeStates puts nodes in another state, and notes that.
func (s *Server) setNodeStates(ctx context.Context, caller Subject, ids []cluster.NodeID, state cluster.NodeState) error {
	names := make([]string, len(ids))
	for i, id := range ids {
		names[i] = string(id)
	}
	return s.withAudit(ctx, s.auditEntry(caller, journal.AuditNode, truncate(strings.Join(names, ",")), state.String()), func(act journal.Audit) error {
		return s.scheduler.SetNodes(ctx, ids, state, act)
	})
}

// status answers GET /v1/status.
func (s *Server) status(c *gin.Context, caller Subject) error {
	now := s.snapshot()
	ctx := c.Request.Context()
	nodes, err := s.nodes(ctx, caller, now)
	if err != nil {
		return err
	}
	rows, _, err := s.reader.VJobs(ctx, journal.Filter{Owner: caller.Viewer(), Live: true, Limit: maxPage})
	if err != nil {
		return err
	}
	st := wire.Status{
		At: now.At.UTC(), Ready: now.Ready, Policy: now.Policy, Nodes: nodes,
		VJobs: make([]wire.VJob, len(rows)), Running: []wire.ActiveAction{},
	}
	own := make(map[cluster.VJobID]bool, len(rows))
	for i := range rows {
		own[rows[i].ID] = true
		st.VJobs[i] = wireVJob(&rows[i], now, caller.Viewer())
	}
	for _, a := range now.Running {
		if caller.Role != journal.RoleAdmin && !own[a.VM.VJob] {
			continue
		}
		st.Running = append(st.Running, wire.ActiveAction{
			Plan: int64(a.Plan), VM: a.VM.String(), Kind: a.What, Phase: a.Phase,
			From: string(a.From), To: string(a.To), Began: a.Began.UTC(), ExpectedSeconds: a.Expected.Seconds(),
		})
	}
	return answer(c, http.StatusOK, st)
}

// images answers GET /v1/images.
func (s *Server) images(c *gin.Context, caller Subject) error {
	list := wire.ImageList{Images: []wire.Image{}}
	images, err := s.bootable(c.Request.Context(), caller)
	if err != nil {
		return err
	}
	for _, image := range images {
		if !image.may {
			continue
		}
		if caller.Role != journal.RoleAdmin {
			image.Users, image.Groups = nil, nil
		}
		list.Images = append(list.Images, image.Image)
	}
	return answer(c, http.StatusOK, list)
}

// seconds is how long something took, 0 while it has not ended.
func seconds(began, ended time.Time) float64 {
	if began.IsZero() || ended.IsZero() {
		return 0
	}
	return ended.Sub(began).Seconds()
}
