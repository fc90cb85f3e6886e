package api

import (
	"slices"

	"vjob/api/wire"
	"vjob/scheduler"
)

// handlers has the handler of each kind of resource.
type handlers struct {
	status    *statusHandler
	document  *documentHandler
	metrics   *metricsHandler
	vjobs     *vjobHandler
	consoles  *consoleHandler
	events    *eventHandler
	plans     *planHandler
	nodes     *nodeHandler
	images    *imageHandler
	queues    *queueHandler
	rules     *ruleHandler
	proposals *recommendationHandler
	balance   *balanceHandler
	pools     *poolHandler
	energy    *energyHandler
	reports   *reportHandler
	alarms    *alarmHandler
	forecasts *forecastHandler
	accounts  *accountHandler
	admin     *adminHandler
}

// routes is the table of the API, without the endpoints of [Config].
func (h *handlers) routes() []Endpoint {
	return slices.Concat(
		h.serverRoutes(), h.vjobRoutes(), h.historyRoutes(), h.nodeRoutes(), h.imageRoutes(), h.queueRoutes(), h.ruleRoutes(), h.poolRoutes(), h.recommendationRoutes(), h.energyRoutes(),
		h.accountRoutes(), h.adminRoutes(),
	)
}

var (
	arrayParam = Param{Name: "array", Kind: "boolean", Meaning: "all vjobs of the array with this number that have not ended"}
	afterParam = Param{Name: "after", Kind: "integer", Meaning: "only events with a larger sequence number"}
)

func (h *handlers) serverRoutes() []Endpoint {
	return []Endpoint{
		{
			Method: "GET", Path: "/", Name: "getRoot", Summary: "Where to begin: the description, the guide, and how to authenticate; a page if text/html is accepted",
			Access: Public, Verb: Read, class: anonymous, Status: 200, Result: wire.Index{}, Media: "text/html", Handle: h.document.index,
		},
		{
			Method: "GET", Path: "/v1", Name: "getIndex", Summary: "The same",
			Access: Public, Verb: Read, class: anonymous, Status: 200, Result: wire.Index{}, Media: "text/html", Handle: h.document.index,
		},
		{
			Method: "GET", Path: "/healthz", Name: "getHealth", Summary: "Whether the daemon is ready, and why not",
			Access: Public, Verb: Read, class: unbounded, Status: 200, Result: wire.Health{}, Handle: h.status.health,
		},
		{
			Method: "GET", Path: "/v1/openapi.json", Name: "getOpenAPI", Summary: "This document",
			Access: Public, Verb: Read, class: anonymous, Status: 200, Result: map[string]any{}, Handle: h.document.show,
		},
		{
			Method: "GET", Path: "/metrics", Name: "getMetrics", Summary: "Figures for Prometheus",
			Access: Users, Verb: Read, Status: 200, Media: "text/plain", Handle: h.metrics.show,
		},
		{
			Method: "GET", Path: "/v1/whoami", Name: "getIdentity", Summary: "The caller as the server identifies it",
			Access: Users, Verb: Read, Status: 200, Result: wire.Identity{}, Handle: h.status.whoami,
		},
		{
			Method: "GET", Path: "/v1/status", Name: "getStatus", Summary: "Nodes, live vjobs and running actions, in one call",
			Access: Users, Verb: Read, Status: 200, Result: wire.Status{}, Handle: h.status.show,
		},
	}
}

