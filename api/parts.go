package api

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"vjob/scheduler"
)

// parts has what several handlers use.
type parts struct {
	snapshot  func() *scheduler.Snapshot
	finder    vjobFinder
	locals    *localUsers
	groups    *userGroups
	uses      *tokenUses
	auth      *authenticator
	news      *broadcast
	audit     *auditLog
	metrics   *metrics
	streaming *streaming
	images    *imageHandler
	submitter *submitter
}

// newParts makes the parts of a configuration. stop is closed when its streams have to end.
func newParts(cfg *Config, all *shared, stop <-chan struct{}) *parts {
	p := &parts{
		snapshot: latest(cfg.Scheduler), finder: vjobFinder{cfg.Reader}, locals: newLocalUsers(cfg.Locals, cfg.Now),
		groups: &userGroups{cfg.Accounts, cfg.Locals.Groups}, uses: all.uses,
		news: all.news, metrics: all.metrics, audit: all.audit,
	}
	p.auth = &authenticator{accounts: cfg.Accounts, locals: p.locals, uses: p.uses, now: cfg.Now}
	p.streaming = &streaming{auth: p.auth, heartbeat: cfg.HeartbeatEvery, stop: stop, now: cfg.Now}
	p.images = &imageHandler{catalogue: cfg.Catalogue, groups: p.groups, scheduler: cfg.Scheduler, vjobs: cfg.Reader}
	p.submitter = &submitter{
		scheduler: cfg.Scheduler, images: p.images, finder: vjobFinder{cfg.Reader}, admission: cfg.Admit, adviser: cfg.Adviser, rights: cfg.Rights, notifiable: cfg.Notifiable, outputs: cfg.Outputs,
		vms: cfg.Limits.VMsPerVJob, vjobsPerArray: cfg.Limits.VJobsPerArray, decoder: newSubmissionDecoder(&cfg.Limits), metrics: p.metrics, snapshot: p.snapshot, now: cfg.Now,
	}
	return p
}

// latest returns a function that returns the latest snapshot, or an empty one before there is any.
func latest(s Scheduler) func() *scheduler.Snapshot {
	return func() *scheduler.Snapshot {
		if now := s.Snapshot(); now != nil {
			return now
		}
		return &scheduler.Snapshot{VJobs: scheduler.Statuses{}}
	}
}

// handlers makes the handlers.
func (p *parts) handlers(cfg *Config, all *shared) *handlers {
	nodes := &nodeHandler{scheduler: cfg.Scheduler, finder: p.finder, audit: p.audit, snapshot: p.snapshot}
	return &handlers{
		status:   &statusHandler{nodes: nodes, vjobs: cfg.Reader, snapshot: p.snapshot},
		document: &documentHandler{},
		metrics:  &metricsHandler{metrics: p.metrics, plans: cfg.Reader},
		vjobs:    &vjobHandler{vjobFinder: p.finder, scheduler: cfg.Scheduler, events: cfg.Reader, submissions: p.submitter, streaming: p.streaming, snapshot: p.snapshot, clockSpeed: cfg.ClockSpeed},
		consoles: &consoleHandler{
			console: cfg.Console, attacher: cfg.Attacher, finder: p.finder, streaming: p.streaming, perWrite: cfg.Limits.WriteTime, snapshot: p.snapshot, attached: &all.attached,
		},
		events:    &eventHandler{events: cfg.Reader, tail: all.tail, finder: p.finder, streaming: p.streaming, news: p.news, poll: cfg.PollEvery, snapshot: p.snapshot},
		plans:     &planHandler{plans: cfg.Reader, vjobs: cfg.Reader, snapshot: p.snapshot},
		nodes:     nodes,
		images:    p.images,
		queues:    &queueHandler{scheduler: cfg.Scheduler},
		rules:     &ruleHandler{scheduler: cfg.Scheduler, audit: p.audit, snapshot: p.snapshot},
		proposals: &recommendationHandler{recommendations: cfg.Reader, scheduler: cfg.Scheduler, audit: p.audit, snapshot: p.snapshot},
		balance:   &balanceHandler{p.snapshot},
		pools:     &poolHandler{scheduler: cfg.Scheduler, audit: p.audit, snapshot: p.snapshot},
		energy:    &energyHandler{hours: cfg.Reader, scheduler: cfg.Scheduler, audit: p.audit, snapshot: p.snapshot, now: cfg.Now},
		reports:   &reportHandler{reports: cfg.Reader, zone: cfg.Zone, now: cfg.Now},
		alarms:    &alarmHandler{alarms: cfg.Reader, scheduler: cfg.Scheduler, audit: p.audit},
		forecasts: &forecastHandler{scheduler: cfg.Scheduler, submissions: p.submitter, snapshot: p.snapshot},
		accounts: &accountHandler{
			accounts: cfg.Accounts, scheduler: cfg.Scheduler, audit: p.audit, locals: p.locals, tail: all.tail,
			tokenLife: cfg.TokenLife, tokenRate: newBuckets(tokensPerSecond, tokenBurst), now: cfg.Now,
		},
		admin: &adminHandler{
			entries: cfg.Accounts, audit: p.audit, copier: cfg.Copier, operator: cfg.Operator, scratch: cfg.Scratch, streaming: p.streaming, now: cfg.Now,
		},
	}
}

// service makes the service of the endpoints beside /v1.
func (p *parts) service(cfg *Config, h *handlers) *Service {
	return &Service{
		submissions: p.submitter, finder: p.finder, events: cfg.Reader, orders: cfg.Scheduler, nodes: h.nodes, consoles: h.consoles,
		groups: p.groups, snapshot: p.snapshot, now: cfg.Now,
	}
}

// noContent answers with an empty success.
func noContent(c *gin.Context) error {
	c.Status(http.StatusNoContent)
	return nil
}
