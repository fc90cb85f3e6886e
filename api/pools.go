package api

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"github.com/gin-gonic/gin"

	"vjob/api/wire"
	"vjob/cluster"
	"vjob/ctxswitch/journal"
	"vjob/queue/pool"
	"vjob/scheduler"
	"vjob/scheduler/entitlement"
)

// poolService is the part of the scheduler that keeps the pools of CPU and memory.
type poolService interface {
	// SetPool states a pool; a mistake in it is a *cluster.FieldError.
	SetPool(ctx context.Context, s pool.PoolStatement, act journal.Audit) error
	// DeletePool removes a stated pool.
	DeletePool(ctx context.Context, name string, act journal.Audit) error
}

// poolHandler answers requests for pools.
type poolHandler struct {
	scheduler poolService
	audit     *auditLog
	snapshot  func() *scheduler.Snapshot
}

// list answers GET /v1/pools.
func (h *poolHandler) list(c *gin.Context, _ Subject) error {
	now := h.snapshot()
	out := wire.PoolList{Divided: now.Pools.Divided, Pools: []wire.Pool{}, StatedBy: now.Pools.StatedBy, Stated: instant(now.Pools.StatedAt)}
	pools := now.Counted()
	for _, i := range treeOrder(len(pools), func(i int) int { return pools[i].Parent }) {
		out.Pools = append(out.Pools, wirePool(pools, i))
	}
	return answer(c, http.StatusOK, out)
}

// treeOrder returns the indices of n pools as a tree is printed: each behind its parent and what is in pools before
// it. The first is the cluster.
func treeOrder(n int, parent func(i int) int) (order []int) {
	children := make([][]int, n)
	for i := range n {
		if at := parent(i); at >= 0 {
			children[at] = append(children[at], i)
		}
	}
	var visit func(i int)
	visit = func(i int) {
		order = append(order, i)
		for _, c := range children[i] {
			visit(c)
		}
	}
	if n > 0 {
		visit(0)
	}
	return order
}

func wirePool(pools []scheduler.PoolStatus, i int) wire.Pool {
	p := &pools[i]
	w := wire.Pool{
		Name: p.Name, Depth: p.Depth, Stated: p.Stated, VJobs: p.VJobs, VMs: p.VMs,
		CPU: wire.PoolCPU{
			Reservation: p.CPU.Reservation, Reserved: int64(p.Reserved.CPU), Limit: limited(p.CPU.Limit), Shares: p.CPU.Shares,
			Demand: int64(p.Demand.CPU), Entitlement: int64(p.Given.CPU), Used: int64(p.Used.CPU),
		},
		Memory: wire.PoolMemory{
			Reservation: p.Memory.Reservation, Reserved: int64(p.Reserved.Memory), Limit: limited(p.Memory.Limit), Shares: p.Memory.Shares,
			Demand: int64(p.Demand.Memory), Entitlement: int64(p.Given.Memory), Used: int64(p.Used.Memory),
		},
	}
	if p.Parent >= 0 {
		w.Parent = pools[p.Parent].Name
	}
	return w
}

// limited returns a limit for JSON; nil without one.
func limited(limit int64) *int64 {
	if limit == pool.Unlimited {
		return nil
	}
	return &limit
}

// show answers GET /v1/pools/{name}. Users see their own vjobs in it.
func (h *poolHandler) show(c *gin.Context, caller Subject) error {
	now, name := h.snapshot(), c.Param("name")
	i := slices.IndexFunc(now.Pools.Pools, func(p scheduler.PoolStatus) bool { return p.Name == name })
	if i < 0 {
		return fmt.Errorf("pool %s: %w", cluster.Shortened(name, 64), cluster.ErrNotFound)
	}
	out := wire.PoolDetail{Pool: wirePool(now.Counted(), i), Members: []wire.PoolVJob{}}
	if i == 0 {
		name = ""
	}
	for id, status := range now.VJobs.All() {
		if status.Pool != name || !caller.maySee(status.Owner) {
			continue
		}
		job := wire.PoolVJob{ID: int64(id), Owner: status.Owner, State: status.State.String(), VMs: []wire.PoolVM{}}
		for rank, e := range status.Entitled {
			if e.Weight == 0 {
				continue
			}
			vm := wire.PoolVM{ID: cluster.VMID{VJob: id, Rank: rank}.String(), Entitlement: wireEntitlement(&e)}
			if rank < len(status.Gang.Members) {
				vm.Node = string(status.Gang.Members[rank].Node)
			}
			job.VMs = append(job.VMs, vm)
		}
		out.Members = append(out.Members, job)
	}
	return answerTagged(c, http.StatusOK, now.Pools.Revision(i), out)
}

func wireEntitlement(e *entitlement.Entitled) wire.Entitlement {
	return wire.Entitlement{
		CPUDemand: int64(e.Demand.CPU), CPU: int64(e.Given.CPU), CPUWeight: e.Weight, CPUCap: int64(e.Cap), Memory: int64(e.Given.Memory),
	}
}

// set answers PUT /v1/pools/{name}.
func (h *poolHandler) set(c *gin.Context, caller Subject) error {
	var body wire.PoolChange
	if err := readBody(c, &body); err != nil {
		return err
	}
	s := pool.PoolStatement{
		Name: c.Param("name"), Parent: body.Parent,
		Statement: pool.Statement{CPU: pool.Stated(body.CPU), Memory: pool.Stated(body.Memory)},
	}
	if err := cluster.CheckName("name", s.Name); err != nil {
		return err
	}
	err := h.audit.do(c.Request.Context(), h.audit.entry(caller, journal.AuditPools, s.Name, truncate(s.String())), func(act journal.Audit) error {
		return h.scheduler.SetPool(c.Request.Context(), s, act)
	})
	if err != nil {
		return err
	}
	return noContent(c)
}

// remove answers DELETE /v1/pools/{name}.
func (h *poolHandler) remove(c *gin.Context, caller Subject) error {
	name := c.Param("name")
	if err := cluster.CheckName("name", name); err != nil {
		return err
	}
	err := h.audit.do(c.Request.Context(), h.audit.entry(caller, journal.AuditPools, name, "deleted"), func(act journal.Audit) error {
		return h.scheduler.DeletePool(c.Request.Context(), name, act)
	})
	if err != nil {
		return err
	}
	return noContent(c)
}