func (h *handlers) vjobRoutes() []Endpoint {
	return append([]Endpoint{
		{
			Method: "GET", Path: "/v1/vjobs", Name: "listVJobs", Summary: "The vjobs that the caller may see: a page of them, or a stream of all when application/x-ndjson is accepted",
			Access: Users, Verb: Read, Status: 200, Result: wire.VJobList{}, Lines: true, Handle: h.vjobs.list,
			Query: vjobParams(),
		},
		{
			Method: "POST", Path: "/v1/vjobs", Name: "submitVJob", Summary: "Submit a vjob",
			Access: Users, Verb: Create, Body: wire.Submission{}, LargeBody: true, Status: 201, Result: wire.VJob{}, Handle: h.vjobs.submit,
		},
		{
			Method: "GET", Path: "/v1/vjobs/:id", Name: "getVJob", Summary: "One vjob in full",
			Access: Users, Verb: Read, Status: 200, Result: wire.VJobDetail{}, Handle: h.vjobs.show,
		},
		{
			Method: "PATCH", Path: "/v1/vjobs/:id", Name: "changeVJob", Summary: "Change the walltime, the pool or the mode of moves of a vjob",
			Access: Users, Verb: Change, Preconditions: Conditional, Body: wire.VJobChange{}, Status: 200, Result: wire.VJob{}, Handle: h.vjobs.change,
		},
		{
			Method: "DELETE", Path: "/v1/vjobs/:id", Name: "deleteVJob", Summary: "End a vjob",
			Access: Users, Verb: Change, Preconditions: Conditional, Status: 202, Result: wire.VJob{}, Handle: h.vjobs.order(scheduler.OrderDelete),
			Query: []Param{arrayParam},
		},
		{
			Method: "GET", Path: "/v1/vjobs/:id/logs", Name: "getVJobLogs", Summary: "The console of one VM, or the output of its work",
			Access: Users, Verb: Read, Status: 200, Media: "text/plain", class: logs, Handle: h.consoles.logs,
			Query: []Param{
				{Name: "rank", Kind: "integer", Meaning: "of the VM; default: 0"},
				{Name: "part", Kind: "string", Meaning: "console: all (the default), or output: only what its command or script printed, if its image tells that apart; errors: what it wrote to standard error, of a vjob with errors of its own file"},
				{Name: "tail", Kind: "integer", Meaning: "only the last lines, at most 10000"},
				{Name: "from", Kind: "integer", Meaning: "without the first bytes of the console: to go on reading where an earlier answer ended"},
			},
		},
		{
			Method: "GET", Path: "/v1/vjobs/:id/submission", Name: "getSubmission", Summary: "The body that submits the same vjob again",
			Access: Users, Verb: Read, Status: 200, Result: wire.Submission{}, Handle: h.vjobs.submission,
			Query: []Param{{Name: "array", Kind: "boolean", Meaning: "of its whole array; default: false, of one vjob"}},
		},
		{
			Method: "POST", Path: "/v1/vjobs/:id/restore", Name: "restoreVJob", Summary: "Restore a lost vjob from its kept images: it becomes suspended and held",
			Access: Administrators, Verb: Change, Preconditions: Conditional, Body: wire.RestoreOrder{}, Status: 202, Result: wire.VJob{}, Handle: h.vjobs.restore,
		},
		{
			Method: "GET", Path: "/v1/vjobs/:id/console", Name: "attachVJob",
			Summary: "Attach to a VM: with Upgrade: " + wire.ConsoleProtocol + " the connection becomes its second serial line, bytes both ways (owners only)",
			Access:  Users, Verb: Change, Status: 101, Media: "application/octet-stream", class: logs, Handle: h.consoles.attach,
			Query: []Param{{Name: "rank", Kind: "integer", Meaning: "of the VM; default: 0"}},
		},
	}, h.orderRoutes()...)
}

// orderRoutes are the orders to a vjob, or to an array of them.
func (h *handlers) orderRoutes() (list []Endpoint) {
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
		list = append(list, Endpoint{
			Method: "POST", Path: "/v1/vjobs/:id/" + string(o.order), Name: string(o.order) + "VJob", Summary: o.summary,
			Access: Users, Verb: Change, Preconditions: Conditional, Status: 202, Result: wire.VJob{}, Handle: h.vjobs.order(o.order),
			Query: []Param{arrayParam},
		})
	}
	return list
}

