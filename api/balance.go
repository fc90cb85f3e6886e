package api

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"vjob/api/wire"
	"vjob/cluster"
	"vjob/scheduler"
	"vjob/scheduler/decide"
)

// balanceHandler answers requests for the balance of the nodes.
type balanceHandler struct{ snapshot func() *scheduler.Snapshot }

// show answers GET /v1/balance.
func (h *balanceHandler) show(c *gin.Context, _ Subject) error {
	now := &h.snapshot().Balance
	held := map[cluster.NodeID]*decide.HeldNode{}
	for i := range now.Held {
		held[now.Held[i].Node] = &now.Held[i]
	}
	w := wire.Balance{
		Enabled: now.Enabled, Placement: string(now.Placement), At: instant(now.At), NextAt: instant(now.Next),
		Imbalance: now.Before.Total, ImbalanceAfter: now.After.Total, Plan: int64(now.PlanID), Why: now.Why, VMsMoved: now.Moved,
		Nodes: make([]wire.NodeLoad, len(now.Loads)), Moves: wireBalanceMoves(now.Moves), Waiting: wireBalanceMoves(now.Waiting),
	}
	for i := range now.Loads {
		l := &now.Loads[i]
		w.Nodes[i] = wire.NodeLoad{Node: string(l.Node), CPU: l.CPU[0], CPUAfter: l.CPU[1], Memory: l.Memory[0], MemoryAfter: l.Memory[1]}
		if l.Network != nil {
			w.Nodes[i].Network, w.Nodes[i].NetworkAfter = &l.Network[0], &l.Network[1]
		}
		if h := held[l.Node]; h != nil {
			w.Nodes[i].Over, w.Nodes[i].Held, w.Nodes[i].VMs = h.Over, h.Why, h.VMs
		}
	}
	return answer(c, http.StatusOK, w)
}

func wireBalanceMoves(moves []decide.BalanceMove) []wire.BalanceMove {
	list := make([]wire.BalanceMove, len(moves))
	for i := range moves {
		m := &moves[i]
		list[i] = wire.BalanceMove{
			Move: wire.Move{VM: m.VM.String(), From: string(m.From), To: string(m.To)}, Gain: m.Gain,
			BenefitSeconds: m.Benefit.Seconds(), CostSeconds: m.Cost.Seconds(), Reason: m.Reason, After: m.After,
		}
	}
	return list
}
