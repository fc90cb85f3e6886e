package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"github.com/gin-gonic/gin"

	"vjob/api/wire"
	"vjob/cluster"
	"vjob/ctxswitch/journal"
	"vjob/scheduler"
)

// recommendationReader reads recommendations from the store.
type recommendationReader interface {
	Recommendations(ctx context.Context, f journal.RecommendationFilter) ([]journal.Recommendation, error)
	Recommendation(ctx context.Context, id journal.RecommendationID) (journal.Recommendation, error)
}

// recommendationService is the part of the scheduler that decides on recommendations.
type recommendationService interface {
	// Approve approves a recommendation. It fails with ErrNotFound if it is not open, and with ErrConflict if
	// the cluster has changed since.
	Approve(ctx context.Context, id journal.RecommendationID, act journal.Audit) error
	Reject(ctx context.Context, id journal.RecommendationID, why string, act journal.Audit) error
}

// recommendationHandler answers requests for recommendations.
type recommendationHandler struct {
	recommendations recommendationReader
	scheduler       recommendationService
	audit           *auditLog
	snapshot        func() *scheduler.Snapshot
}

// list answers GET /v1/recommendations.
func (h *recommendationHandler) list(c *gin.Context, _ Subject) error {
	q := queryReader{c: c}
	f := journal.RecommendationFilter{
		Limit: q.limit(100) + 1, Before: journal.RecommendationID(q.cursor()),
		Kind: journal.RecommendationKind(c.Query("kind")), State: journal.RecommendationState(c.Query("state")),
	}
	if q.err != nil {
		return q.err
	}
	if f.Kind != "" && !slices.Contains(journal.RecommendationKinds, f.Kind) {
		return cluster.BadField("kind", string(f.Kind), cluster.OneOf(journal.RecommendationKinds))
	}
	if f.State != "" && !slices.Contains(journal.RecommendationStates, f.State) {
		return cluster.BadField("state", string(f.State), cluster.OneOf(journal.RecommendationStates))
	}
	found, err := h.recommendations.Recommendations(c.Request.Context(), f)
	if err != nil {
		return err
	}
	found, next := cut(c, found, f.Limit-1, func(r *journal.Recommendation) string { return number(r.ID) })
	list := wire.RecommendationList{Recommendations: make([]wire.Recommendation, len(found)), Next: next}
	for i := range found {
		list.Recommendations[i] = wireRecommendation(&found[i])
	}
	if len(found) == 0 && f.State == journal.RecommendationPending && f.Before == 0 {
		list.NotMade = notMade(h.snapshot(), f.Kind)
	}
	return answer(c, http.StatusOK, list)
}

// show answers GET /v1/recommendations/{id}.
func (h *recommendationHandler) show(c *gin.Context, _ Subject) error {
	id, err := pathID(c)
	if err != nil {
		return err
	}
	return h.answer(c, journal.RecommendationID(id))
}

// answer answers with a recommendation as it is stored.
func (h *recommendationHandler) answer(c *gin.Context, id journal.RecommendationID) error {
	found, err := h.recommendations.Recommendation(c.Request.Context(), id)
	if err != nil {
		return err
	}
	return answer(c, http.StatusOK, wireRecommendation(&found))
}

// approve answers POST /v1/recommendations/{id}/approve.
func (h *recommendationHandler) approve(c *gin.Context, caller Subject) error {
	return h.decide(c, caller, "approved", h.scheduler.Approve)
}

// maxWhy bounds the reason of a rejection, in bytes.
const maxWhy = 1000

// reject answers POST /v1/recommendations/{id}/reject.
func (h *recommendationHandler) reject(c *gin.Context, caller Subject) error {
	var body wire.Rejection
	if err := readBody(c, &body); err != nil {
		return err
	}
	if err := check(len(body.Why) <= maxWhy && cluster.Printable(body.Why, ""), "why", body.Why, fmt.Sprintf("one line of at most %d bytes", maxWhy)); err != nil {
		return err
	}
	return h.decide(c, caller, "rejected", func(ctx context.Context, id journal.RecommendationID, act journal.Audit) error {
		return h.scheduler.Reject(ctx, id, body.Why, act)
	})
}

// decide decides on a recommendation and answers with it as it is then. Of one that is not open it says what became
// of it.
func (h *recommendationHandler) decide(
	c *gin.Context, caller Subject, what string, do func(context.Context, journal.RecommendationID, journal.Audit) error,
) error {
	number, err := pathID(c)
	if err != nil {
		return err
	}
	id, ctx := journal.RecommendationID(number), c.Request.Context()
	entry := h.audit.entry(caller, journal.AuditRecommendation, strconv.FormatInt(number, 10), what)
	err = h.audit.do(ctx, entry, func(act journal.Audit) error { return do(ctx, id, act) })
	if errors.Is(err, cluster.ErrNotFound) {
		if past, missing := h.recommendations.Recommendation(ctx, id); missing == nil {
			text := string(past.State)
			if past.Note != "" {
				text += ": " + past.Note
			}
			return fmt.Errorf("recommendation %d is %s: %w", id, text, cluster.ErrConflict)
		}
	}
	if err != nil {
		return err
	}
	return h.answer(c, id)
}

func wireRecommendation(r *journal.Recommendation) wire.Recommendation {
	w := wire.Recommendation{
		ID: int64(r.ID), Kind: string(r.Kind), State: string(r.State), At: r.At.UTC(), Expires: r.Expires.UTC(), Changes: r.Changes(), Reason: r.Reason,
		VJob: int64(r.VJob), Node: string(r.Node), On: cluster.NodeNames(r.On), Off: cluster.NodeNames(r.Off),
		ImbalanceBefore: r.Before.Imbalance, ImbalanceAfter: r.After.Imbalance, WattsBefore: watts(r.Before.Watts), WattsAfter: watts(r.After.Watts),
		BenefitSeconds: r.Benefit, CostSeconds: r.Cost, By: r.By, Decided: instant(r.Decided), Note: r.Note, Plan: int64(r.Plan),
	}
	w.Moves = wireMoves(r.Moves)
	for _, id := range r.DependsOn {
		w.DependsOn = append(w.DependsOn, int64(id))
	}
	for i := range r.Prerequisites {
		w.Prerequisites = append(w.Prerequisites, wirePrerequisite(&r.Prerequisites[i]))
	}
	return w
}

func wirePrerequisite(p *journal.Prerequisite) wire.Prerequisite {
	w := wire.Prerequisite{
		VJob: int64(p.VJob), Off: string(p.Off), Moves: wireMoves(p.Moves), Leave: make([]int64, len(p.Leave)), Plan: int64(p.Plan),
		Change: p.Change(), After: p.Text(),
	}
	if p.VM != (cluster.VMID{}) {
		w.VM = p.VM.String()
	}
	for i, id := range p.Leave {
		w.Leave[i] = int64(id)
	}
	return w
}

func wireMoves(moves []cluster.Move) []wire.Move {
	list := make([]wire.Move, len(moves))
	for i, m := range moves {
		list[i] = wire.Move{VM: m.VM.String(), From: string(m.From), To: string(m.To)}
	}
	return list
}