func (h *handlers) historyRoutes() []Endpoint {
	return []Endpoint{
		{
			Method: "GET", Path: "/v1/plans", Name: "listPlans", Summary: "The latest context switches; users see those that changed their own vjobs",
			Access: Users, Verb: Read, Status: 200, Result: wire.PlanList{}, Handle: h.plans.list,
			Query: []Param{limitParam, cursorParam},
		},
		{
			Method: "GET", Path: "/v1/plans/:id", Name: "getPlan", Summary: "One context switch with its actions; users see those on their own vjobs",
			Access: Users, Verb: Read, Status: 200, Result: wire.Plan{}, Handle: h.plans.show,
		},
		{
			Method: "GET", Path: "/v1/report", Name: "getReport", Summary: "What vjobs have used in a time, and how they have fared; users see their own",
			Access: Users, Verb: Read, class: forecasts, Status: 200, Result: wire.Report{}, Handle: h.reports.show,
			Query: []Param{
				{Name: "since", Kind: "string", Meaning: "start, RFC 3339; default: the beginning of the day 30 days before its end"},
				{Name: "until", Kind: "string", Meaning: "end, RFC 3339; default: now"},
				{Name: "by", Kind: "string", Meaning: "keys with commas in between: user, project, queue, node, outcome, and one of day, week, month; default: user"},
				{Name: "user", Kind: "string", Meaning: "only vjobs of this user"},
				{Name: "project", Kind: "string", Meaning: "only vjobs of this project"},
				{Name: "queue", Kind: "string", Meaning: "only vjobs of this queue"},
				{Name: "zone", Kind: "string", Meaning: "time zone in which days, weeks and months begin, such as Europe/Paris; default: that of the cluster"},
			},
		},
		{
			Method: "GET", Path: "/v1/events", Name: "listEvents", Summary: "Events, oldest first: a list, or a stream of server-sent events when text/event-stream is accepted",
			Access: Users, Verb: Read, Status: 200, Result: wire.EventList{}, class: streams, Handle: h.events.list,
			Query: []Param{
				afterParam, limitParam,
				{Name: "vjob", Kind: "string", Meaning: "only events of this vjob: its number, its name, or one of an array such as sweep[3]"},
				{Name: "array", Kind: "integer", Meaning: "only events of the vjobs of this array"},
				{Name: "index", Kind: "string", Meaning: "with array: only events of the vjobs at these places, from 1: 3, 3-7 or 2,5-9"},
				{Name: "kind", Kind: "string", Many: true, Meaning: "only events of one of these kinds, such as alarm"},
				{Name: "latest", Kind: "boolean", Meaning: "the last events instead of the first; a stream begins now"},
			},
		},
	}
}

func (h *handlers) nodeRoutes() []Endpoint {
	return []Endpoint{
		{
			Method: "GET", Path: "/v1/nodes", Name: "listNodes", Summary: "The nodes; users see their own VMs on them",
			Access: Users, Verb: Read, Status: 200, Result: wire.NodeList{}, Handle: h.nodes.list,
			Query: []Param{limitParam, cursorParam},
		},
		{
			Method: "PATCH", Path: "/v1/nodes", Name: "changeNodes", Summary: "Set the state of several nodes, all or none",
			Access: Administrators, Verb: Change, Body: wire.NodesChange{}, Status: 204, Handle: h.nodes.changeAll,
		},
		{
			Method: "GET", Path: "/v1/nodes/:name", Name: "getNode", Summary: "One node in full: also what VMs can be on it, and how long actions are estimated to take there",
			Access: Users, Verb: Read, Status: 200, Result: wire.NodeDetail{}, Handle: h.nodes.show,
		},
		{
			Method: "PATCH", Path: "/v1/nodes/:name", Name: "changeNode", Summary: "Set the state of a node",
			Access: Administrators, Verb: Change, Preconditions: Conditional, Body: wire.NodeChange{}, Status: 204, Handle: h.nodes.change,
		},
		{
			Method: "POST", Path: "/v1/nodes/:name/drain", Name: "drainNode", Summary: "Move everything off a node",
			Access: Administrators, Verb: Change, Preconditions: Conditional, Status: 204, Handle: h.nodes.drain,
		},
		{
			Method: "POST", Path: "/v1/nodes/:name/online", Name: "onlineNode", Summary: "Put a node back online",
			Access: Administrators, Verb: Change, Preconditions: Conditional, Status: 204, Handle: h.nodes.online,
		},
		{
			Method: "POST", Path: "/v1/nodes/:name/power", Name: "switchNode", Summary: "Switch a node off, once it is empty, or on",
			Access: Administrators, Verb: Change, Preconditions: Conditional, Body: wire.PowerChange{}, Status: 204, Handle: h.nodes.setPower,
		},
	}
}

func (h *handlers) imageRoutes() []Endpoint {
	return []Endpoint{
		{
			Method: "GET", Path: "/v1/images", Name: "listImages", Summary: "The catalogue of images",
			Access: Users, Verb: Read, Status: 200, Result: wire.ImageList{}, Handle: h.images.list,
		},
		{
			Method: "GET", Path: "/v1/images/orphans", Name: "listOrphans", Summary: "Saved VMs of no suspended vjob, and why they are kept",
			Access: Administrators, Verb: Read, Status: 200, Result: wire.OrphanList{}, Handle: h.images.orphans,
		},
		{
			Method: "DELETE", Path: "/v1/images/orphans/:name", Name: "deleteOrphan", Summary: "Delete a saved VM of no suspended vjob",
			Access: Administrators, Verb: Change, Status: 204, Handle: h.images.deleteOrphan,
		},
	}
}

