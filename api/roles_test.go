package api_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"vjob/api"
	"vjob/api/wire"
	"vjob/ctxswitch/journal"
)

// bodies are requests that would succeed, for the operations that read one.
var bodies = map[string]string{
	"changeVJob":           `{"walltime_seconds":60}`,
	"submitVJob":           `{"template":{"cpu_milli":1,"memory_mib":1},"count":1}`,
	"changeNode":           `{"state":"draining"}`,
	"changeNodes":          `{"names":["n1"],"state":"draining"}`,
	"switchNode":           `{"power":"off"}`,
	"createUser":           `{"name":"carol","role":"user"}`,
	"setPool":              `{"cpu":{"reservation":"1"}}`,
	"setBudgets":           `{"budgets":[]}`,
	"setPrices":            `{"csv":""}`,
	"setRules":             `{"text":"ban($ALL_VMS, n1);"}`,
	"askWhatIf":            `{"submit":{"template":{"cpu_milli":1,"memory_mib":1},"count":1}}`,
	"changeUser":           `{"groups":["staff"]}`,
	"createToken":          `{"expires_in_seconds":60}`,
	"restoreVJob":          `{}`,
	"acknowledgeAlarm":     `{"comment":"disk ordered"}`,
	"reloadSettings":       `{"check":true}`,
	"rejectRecommendation": `{"why":"not now"}`,
}

// expectedStatus is the status that an operation owes to a caller, written down without
// looking at how the server decides. vjob 1 is alice's.
func expectedStatus(r api.Route, caller string) int {
	open := []string{"getHealth", "getOpenAPI", "getRoot", "getIndex"}
	reserved := []string{
		"getBackup", "reloadSettings", "getDoctor", "changeNode", "changeNodes", "drainNode", "onlineNode", "switchNode", "getRules", "setRules", "setBudgets", "setPrices", "setPool", "deletePool", "getConsolidation",
		"listUsers", "getUser", "createUser", "changeUser", "deleteUser", "listAudit", "listOrphans", "deleteOrphan", "restoreVJob",
		"getBalance", "listRecommendations", "getRecommendation", "approveRecommendation", "rejectRecommendation", "listAlarms", "acknowledgeAlarm",
	}
	ofTokens := strings.HasPrefix(r.Path, "/v1/users/{name}/tokens") // those of bob
	ofVJob := strings.HasPrefix(r.Path, "/v1/vjobs/{id}")
	switch {
	case slices.Contains(open, r.Operation):
		return r.Status
	case caller == "":
		return http.StatusUnauthorized
	case r.Operation == "attachVJob" && caller == "root":
		return http.StatusForbidden // only the owner may attach
	case r.Operation == "attachVJob" && caller == "alice":
		return http.StatusBadRequest // she does not ask for the connection to become a line
	case caller == "root":
		return r.Status
	case slices.Contains(reserved, r.Operation):
		return http.StatusForbidden
	case caller == "alice" && ofTokens:
		return http.StatusForbidden
	case caller == "bob" && ofVJob:
		return http.StatusNotFound
	}
	return r.Status
}

