package api_test

import (
	"fmt"
	"net/http"
	"testing"

	"vjob/api/wire"
	"vjob/cluster"
)

// The message of a refusal does not end with the word that its code says.
func TestConflictsSayWhy(t *testing.T) {
	b := newFixture(t)
	b.populate()
	b.scheduler.fail = fmt.Errorf("vjob 1 is waiting: it is not held: %w", cluster.ErrConflict)
	e := read[wire.Error](t, b.as("alice", "POST", "/v1/vjobs/1/release", ""), http.StatusConflict)
	if e.Error.Code != wire.CodeConflict || e.Error.Message != "vjob 1 is waiting: it is not held" {
		t.Errorf("%+v", e)
	}
}