func (h *handlers) queueRoutes() []Endpoint {
	return []Endpoint{
		{
			Method: "GET", Path: "/v1/queues", Name: "listQueues", Summary: "The queues, their limits, and how many vjobs are in them",
			Access: Users, Verb: Read, Status: 200, Result: wire.QueueList{}, Handle: h.queues.list,
		},
		{
			Method: "GET", Path: "/v1/quotas", Name: "listQuotas", Summary: "The quotas as they stand now; users see their own and those for all",
			Access: Users, Verb: Read, Status: 200, Result: wire.QuotaList{}, Handle: h.queues.quotas,
		},
		{
			Method: "GET", Path: "/v1/shares", Name: "listShares", Summary: "Fair share: the share and the usage of each account; users see projects and themselves",
			Access: Users, Verb: Read, Status: 200, Result: wire.ShareList{}, Handle: h.queues.shares,
		},
		{
			Method: "GET", Path: "/v1/forecast", Name: "getForecast",
			Summary: "The expected start and end of each vjob, and the resources in use over time",
			Access:  Users, Verb: Read, class: forecasts, Status: 200, Result: wire.Schedule{}, Handle: h.forecasts.show,
		},
		{
			Method: "POST", Path: "/v1/what-if", Name: "askWhatIf",
			Summary: "The decision for other nodes, demand, pools, rules or vjobs, with figures before and after; nothing is changed. Users may ask about a submission only",
			Access:  Users, Verb: Read, class: forecasts, Body: wire.WhatIf{}, Status: 200, Result: wire.WhatIfResult{}, Handle: h.forecasts.whatIf,
		},
	}
}

func (h *handlers) ruleRoutes() []Endpoint {
	return []Endpoint{
		{
			Method: "GET", Path: "/v1/rules", Name: "getRules", Summary: "The placement rules of the cluster",
			Access: Administrators, Verb: Read, Status: 200, Result: wire.Rules{}, Handle: h.rules.show,
		},
		{
			Method: "PUT", Path: "/v1/rules", Name: "setRules", Summary: "Replace the stated placement rules, or check others",
			Access: Administrators, Verb: Change, Preconditions: Conditional, Body: wire.RulesChange{}, Status: 204, Handle: h.rules.set,
		},
	}
}

func (h *handlers) recommendationRoutes() []Endpoint {
	return []Endpoint{
		{
			Method: "GET", Path: "/v1/balance", Name: "getBalance",
			Summary: "The load of the nodes, the moves of the last search, and what holds VMs on crowded nodes",
			Access:  Administrators, Verb: Read, Status: 200, Result: wire.Balance{}, Handle: h.balance.show,
		},
		{
			Method: "GET", Path: "/v1/recommendations", Name: "listRecommendations", Summary: "Changes that wait for approval or were decided on, the newest first",
			Access: Administrators, Verb: Read, Status: 200, Result: wire.RecommendationList{}, Handle: h.proposals.list,
			Query: []Param{
				limitParam, cursorParam,
				{Name: "kind", Kind: "string", Meaning: "only those of this kind: start, balance, consolidate, drain or power"},
				{Name: "state", Kind: "string", Meaning: "only those in this state, such as pending"},
			},
		},
		{
			Method: "GET", Path: "/v1/recommendations/:id", Name: "getRecommendation", Summary: "One recommendation",
			Access: Administrators, Verb: Read, Status: 200, Result: wire.Recommendation{}, Handle: h.proposals.show,
		},
		{
			Method: "POST", Path: "/v1/recommendations/:id/approve", Name: "approveRecommendation",
			Summary: "Approve a recommendation; a conflict with the differences if the cluster has changed since",
			Access:  Administrators, Verb: Change, Status: 200, Result: wire.Recommendation{}, Handle: h.proposals.approve,
		},
		{
			Method: "POST", Path: "/v1/recommendations/:id/reject", Name: "rejectRecommendation", Summary: "Reject a recommendation; it is not repeated for a while",
			Access: Administrators, Verb: Change, Body: wire.Rejection{}, Status: 200, Result: wire.Recommendation{}, Handle: h.proposals.reject,
		},
	}
}

