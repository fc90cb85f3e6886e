package api_test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"

	"vjob/api/wire"
)

func TestWalltime(t *testing.T) {
	b := newFixture(t)
	job := read[wire.VJob](t, b.as("alice", "POST", "/v1/vjobs", small), http.StatusCreated)
	path := fmt.Sprintf("/v1/vjobs/%d", job.ID)
	read[wire.VJob](t, b.as("alice", "PATCH", path, `{"walltime_seconds":90}`), http.StatusOK)
	if want := fmt.Sprintf("walltime 1m30s of %d by alice, administrator: false", job.ID); !slices.Contains(b.scheduler.recorded(), want) {
		t.Errorf("asked: %q, want %q", b.scheduler.recorded(), want)
	}
	for body, want := range map[string]int{
		`{}`: http.StatusBadRequest, `{"walltime_seconds":-1}`: http.StatusBadRequest, `{"priority":7}`: http.StatusBadRequest,
	} {
		if res := b.as("alice", "PATCH", path, body); res.Code != want {
			t.Errorf("%s: %d %s", body, res.Code, res.Body)
		}
	}
	if res := b.as("bob", "PATCH", path, `{"walltime_seconds":90}`); res.Code != http.StatusNotFound {
		t.Errorf("a vjob of another user: %d %s", res.Code, res.Body)
	}
}