// TestEveryRouteByRole walks the table of endpoints with every kind of caller:
// unauthenticated, the owner, another user, an administrator.
func TestEveryRouteByRole(t *testing.T) {
	for _, caller := range []string{"", "alice", "bob", "root"} {
		b := newFixture(t, func(c *api.Config) { c.Limits.UnauthenticatedPerSecond = 1e6 })
		b.populate()
		b.raise()
		routes := api.Routes()
		if len(routes) < 25 {
			t.Fatalf("only %d routes", len(routes))
		}
		for _, r := range routes {
			spare := int64(0)
			if strings.Contains(r.Path, "/tokens/") {
				spare = b.extraToken("bob")
			}
			path := strings.NewReplacer("/vjobs/{id}", "/vjobs/1", "/plans/{id}", "/plans/1", "/recommendations/{id}", "/recommendations/1", "/alarms/{id}", "/alarms/1", "/nodes/{name}", "/nodes/n1", "/pools/{name}", "/pools/physics",
				"/users/{name}/tokens/{id}", fmt.Sprintf("/users/bob/tokens/%d", spare), "/users/{name}", "/users/bob").Replace(r.Path)
			before := len(b.scheduler.recorded())
			res := b.as(caller, r.Method, path, bodies[r.Operation])
			// A removed bob still holds vjobs, so removing the account is a conflict.
			want := expectedStatus(r, caller)
			if r.Operation == "deleteUser" && want == http.StatusNoContent {
				want = http.StatusConflict
			}
			if res.Code != want {
				t.Errorf("%q %s %s: status %d, want %d: %s", caller, r.Method, path, res.Code, want, res.Body)
			}
			if res.Code >= 400 {
				if e := read[wire.Error](t, res, want); e.Error.Code == "" || e.Error.Message == "" {
					t.Errorf("%q %s %s: error %+v", caller, r.Method, path, e)
				}
				if len(b.scheduler.recorded()) != before {
					t.Errorf("%q %s %s was refused and yet did %v", caller, r.Method, path, b.scheduler.recorded()[before:])
				}
			}
		}
	}
}

// extraToken makes one more token, which the caller does not use.
func (b *fixture) extraToken(user string) (id int64) {
	b.tb.Helper()
	b.token(user, time.Time{})
	tokens, err := b.scheduler.Tokens(b.tb.Context(), user)
	b.must(err)
	return tokens[len(tokens)-1].ID
}

// TestForeignLooksLikeMissing: what another user's vjob answers tells nothing.
func TestForeignLooksLikeMissing(t *testing.T) {
	b := newFixture(t)
	b.populate()
	for _, r := range api.Routes() {
		if !strings.HasPrefix(r.Path, "/v1/vjobs/{id}") || r.Least == "admin" {
			continue
		}
		foreign := b.as("alice", r.Method, strings.Replace(r.Path, "{id}", "2", 1), "")
		missing := b.as("alice", r.Method, strings.Replace(r.Path, "{id}", "7", 1), "")
		if foreign.Code != 404 || strings.ReplaceAll(foreign.Body.String(), "2", "7") != missing.Body.String() {
			t.Errorf("%s %s: %s and %s differ", r.Method, r.Path, foreign.Body, missing.Body)
		}
	}
	foreign, missing := b.as("alice", "GET", "/v1/events?vjob=2", ""), b.as("alice", "GET", "/v1/events?vjob=7", "")
	if foreign.Code != 404 || missing.Code != 404 {
		t.Errorf("events: %d and %d", foreign.Code, missing.Code)
	}
}