func (h *handlers) poolRoutes() []Endpoint {
	return []Endpoint{
		{
			Method: "GET", Path: "/v1/pools", Name: "listPools", Summary: "The pools of CPU and memory as a tree: reservations, limits, shares, demands, entitlements and use",
			Access: Users, Verb: Read, Status: 200, Result: wire.PoolList{}, Handle: h.pools.list,
		},
		{
			Method: "GET", Path: "/v1/pools/:name", Name: "getPool", Summary: "One pool with its vjobs and VMs; users see their own",
			Access: Users, Verb: Read, Status: 200, Result: wire.PoolDetail{}, Handle: h.pools.show,
		},
		{
			Method: "PUT", Path: "/v1/pools/:name", Name: "setPool", Summary: "Create a pool, or give it other controls and another parent",
			Access: Administrators, Verb: Change, Preconditions: ConditionalMake, Body: wire.PoolChange{}, Status: 204, Handle: h.pools.set,
		},
		{
			Method: "DELETE", Path: "/v1/pools/:name", Name: "deletePool", Summary: "Delete a pool that no vjob uses and that has no pools in it",
			Access: Administrators, Verb: Change, Preconditions: Conditional, Status: 204, Handle: h.pools.remove,
		},
	}
}

func (h *handlers) energyRoutes() []Endpoint {
	return []Endpoint{
		{
			Method: "GET", Path: "/v1/energy", Name: "getEnergy",
			Summary: "Energy drawn in a period and its cost; users see their own vjobs",
			Access:  Users, Verb: Read, Status: 200, Result: wire.EnergyAccount{}, Handle: h.energy.account,
			Query: []Param{
				{Name: "from", Kind: "string", Meaning: "start, RFC 3339; hours of UTC count that begin in the period; default: a week before its end"},
				{Name: "to", Kind: "string", Meaning: "end, RFC 3339; default: now"},
				{Name: "by", Kind: "string", Meaning: "owner, project, queue, vjob or node (administrators); default: owner"},
			},
		},
		{
			Method: "GET", Path: "/v1/energy/consolidation", Name: "getConsolidation",
			Summary: "The last searches for placements that draw less, their results, and why no VM was moved",
			Access:  Administrators, Verb: Read, Status: 200, Result: wire.Consolidation{}, Handle: h.energy.consolidation,
		},
		{
			Method: "GET", Path: "/v1/prices", Name: "getPrices", Summary: "What energy costs, in money or in carbon",
			Access: Users, Verb: Read, Status: 200, Result: wire.Prices{}, Handle: h.energy.prices,
		},
		{
			Method: "PUT", Path: "/v1/prices", Name: "setPrices", Summary: "Replace the stated prices of energy, or check others",
			Access: Administrators, Verb: Change, Preconditions: Conditional, Body: wire.PricesChange{}, Status: 204, Handle: h.energy.setPrices,
		},
		{
			Method: "GET", Path: "/v1/budgets", Name: "getBudgets", Summary: "The power budgets, and the vjobs that they suspend or keep waiting; users see their own vjobs",
			Access: Users, Verb: Read, Status: 200, Result: wire.Budgets{}, Handle: h.energy.budgets,
		},
		{
			Method: "PUT", Path: "/v1/budgets", Name: "setBudgets", Summary: "Replace the stated power budgets, or check others",
			Access: Administrators, Verb: Change, Preconditions: Conditional, Body: wire.BudgetsChange{}, Status: 204, Handle: h.energy.setBudgets,
		},
	}
}

