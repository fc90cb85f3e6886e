package api_test

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"

	"vjob/api"
	"vjob/api/wire"
)

// operator is a daemon of which only the requests are recorded.
type operator struct {
	mu   sync.Mutex
	asks []string
}

// Reload records the caller.
func (o *operator) Reload(_ context.Context, by, from string, check bool) (wire.Reload, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.asks = append(o.asks, by)
	return wire.Reload{File: "/etc/vjob/vjobd.yaml", Applied: !check, Restart: 1, Changes: []wire.SettingChange{
		{Setting: "queues.night.priority", Kind: "changed", Old: "5", New: "10", Effect: "live"},
		{Setting: "state", Kind: "changed", Old: "/a", New: "/b", Effect: "restart"},
	}}, nil
}

// Doctor returns one finding.
func (*operator) Doctor(context.Context) (wire.Doctor, error) {
	return wire.Doctor{Version: "1", Level: "green", Findings: []wire.Finding{{Check: "store", Level: "green", Text: "sound"}}}, nil
}

// Only administrators have the settings read, and the answer says what changes.
func TestReload(t *testing.T) {
	o := &operator{}
	b := newFixture(t, func(c *api.Config) { c.Operator = o })
	for caller, want := range map[string]int{"": http.StatusUnauthorized, "alice": http.StatusForbidden} {
		if res := b.as(caller, "POST", "/v1/admin/reload", "{}"); res.Code != want {
			t.Errorf("%q: status %d, want %d: %s", caller, res.Code, want, res.Body)
		}
	}
	if len(o.asks) > 0 {
		t.Errorf("the settings were read for %v", o.asks)
	}
	done := read[wire.Reload](t, b.as("root", "POST", "/v1/admin/reload", `{}`), http.StatusOK)
	if !done.Applied || len(done.Changes) != 2 || done.Changes[0].New != "10" {
		t.Errorf("got %+v", done)
	}
	if done := read[wire.Reload](t, b.as("root", "POST", "/v1/admin/reload", `{"check":true}`), http.StatusOK); done.Applied {
		t.Errorf("checked: %+v", done)
	}
	if res := b.as("root", "POST", "/v1/admin/reload", `{"chek":true}`); res.Code != http.StatusBadRequest && res.Code != http.StatusUnprocessableEntity {
		t.Errorf("a wrong key: %d", res.Code)
	}
	none := newFixture(t, func(c *api.Config) { c.Operator = nil })
	if res := none.as("root", "POST", "/v1/admin/reload", "{}"); res.Code != http.StatusConflict || !strings.Contains(res.Body.String(), "no settings") {
		t.Errorf("no settings: %d %s", res.Code, res.Body)
	}
}

// New requests see another configuration, and what all share stays: metrics count on, streams go on unless other local
// users may use the socket.
func TestReconfigure(t *testing.T) {
	var config api.Config
	b := newFixture(t, func(c *api.Config) { config = *c })
	if res := b.as("root", "GET", "/v1/images", ""); !strings.Contains(res.Body.String(), `"sim"`) {
		t.Fatalf("images: %s", res.Body)
	}
	config.Catalogue = catalogue{{ID: "other", Kind: "simulated"}}
	b.Reconfigure(config)
	if res := b.as("root", "GET", "/v1/images", ""); strings.Contains(res.Body.String(), `"sim"`) || !strings.Contains(res.Body.String(), `"other"`) {
		t.Errorf("images: %s", res.Body)
	}
	if res := b.as("root", "GET", "/metrics", ""); !strings.Contains(res.Body.String(), `vjob_http_requests_total{code="200",method="GET",route="/v1/images"} 2`) {
		t.Errorf("the metrics do not count both requests: %s", res.Body)
	}
}