// TestUsersSeeTheirOwn: lists and views hold nothing of others.
func TestUsersSeeTheirOwn(t *testing.T) {
	b := newFixture(t)
	b.populate()
	if res := b.as("alice", "GET", "/v1/vjobs?owner=bob", ""); res.Code != http.StatusForbidden {
		t.Errorf("the list of another: %d", res.Code)
	}
	if l := read[wire.VJobList](t, b.as("root", "GET", "/v1/vjobs?owner=bob", ""), 200); l.Total != 1 {
		t.Errorf("an administrator gets %+v", l)
	}
	st := read[wire.Status](t, b.as("alice", "GET", "/v1/status", ""), 200)
	if len(st.VJobs) != 1 || len(st.Running) != 1 || len(st.Nodes[0].VMs) != 1 || st.Nodes[0].Problem != "" || st.Nodes[0].Warnings != nil {
		t.Errorf("alice's status is %+v", st)
	}
	st = read[wire.Status](t, b.as("root", "GET", "/v1/status", ""), 200)
	if len(st.VJobs) != 2 || len(st.Running) != 2 || len(st.Nodes[0].VMs) != 2 || st.Nodes[0].Problem != "cable" || len(st.Nodes[0].Warnings) != 1 {
		t.Errorf("root's status is %+v", st)
	}
	plan := read[wire.Plan](t, b.as("bob", "GET", "/v1/plans/1", ""), 200)
	if len(plan.Actions) != 1 || plan.Actions[0].VM != "2.0" || plan.Actions[0].After != nil || plan.Note != "" || plan.ActionCount != 1 {
		t.Errorf("bob's plan is %+v", plan)
	}
	if note := plan.Actions[0].Note; note != "boot of VMs of another user, which it waited for, was given up" {
		t.Errorf("bob reads %q", note)
	}
	plan = read[wire.Plan](t, b.as("root", "GET", "/v1/plans/1", ""), 200)
	if len(plan.Actions) != 2 || plan.Note != "secret" || plan.TookSeconds != 7 || plan.State != "done" {
		t.Errorf("root's plan is %+v", plan)
	}
	b.must(b.scheduler.CreateUser(t.Context(), journal.User{Name: "dora", Role: journal.RoleUser}, journal.Audit{}))
	b.tokens["dora"] = b.token("dora", time.Time{})
	if res := b.as("dora", "GET", "/v1/plans/1", ""); res.Code != 404 {
		t.Errorf("a plan without vjobs of the caller: %d", res.Code)
	}
	events := read[wire.EventList](t, b.as("alice", "GET", "/v1/events", ""), 200)
	for _, e := range events.Events {
		if e.VJob != 1 {
			t.Errorf("alice gets %+v", e)
		}
	}
	if len(events.Events) == 0 || events.Last != events.Events[len(events.Events)-1].Seq {
		t.Errorf("alice gets %+v", events)
	}
}

func TestOrdersAndNodes(t *testing.T) {
	b := newFixture(t)
	b.populate()
	for _, r := range [][3]string{
		{"alice", "POST", "/v1/vjobs/1/hold"},
		{"root", "DELETE", "/v1/vjobs/2"},
		{"root", "POST", "/v1/nodes/n1/drain"},
		{"root", "POST", "/v1/nodes/n1/online"},
	} {
		b.as(r[0], r[1], r[2], "")
	}
	b.as("root", "POST", "/v1/nodes/n1/power", `{"power":"off"}`)
	b.as("root", "PATCH", "/v1/nodes/n1", `{"state":"down","fenced":true}`)
	b.as("root", "PATCH", "/v1/nodes", `{"names":["n1","n2"],"state":"draining"}`)
	want := "hold 1 by alice, delete 2 by root, n1 draining by root, n1 online by root, n1 power off by root, n1 down by root, n1,n2 draining by root"
	if got := strings.Join(b.scheduler.recorded(), ", "); got != want {
		t.Errorf("got %s", got)
	}
	if res := b.as("root", "POST", "/v1/nodes/n9/drain", ""); res.Code != 404 {
		t.Errorf("an unknown node: %d", res.Code)
	}
}

func TestCredentials(t *testing.T) {
	b := newFixture(t, func(c *api.Config) {
		c.Now = func() time.Time { return epoch }
		c.Limits.UnauthenticatedPerSecond = 1e6
	})
	revoked := b.token("alice", time.Time{})
	b.must(b.scheduler.RevokeToken(t.Context(), "alice", 4, journal.Audit{}))
	good := b.token("alice", epoch.Add(time.Second))
	bodies := map[string]bool{}
	for name, header := range map[string]string{
		"none": "", "scheme only": "Bearer", "basic": "Basic " + good, "empty": "Bearer ", "short": "Bearer vjob_x",
		"unknown": "Bearer " + api.NewSecret(), "revoked": "Bearer " + revoked,
		"expired": "Bearer " + b.token("alice", epoch), "twice": "Bearer " + good + " " + good,
		"long": "Bearer " + good + "x", "other case": "Bearer " + strings.ToUpper(good), "bare": good,
	} {
		res := b.as("", "GET", "/v1/whoami", "", "Authorization", header)
		if res.Code != 401 || res.Header().Get("WWW-Authenticate") == "" {
			t.Errorf("%s: %d", name, res.Code)
		}
		bodies[res.Body.String()] = true
	}
	if len(bodies) != 1 {
		t.Errorf("the answers tell wrong credentials apart: %v", bodies)
	}
	caller := read[wire.Identity](t, b.as("", "GET", "/v1/whoami", "", "Authorization", "bearer "+good, "X-Forwarded-For", "127.0.0.1"), 200)
	if caller != (wire.Identity{Name: "alice", Role: "user", Via: "token"}) {
		t.Errorf("got %+v", caller)
	}
}

