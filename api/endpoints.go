package api

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"vjob/api/wire"
	"vjob/ctxswitch/journal"
	"vjob/scheduler"
)

// endpoint is one operation of the API, as data.
type endpoint struct {
	method, path string
	operation    string // OpenAPI operationId
	summary      string
	access       accessLevel
	verb         Verb
	query        []param
	body         any          // zero value of the request body, nil without one
	status       int          // of success
	result       any          // zero value of the answer, nil without one
	media        string       // of the answer when it is not JSON
	class        requestClass // of its concurrency limit
	largeBody    bool         // its body may have the length of a submission
	handle       func(s *Server, c *gin.Context, caller Subject) error
	also         []any // zero values of other answers, by the query
	fail         Fail  // nil: the shape of /v1
	failure      any   // zero value of the answer of fail
}

// accessLevel is the access that an endpoint requires.
type accessLevel uint8

const (
	administrator accessLevel = iota // the zero value denies most
	authenticated                    // any user
	public                           // no credentials needed
)

// object returns an object that callers of the level may access by any verb: an account for
// administrators, an own vjob for users.
func (l accessLevel) object(caller Subject) Object {
	if l == authenticated {
		return Object{Kind: KindVJob, Owner: caller.Name}
	}
	return Object{Kind: KindAccount}
}

// param is one key of a query string.
type param struct {
	name string
	kind string // OpenAPI: string, integer, boolean
	many bool   // may be given more than once
	what string
}

var (
	offsetParam = param{name: "offset", kind: "integer", what: "entries to skip"}
	limitParam  = param{name: "limit", kind: "integer", what: "entries at most, from 1 to 10000"}
	arrayParam  = param{name: "array", kind: "boolean", what: "all vjobs of the array with this number that have not ended"}
	afterParam  = param{name: "after", kind: "integer", what: "only events with a larger sequence number"}
)

// endpoints is the table of the API.
func endpoints() []endpoint {
	table := []endpoint{
		{
			method: "GET", path: "/healthz", operation: "getHealth", summary: "Whether the daemon is ready, and why not",
			access: public, verb: Read, class: unbounded, status: 200, result: wire.Health{}, handle: (*Server).health,
		},
		{
			method: "GET", path: "/v1/openapi.json", operation: "getOpenAPI", summary: "This document",
			access: public, verb: Read, class: anonymous, status: 200, result: map[string]any{}, handle: (*Server).openAPI,
		},
		{
			method: "GET", path: "/metrics", operation: "getMetrics", summary: "Figures for Prometheus",
			access: authenticated, verb: Read, status: 200, media: "text/plain", handle: (*Server).exposition,
		},
		{
			method: "GET", path: "/v1/whoami", operation: "getIdentity", summary: "The caller as the server identifies it",
			access: authenticated, verb: Read, status: 200, result: wire.Identity{}, handle: (*Server).whoami,
		},
		{
			method: "GET", path: "/v1/status", operation: "getStatus", summary: "Nodes, live vjobs and running actions, in one call",
			access: authenticated, verb: Read, status: 200, result: wire.Status{}, handle: (*Server).status,
		},
		{
			method: "GET", path: "/v1/images", operation: "listImages", summary: "The catalogue of images",
			access: authenticated, verb: Read, status: 200, result: wire.ImageList{}, handle: (*Server).images,
		},
	}
	table = append(table, orphanEndpoints()...)
	table = append(table, vjobEndpoints()...)
	table = append(table, watchEndpoints()...)
	table = append(table, nodeEndpoints()...)
	table = append(table, queueEndpoints()...)
	table = append(table, ruleEndpoints()...)
	table = append(table, energyEndpoints()...)
	table = append(table, whatIfEndpoint(), scheduleEndpoint())
	return append(table, accountEndpoints()...)
}

