package api_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"vjob/api/wire"
	"vjob/cluster"
	"vjob/ctxswitch/journal"
)

// Recommendations are listed and decided on; of one that is not open the answer says what became of it.
func TestRecommendations(t *testing.T) {
	b := newFixture(t)
	b.populate()
	list := read[wire.RecommendationList](t, b.as("root", "GET", "/v1/recommendations?state=pending&kind=balance", ""), http.StatusOK)
	if len(list.Recommendations) != 1 {
		t.Fatalf("%+v", list)
	}
	r := &list.Recommendations[0]
	if r.Changes != "moves 1.0 from n1 to n2" || r.ImbalanceBefore != 0.5 || r.ImbalanceAfter != 0.125 || r.BenefitSeconds != 300 || r.CostSeconds != 12 {
		t.Errorf("%+v", r)
	}
	if p := r.Prerequisites; len(p) != 2 || p[0].VM != "1.0" || p[0].Change != "1.0" || p[0].After != "2.0 from n2 to n3, vjob 3 leaves its nodes" || p[0].Leave[0] != 3 ||
		p[0].Moves[0].To != "n3" || p[1].Change != "n1 goes off" || p[1].Off != "n1" || p[1].After != "context switch 1" {
		t.Errorf("%+v", p)
	}
	if all := read[wire.RecommendationList](t, b.as("root", "GET", "/v1/recommendations", ""), http.StatusOK); len(all.Recommendations) != 2 || all.Recommendations[0].Changes != "switches n3 off" {
		t.Errorf("%+v", all)
	}
	read[wire.Recommendation](t, b.as("root", "POST", "/v1/recommendations/1/approve", ""), http.StatusOK)
	read[wire.Recommendation](t, b.as("root", "POST", "/v1/recommendations/1/reject", `{"why":"not now"}`), http.StatusOK)
	if got := b.scheduler.recorded(); !slices.Equal(got, []string{"approve 1 by root", "reject 1 by root: not now"}) {
		t.Errorf("%v", got)
	}
	for _, c := range []struct {
		method, path, body string
		status             int
		want               string
	}{
		{"POST", "/v1/recommendations/2/approve", "", http.StatusConflict, "recommendation 2 is superseded: a later search"},
		{"POST", "/v1/recommendations/3/approve", "", http.StatusNotFound, "recommendation 3"},
		{"POST", "/v1/recommendations/0/approve", "", http.StatusBadRequest, "id"},
		{"POST", "/v1/recommendations/1/reject", `{"why":"two\nlines"}`, http.StatusBadRequest, "why"},
		{"GET", "/v1/recommendations?kind=none", "", http.StatusBadRequest, "kind"},
		{"GET", "/v1/recommendations?state=none", "", http.StatusBadRequest, "state"},
		{"GET", "/v1/recommendations/3", "", http.StatusNotFound, "recommendation 3"},
	} {
		res := b.as("root", c.method, c.path, c.body)
		if e := read[wire.Error](t, res, c.status); !strings.Contains(e.Error.Message, c.want) {
			t.Errorf("%s: %q, want %q", c.path, e.Error.Message, c.want)
		}
	}
}

func (l *fakeScheduler) Approve(_ context.Context, id journal.RecommendationID, act journal.Audit) error {
	if id != 1 {
		return fmt.Errorf("recommendation %d: %w", id, cluster.ErrNotFound)
	}
	return l.record("approve %d by %s", id, act.By)
}

func (l *fakeScheduler) Reject(_ context.Context, id journal.RecommendationID, why string, act journal.Audit) error {
	return l.record("reject %d by %s: %s", id, act.By, why)
}
