package api

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"

	"vjob/api/wire"
	"vjob/cluster"
	"vjob/ctxswitch/duration"
	"vjob/ctxswitch/journal"
	"vjob/energy/power/cycle"
	"vjob/hypervisor"
	"vjob/scheduler"
	"vjob/scheduler/failover"
	"vjob/scheduler/nodepower"
)

// nodeService is the part of the scheduler that changes nodes.
type nodeService interface {
	// SetNodes sets the state of some nodes, of all or none.
	SetNodes(ctx context.Context, nodes []cluster.NodeID, state cluster.NodeState, act journal.Audit) error
	// Maintain lets some nodes enter maintenance, all or none, and Ready leave it.
	Maintain(ctx context.Context, nodes []cluster.NodeID, reason string, act journal.Audit) error
	Ready(ctx context.Context, nodes []cluster.NodeID, act journal.Audit) error
	// SetPower has a node switched off, once it is empty, or on.
	SetPower(ctx context.Context, node cluster.NodeID, want cycle.Want, act journal.Audit) error
}

// nodeHandler answers requests for nodes.
type nodeHandler struct {
	scheduler nodeService
	finder    vjobFinder
	audit     *auditLog
	snapshot  func() *scheduler.Snapshot
}

// list answers GET /v1/nodes.
func (h *nodeHandler) list(c *gin.Context, caller Subject) error {
	now, q, from := h.snapshot(), queryReader{c: c}, 0
	limit := q.limit(defaultPage)
	if q.err != nil {
		return q.err
	}
	if cursor, given := c.GetQuery("cursor"); given { // the nodes are in the order of their names
		from, _ = slices.BinarySearchFunc(now.Nodes, cursor+"\x00", func(n *scheduler.NodeStatus, name string) int { return strings.Compare(string(n.ID), name) })
	}
	page, next := cut(c, now.Nodes[from:], limit, func(n **scheduler.NodeStatus) string { return string((*n).ID) })
	nodes, err := h.view(c.Request.Context(), caller, page)
	if err != nil {
		return err
	}
	return answer(c, http.StatusOK, wire.NodeList{Nodes: nodes, Total: len(now.Nodes), Next: next, Failover: wireFailover(&now.Failover), Alarms: unacknowledged(now, caller)})
}

// wireFailover returns whether nodes can be lost; nil if no capacity is kept for that.
func wireFailover(r *failover.Report) *wire.Failover {
	if r.Nodes == 0 {
		return nil
	}
	w := &wire.Failover{Nodes: r.Nodes, Holds: r.Holds, SpareCPUMilli: int64(r.Spare.CPU), SpareMemoryMiB: int64(r.Spare.Memory), Why: r.Why()}
	for _, id := range r.Lost {
		w.Lost = append(w.Lost, string(id))
	}
	return w
}

// show answers GET /v1/nodes/{name}.
func (h *nodeHandler) show(c *gin.Context, caller Subject) error {
	now, name := h.snapshot(), c.Param("name")
	i := slices.IndexFunc(now.Nodes, func(n *scheduler.NodeStatus) bool { return string(n.ID) == name })
	if i < 0 {
		return notFound("node", name)
	}
	nodes, err := h.view(c.Request.Context(), caller, now.Nodes[i:i+1])
	if err != nil {
		return err
	}
	detail := wire.NodeDetail{Node: nodes[0], Platforms: wirePlatforms(now.Nodes[i].Platforms)}
	if now.Durations != nil {
		detail.Durations = wireDurations(now.Durations.Node(cluster.NodeID(name)))
	}
	return answerTagged(c, http.StatusOK, now.Nodes[i].Revision(), detail)
}

func wireDurations(estimates []duration.NodeEstimate) []wire.NodeDuration {
	list := make([]wire.NodeDuration, len(estimates))
	for i, e := range estimates {
		list[i] = wire.NodeDuration{
			Kind: e.Kind.String(), Source: string(e.Source), ConstantSeconds: e.Line.Constant.Seconds(), PerGiBSeconds: e.Line.PerGiB.Seconds(),
			Observations: e.Observations, Spread: e.Spread,
		}
	}
	return list
}

// wirePlatforms shows what VMs can be on a node.
func wirePlatforms(list []hypervisor.Platform) []wire.NodePlatform {
	platforms := make([]wire.NodePlatform, len(list))
	for i, p := range list {
		platforms[i] = wire.NodePlatform{
			Type: p.Type, Arch: p.Arch, CPUModel: p.CPUModel, CPUFeatures: append([]string{}, p.Features...), MachineTypes: append([]string{}, p.MachineTypes...),
		}
	}
	return platforms
}