func vjobEndpoints() []endpoint {
	table := []endpoint{
		{
			method: "GET", path: "/v1/vjobs", operation: "listVJobs", summary: "The vjobs that the caller may see",
			access: authenticated, verb: Read, status: 200, result: wire.VJobList{}, handle: (*Server).listVJobs,
			query: []param{
				{name: "state", kind: "string", many: true, what: "only vjobs in one of these states"},
				{name: "owner", kind: "string", what: "only vjobs of this owner (administrators)"},
				{name: "name", kind: "string", what: "only vjobs of this name"},
				{name: "live", kind: "boolean", what: "only vjobs that have not ended"},
				{name: "newest", kind: "boolean", what: "latest first"},
				{name: "array", kind: "integer", what: "only the vjobs of this array"},
				{name: "fold", kind: "boolean", what: "one entry for each array, with members"},
				offsetParam, limitParam,
			},
		},
		{
			method: "POST", path: "/v1/vjobs", operation: "submitVJob", summary: "Submit a vjob",
			access: authenticated, verb: Create, body: wire.Submission{}, largeBody: true, status: 201, result: wire.VJob{}, handle: (*Server).submit,
		},
		{
			method: "GET", path: "/v1/vjobs/:id", operation: "getVJob", summary: "One vjob in full",
			access: authenticated, verb: Read, status: 200, result: wire.VJobDetail{}, handle: (*Server).showVJob,
		},
		{
			method: "PATCH", path: "/v1/vjobs/:id", operation: "changeVJob", summary: "Change the walltime of a vjob",
			access: authenticated, verb: Change, body: wire.VJobChange{}, status: 200, result: wire.VJob{}, handle: (*Server).changeVJob,
		},
		{
			method: "DELETE", path: "/v1/vjobs/:id", operation: "deleteVJob", summary: "End a vjob",
			access: authenticated, verb: Change, status: 202, result: wire.VJob{}, handle: orderer(scheduler.OrderDelete),
			query: []param{arrayParam},
		},
		{
			method: "GET", path: "/v1/vjobs/:id/logs", operation: "getVJobLogs", summary: "The console output of one VM",
			access: authenticated, verb: Read, status: 200, media: "text/plain", class: logs, handle: (*Server).logs,
			query: []param{
				{name: "rank", kind: "integer", what: "of the VM; default: 0"},
				{name: "tail", kind: "integer", what: "only the last lines, at most 10000"},
			},
		},
	}
	table = append(table, endpoint{
		method: "GET", path: "/v1/vjobs/:id/console", operation: "attachVJob",
		summary: "Attach to a VM: with Upgrade: " + wire.ConsoleProtocol + " the connection becomes its second serial line, bytes both ways (owners only)",
		access:  authenticated, verb: Change, status: 101, media: "application/octet-stream", class: logs, handle: (*Server).attach,
		query: []param{{name: "rank", kind: "integer", what: "of the VM; default: 0"}},
	})
	for _, o := range []struct {
		order   scheduler.Order
		summary string
	}{
		{scheduler.OrderHold, "Hold a waiting vjob: it does not start until it is released"},
		{scheduler.OrderRelease, "Release a held vjob"},
		{scheduler.OrderSuspend, "Suspend a running vjob, and hold it"},
		{scheduler.OrderResume, "Release a suspended and held vjob, which may run again"},
		{scheduler.OrderRequeue, "Discard the progress of a vjob, and queue it again from scratch"},
	} {
		table = append(table, endpoint{
			method: "POST", path: "/v1/vjobs/:id/" + string(o.order), operation: string(o.order) + "VJob", summary: o.summary,
			access: authenticated, verb: Change, status: 202, result: wire.VJob{}, handle: orderer(o.order),
			query: []param{arrayParam},
		})
	}
	return table
}

func watchEndpoints() []endpoint {
	return []endpoint{
		{
			method: "GET", path: "/v1/plans", operation: "listPlans", summary: "The latest context switches",
			access: administrator, verb: Read, status: 200, result: wire.PlanList{}, handle: (*Server).listPlans,
			query: []param{limitParam, {name: "before", kind: "integer", what: "only plans with a smaller number"}},
		},
		{
			method: "GET", path: "/v1/plans/:id", operation: "getPlan", summary: "One context switch with its actions; users see those on their own vjobs",
			access: authenticated, verb: Read, status: 200, result: wire.Plan{}, handle: (*Server).showPlan,
		},
		{
			method: "GET", path: "/v1/events", operation: "listEvents", summary: "Events, oldest first: a list, or a stream of server-sent events when text/event-stream is accepted",
			access: authenticated, verb: Read, status: 200, result: wire.EventList{}, class: streams, handle: (*Server).events,
			query: []param{
				afterParam, limitParam,
				{name: "vjob", kind: "integer", what: "only events of this vjob"},
				{name: "latest", kind: "boolean", what: "the last events instead of the first; a stream begins now"},
			},
		},
	}
}

func nodeEndpoints() []endpoint {
	return []endpoint{
		{
			method: "GET", path: "/v1/nodes", operation: "listNodes", summary: "The nodes; users see their own VMs on them",
			access: authenticated, verb: Read, status: 200, result: wire.NodeList{}, handle: (*Server).listNodes,
		},
		{
			method: "PATCH", path: "/v1/nodes", operation: "changeNodes", summary: "Set the state of several nodes, all or none",
			access: administrator, verb: Change, body: wire.NodesChange{}, status: 204, handle: (*Server).changeNodes,
		},
		{
			method: "PATCH", path: "/v1/nodes/:name", operation: "changeNode", summary: "Set the state of a node",
			access: administrator, verb: Change, body: wire.NodeChange{}, status: 204, handle: (*Server).changeNode,
		},
		{
			method: "POST", path: "/v1/nodes/:name/drain", operation: "drainNode", summary: "Move everything off a node",
			access: administrator, verb: Change, status: 204, handle: (*Server).drain,
		},
		{
			method: "POST", path: "/v1/nodes/:name/online", operation: "onlineNode", summary: "Put a node back online",
			access: administrator, verb: Change, status: 204, handle: (*Server).online,
		},
		{
			method: "POST", path: "/v1/nodes/:name/power", operation: "switchNode", summary: "Switch a node off, once it is empty, or on",
			access: administrator, verb: Change, body: wire.PowerChange{}, status: 204, handle: (*Server).setPower,
		},
	}
}

