package api

import (
	"fmt"
	"slices"
	"strings"

	"vjob/api/wire"
	"vjob/cluster"
	"vjob/ctxswitch/journal"
	"vjob/scheduler"
)

// notMade returns why nothing waits for approval, of a kind or of all kinds ("").
func notMade(now *scheduler.Snapshot, kind journal.RecommendationKind) (list []wire.NotMade) {
	var automatic []string
	for _, k := range journal.RecommendationKinds {
		if kind != "" && kind != k {
			continue
		}
		improves := k == journal.RecommendBalance || k == journal.RecommendConsolidate
		if !now.Recommendations.Manual[k] && (!improves || now.ManualVJobs == 0) {
			automatic = append(automatic, string(k))
			continue
		}
		why, see := "", ""
		switch k {
		case journal.RecommendStart:
			why, see = "no waiting vjob could start now", "vjob list"
		case journal.RecommendBalance:
			why, see = balanceNotMade(now), "vjob balance"
		case journal.RecommendConsolidate:
			why, see = consolidationNotMade(now), "vjob energy consolidation"
		case journal.RecommendDrain:
			why, see = drainNotMade(now), "vjob nodes"
		case journal.RecommendPower:
			why, see = "power management has no node to switch", "vjob nodes"
			if !now.Recommendations.Manages {
				why = "power management is off (power.manage in the settings)"
			}
		}
		list = append(list, wire.NotMade{Kinds: []string{string(k)}, Why: why, See: see})
	}
	if len(automatic) > 0 {
		list = append(list, wire.NotMade{Kinds: automatic, Why: "automatic: changes begin without approval (automation in the settings)", See: "vjob recommendations --all"})
	}
	return list
}

const rejectedLately = "what the last search found was rejected lately and is not repeated for a while (vjob recommendations --state rejected)"

// balanceNotMade returns why no moves for balance wait.
func balanceNotMade(now *scheduler.Snapshot) string {
	b := &now.Balance
	switch {
	case !b.Enabled:
		return "balance is off (balance.when in the settings)"
	case b.At.IsZero():
		return "no search has been made since the daemon was started: one follows when nothing else is to be done"
	case now.Recommendations.States[journal.RecommendBalance][journal.RecommendationRejected] > 0 && len(b.Moves)+len(b.Waiting) > 0:
		return rejectedLately
	case len(b.Held) > 0:
		held := &b.Held[0]
		why := fmt.Sprintf("%s; %s is held back: %s", b.Why, held.Node, held.Why)
		if n := len(b.Held) - 1; n > 0 {
			why += fmt.Sprintf("; and %d more", n)
		}
		return why
	}
	return b.Why
}

// consolidationNotMade returns why no moves for less power wait.
func consolidationNotMade(now *scheduler.Snapshot) string {
	c := &now.Consolidation
	switch {
	case !c.Enabled:
		return "consolidation is off, or nothing asks for less power (energy.consolidate.when in the settings)"
	case c.Last.At.IsZero():
		return "no search has been made since the daemon was started: one follows when nothing else is to be done"
	case now.Recommendations.States[journal.RecommendConsolidate][journal.RecommendationRejected] > 0 && len(c.Last.Moves) > 0:
		return rejectedLately
	case c.Last.Why == "":
		return "what the last search found has begun"
	}
	return c.Last.Why
}

// drainNotMade returns why no drain waits.
func drainNotMade(now *scheduler.Snapshot) string {
	var list []string
	for _, n := range now.Nodes {
		if n.State == cluster.Draining && len(n.VMs) > 0 {
			list = append(list, strings.TrimSuffix(fmt.Sprintf("%s: %s", n.ID, n.Problem), ": "))
		}
	}
	if len(list) == 0 {
		return "no drained node has VMs"
	}
	slices.Sort(list)
	return "no VM could leave the drained nodes now: " + strings.Join(list, "; ")
}