func TestTokensThroughTheAPI(t *testing.T) {
	b := newFixture(t)
	read[wire.User](t, b.as("root", "POST", "/v1/users", `{"name":"carol","role":"admin"}`), 201)
	made := read[wire.Token](t, b.as("root", "POST", "/v1/users/carol/tokens", `{"expires_in_seconds":3600}`), 201)
	if made.Expires == nil || len(made.Secret) < 48 {
		t.Fatalf("got %+v", made)
	}
	b.tokens["carol"] = made.Secret
	if caller := read[wire.Identity](t, b.as("carol", "GET", "/v1/whoami", ""), 200); caller.Role != "admin" {
		t.Errorf("got %+v", caller)
	}
	list := b.as("root", "GET", "/v1/users/carol/tokens", "")
	if strings.Contains(list.Body.String(), made.Secret) {
		t.Error("the secret is listed")
	}
	if res := b.as("root", "DELETE", fmt.Sprintf("/v1/users/alice/tokens/%d", made.ID), ""); res.Code != 404 {
		t.Errorf("a token of another user: %d", res.Code)
	}
	if res := b.as("root", "DELETE", fmt.Sprintf("/v1/users/carol/tokens/%d", made.ID), ""); res.Code != 204 {
		t.Errorf("revoke: %d", res.Code)
	}
	if res := b.as("carol", "GET", "/v1/whoami", ""); res.Code != 401 {
		t.Errorf("a revoked token: %d", res.Code)
	}
	for path, want := range map[string]int{"/v1/users/carol": 204, "/v1/users/unknown": 404, "/v1/users/root": 409} {
		if res := b.as("root", "DELETE", path, ""); res.Code != want {
			t.Errorf("delete %s: %d", path, res.Code)
		}
	}
}

// TestCan: whatever mixture of objects a request is resolved to, a user touches
// only their own, and nothing is never allowed.
func TestCan(t *testing.T) {
	names := rapid.SampledFrom([]string{"", "alice", "bob"})
	kinds := rapid.SampledFrom([]api.Kind{api.KindVJob, api.KindToken, api.KindCluster, api.KindPlans, api.KindAccount, api.KindSelf, "new"})
	verbs := rapid.SampledFrom([]api.Verb{api.Read, api.Create, api.Change, "new"})
	roles := rapid.SampledFrom([]journal.Role{journal.RoleUser, journal.RoleAdmin, "", "root"})
	rapid.Check(t, func(t *rapid.T) {
		s := api.Subject{Name: names.Draw(t, "name"), Role: roles.Draw(t, "role")}
		verb := verbs.Draw(t, "verb")
		objects := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) api.Object {
			return api.Object{Kind: kinds.Draw(t, "kind"), Owner: names.Draw(t, "owner")}
		}), 0, 4).Draw(t, "objects")
		want := len(objects) > 0 && s.Name != ""
		for _, o := range objects {
			own := (o.Kind == api.KindVJob || o.Kind == api.KindToken) && o.Owner == s.Name
			common := verb == api.Read && (o.Kind == api.KindCluster || o.Kind == api.KindSelf)
			want = want && (s.Role == journal.RoleAdmin || s.Role == journal.RoleUser && (own || common))
		}
		if got := api.CanAll(s, verb, objects...); got != want {
			t.Fatalf("CanAll(%+v, %s, %+v) = %t", s, verb, objects, got)
		}
	})
}