func ruleEndpoints() []endpoint {
	return []endpoint{
		{
			method: "GET", path: "/v1/budgets", operation: "getBudgets", summary: "The power budgets, and the vjobs that they will suspend",
			access: administrator, verb: Read, status: 200, result: wire.Budgets{}, handle: (*Server).budgets,
		},
		{
			method: "PUT", path: "/v1/budgets", operation: "setBudgets", summary: "Replace the stated power budgets, or check others",
			access: administrator, verb: Change, body: wire.BudgetsChange{}, status: 204, handle: (*Server).setBudgets,
		},
		{
			method: "GET", path: "/v1/rules", operation: "getRules", summary: "The placement rules of the cluster",
			access: administrator, verb: Read, status: 200, result: wire.Rules{}, handle: (*Server).rules,
		},
		{
			method: "PUT", path: "/v1/rules", operation: "setRules", summary: "Replace the stated placement rules, or check others",
			access: administrator, verb: Change, body: wire.RulesChange{}, status: 204, handle: (*Server).setRules,
		},
	}
}

func whatIfEndpoint() endpoint {
	return endpoint{
		method: "POST", path: "/v1/what-if", operation: "supposeThat",
		summary: "The decision for other nodes, rules or vjobs; nothing is changed. Users may ask about a submission only",
		access:  authenticated, verb: Read, class: forecasts, body: wire.WhatIf{}, status: 200, result: wire.Forecast{}, handle: (*Server).whatIf,
	}
}

func accountEndpoints() []endpoint {
	return []endpoint{
		{
			method: "GET", path: "/v1/backup", operation: "getBackup", summary: "A consistent copy of the database, an SQLite file",
			access: administrator, verb: Read, status: 200, media: mediaSQLite, class: backups, handle: (*Server).backup,
		},
		auditEndpoint(),
		{
			method: "GET", path: "/v1/users", operation: "listUsers", summary: "The accounts",
			access: administrator, verb: Read, status: 200, result: wire.UserList{}, handle: (*Server).listUsers,
		},
		{
			method: "POST", path: "/v1/users", operation: "createUser", summary: "Add an account",
			access: administrator, verb: Create, body: wire.User{}, status: 201, result: wire.User{}, handle: (*Server).createUser,
		},
		{
			method: "PATCH", path: "/v1/users/:name", operation: "changeUser", summary: "Disable or enable an account, or change its role, its groups, or its link with the local user",
			access: administrator, verb: Change, body: wire.UserChange{}, status: 200, result: wire.User{}, handle: (*Server).changeUser,
		},
		{
			method: "DELETE", path: "/v1/users/:name", operation: "deleteUser", summary: "Delete an account and its tokens",
			access: administrator, verb: Change, status: 204, handle: (*Server).deleteUser,
		},
		{
			method: "GET", path: "/v1/users/:name/tokens", operation: "listTokens", summary: "The tokens of an account, without their secrets; users see their own",
			access: authenticated, verb: Read, status: 200, result: wire.TokenList{}, handle: (*Server).listTokens,
		},
		{
			method: "POST", path: "/v1/users/:name/tokens", operation: "createToken", summary: "Make a token; its secret is shown this once",
			access: authenticated, verb: Create, body: wire.TokenRequest{}, status: 201, result: wire.Token{}, handle: (*Server).createToken,
		},
		{
			method: "POST", path: "/v1/users/:name/tokens/:id/rotate", operation: "rotateToken", summary: "Replace a token, which is revoked; the secret is shown this once",
			access: authenticated, verb: Change, status: 201, result: wire.Token{}, handle: (*Server).rotateToken,
		},
		{
			method: "DELETE", path: "/v1/users/:name/tokens/:id", operation: "revokeToken", summary: "Revoke a token",
			access: authenticated, verb: Change, status: 204, handle: (*Server).revokeToken,
		},
	}
}

// whoami answers GET /v1/whoami.
func (s *Server) whoami(c *gin.Context, caller Subject) error {
	return answer(c, http.StatusOK, wire.Identity{Name: caller.Name, Role: roleName(caller.Role), Via: caller.Via})
}

func roleName(r journal.Role) string { return string(r) }