func (h *handlers) accountRoutes() []Endpoint {
	return []Endpoint{
		{
			Method: "GET", Path: "/v1/users", Name: "listUsers", Summary: "The accounts",
			Access: Administrators, Verb: Read, Status: 200, Result: wire.UserList{}, Handle: h.accounts.list,
		},
		{
			Method: "POST", Path: "/v1/users", Name: "createUser", Summary: "Add an account",
			Access: Administrators, Verb: Create, Body: wire.User{}, Status: 201, Result: wire.User{}, Handle: h.accounts.create,
		},
		{
			Method: "GET", Path: "/v1/users/:name", Name: "getUser", Summary: "One account",
			Access: Administrators, Verb: Read, Status: 200, Result: wire.User{}, Handle: h.accounts.show,
		},
		{
			Method: "PATCH", Path: "/v1/users/:name", Name: "changeUser", Summary: "Disable or enable an account, or change its role, its groups, or its link with the local user",
			Access: Administrators, Verb: Change, Preconditions: Conditional, Body: wire.UserChange{}, Status: 200, Result: wire.User{}, Handle: h.accounts.change,
		},
		{
			Method: "DELETE", Path: "/v1/users/:name", Name: "deleteUser", Summary: "Delete an account and its tokens",
			Access: Administrators, Verb: Change, Preconditions: Conditional, Status: 204, Handle: h.accounts.delete,
		},
		{
			Method: "GET", Path: "/v1/users/:name/tokens", Name: "listTokens", Summary: "The tokens of an account, without their secrets; users see their own",
			Access: Users, Verb: Read, Status: 200, Result: wire.TokenList{}, Handle: h.accounts.listTokens,
		},
		{
			Method: "POST", Path: "/v1/users/:name/tokens", Name: "createToken", Summary: "Make a token; its secret is shown this once",
			Access: Users, Verb: Create, Body: wire.TokenRequest{}, Status: 201, Result: wire.Token{}, Handle: h.accounts.createToken,
		},
		{
			Method: "POST", Path: "/v1/users/:name/tokens/:id/rotate", Name: "rotateToken", Summary: "Replace a token, which is revoked; the secret is shown this once",
			Access: Users, Verb: Change, Status: 201, Result: wire.Token{}, Handle: h.accounts.rotateToken,
		},
		{
			Method: "DELETE", Path: "/v1/users/:name/tokens/:id", Name: "revokeToken", Summary: "Revoke a token",
			Access: Users, Verb: Change, Status: 204, Handle: h.accounts.revokeToken,
		},
	}
}

func (h *handlers) adminRoutes() []Endpoint {
	return []Endpoint{
		{
			Method: "GET", Path: "/v1/alarms", Name: "listAlarms", Summary: "Conditions that need an administrator, with what to do next: the newest first",
			Access: Administrators, Verb: Read, Status: 200, Result: wire.AlarmList{}, Handle: h.alarms.list,
			Query: []Param{
				limitParam, cursorParam,
				{Name: "kind", Kind: "string", Meaning: "only alarms of this kind, such as node-silent"},
				{Name: "ended", Kind: "boolean", Meaning: "also alarms that have ended"},
			},
		},
		{
			Method: "POST", Path: "/v1/alarms/:id/ack", Name: "acknowledgeAlarm", Summary: "Acknowledge an open alarm, in place of an earlier acknowledgement",
			Access: Administrators, Verb: Change, Body: wire.Acknowledgement{}, Status: 200, Result: wire.Alarm{}, Handle: h.alarms.acknowledge,
		},
		{
			Method: "GET", Path: "/v1/audit", Name: "listAudit", Summary: "Acts of administrators, changes of tokens, and failed logins: the latest first",
			Access: Administrators, Verb: Read, Status: 200, Result: wire.AuditList{}, Handle: h.admin.listAudit,
			Query: []Param{
				limitParam, cursorParam,
				{Name: "action", Kind: "string", Meaning: "only entries of this action, such as user.create"},
				{Name: "by", Kind: "string", Meaning: "only entries of this account"},
			},
		},
		{
			Method: "POST", Path: "/v1/admin/reload", Name: "reloadSettings", Summary: "Read the settings again, and apply what can change while the daemon runs",
			Access: Administrators, Verb: Change, Status: 200, Body: wire.ReloadOrder{}, Result: wire.Reload{}, Handle: h.admin.reload,
		},
		{
			Method: "GET", Path: "/v1/admin/doctor", Name: "getDoctor", Summary: "What is well, what needs attention and what is broken, with the next steps",
			Access: Administrators, Verb: Read, Status: 200, Result: wire.Doctor{}, class: forecasts, Handle: h.admin.doctor,
		},
		{
			Method: "GET", Path: "/v1/backup", Name: "getBackup", Summary: "A consistent copy of the database, an SQLite file",
			Access: Administrators, Verb: Read, Status: 200, Media: mediaSQLite, class: backups, Handle: h.admin.backup,
		},
	}
}