// view shows some nodes. Users see which of their own VMs a node has, of others
// only how much room they take, and not what went wrong on a node.
func (h *nodeHandler) view(ctx context.Context, caller Subject, nodes []*scheduler.NodeStatus) ([]wire.Node, error) {
	own, err := h.finder.ownLive(ctx, caller)
	if err != nil {
		return nil, err
	}
	list := make([]wire.Node, len(nodes))
	for i, n := range nodes {
		list[i] = wire.Node{
			Name: string(n.ID), State: n.State.String(), Silent: n.Silent, Since: n.Since.UTC(),
			CPUMilli: int64(n.Capacity.CPU), MemoryMiB: int64(n.Capacity.Memory),
			UsedCPUMilli: int64(n.Used.CPU), UsedMemoryMiB: int64(n.Used.Memory),
			DemandCPUMilli: int64(n.Demand.CPU), DemandMemoryMiB: int64(n.Demand.Memory),
			VMs: []string{}, Labels: n.Labels, Switch: wireSwitch(n.Switch, caller),
			Maintenance: wireMaintenance(n.Maintenance, caller, own),
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

// change answers PATCH /v1/nodes/{name}.
func (h *nodeHandler) change(c *gin.Context, caller Subject) error {
	var change wire.NodeChange
	if err := readBody(c, &change); err != nil {
		return err
	}
	return h.apply(c, caller, []string{c.Param("name")}, &change)
}

// changeAll answers PATCH /v1/nodes.
func (h *nodeHandler) changeAll(c *gin.Context, caller Subject) error {
	var change wire.NodesChange
	if err := readBody(c, &change); err != nil {
		return err
	}
	if len(change.Names) == 0 {
		return cluster.BadField("names", "[]", "the name of at least one node")
	}
	return h.apply(c, caller, change.Names, &change.NodeChange)
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

func (h *nodeHandler) drain(c *gin.Context, caller Subject) error {
	return h.set(c, caller, cluster.Draining)
}

func (h *nodeHandler) online(c *gin.Context, caller Subject) error {
	return h.set(c, caller, cluster.Online)
}

func (h *nodeHandler) set(c *gin.Context, caller Subject, state cluster.NodeState) error {
	return h.setAll(c, caller, []string{c.Param("name")}, state)
}

func (h *nodeHandler) setAll(c *gin.Context, caller Subject, names []string, state cluster.NodeState) error {
	ids, err := nodeIDs(names)
	if err != nil {
		return err
	}
	if err := h.setStates(c.Request.Context(), caller, ids, state); err != nil {
		return err
	}
	return noContent(c)
}

// setStates sets the state of nodes, with an entry in the audit list.
func (h *nodeHandler) setStates(ctx context.Context, caller Subject, ids []cluster.NodeID, state cluster.NodeState) error {
	names := make([]string, len(ids))
	for i, id := range ids {
		names[i] = string(id)
	}
	return h.audit.do(ctx, h.audit.entry(caller, journal.AuditNode, truncate(strings.Join(names, ",")), state.String()), func(act journal.Audit) error {
		return h.scheduler.SetNodes(ctx, ids, state, act)
	})
}

func nodeIDs(names []string) ([]cluster.NodeID, error) {
	ids := make([]cluster.NodeID, len(names))
	for i, name := range names {
		if !cluster.IsName(name) {
			return nil, notFound("node", name)
		}
		ids[i] = cluster.NodeID(name)
	}
	return ids, nil
}

// setPower answers POST /v1/nodes/{name}/power.
func (h *nodeHandler) setPower(c *gin.Context, caller Subject) error {
	var change wire.PowerChange
	if err := readBody(c, &change); err != nil {
		return err
	}
	want := cycle.WantOff
	switch change.Power {
	case "off":
	case "on":
		want = cycle.WantOn
	default:
		return cluster.BadField("power", change.Power, "off or on")
	}
	name := c.Param("name")
	if !cluster.IsName(name) {
		return notFound("node", name)
	}
	err := h.audit.do(c.Request.Context(), h.audit.entry(caller, journal.AuditPower, name, change.Power), func(act journal.Audit) error {
		return h.scheduler.SetPower(c.Request.Context(), cluster.NodeID(name), want, act)
	})
	if err != nil {
		return err
	}
	return noContent(c)
}

// wireSwitch shows how far a node is on its way off or on; administrators also read what is wrong.
func wireSwitch(p *nodepower.Switch, caller Subject) *wire.NodeSwitch {
	if p == nil {
		return nil
	}
	w := &wire.NodeSwitch{Phase: p.Phase.String(), Since: p.Since.UTC(), Wanted: p.Want.String()}
	if caller.Role == journal.RoleAdmin {
		w.By, w.Problem = p.By, p.Problem
	}
	return w
}
