// Package api is the REST interface of the daemon: it authenticates and authorises requests,
// validates them, and passes them to the scheduler or reads the store.
//
// The table of routes (routes.go) has a row for each endpoint: routing, authorisation, the OpenAPI
// document and the tests read the same table. A request passes the gate (gate.go), which authenticates
// the caller and applies the limits, and reaches the handler of its resource. Each handler declares the
// part of the scheduler and of the store that it uses.
package api

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"vjob/api/guard"
	"vjob/notify"
	"vjob/scheduler"
)

// Scheduler is the part of the scheduler that the API uses. Its errors wrap the sentinels of
// package cluster.
type Scheduler interface {
	submitService
	vjobService
	nodeService
	imageService
	queueService
	ruleService
	recommendationService
	poolService
	energyService
	forecastService
	ownerService
	alarmService
	// Snapshot returns the latest state of the loop; nil before there is one.
	Snapshot() *scheduler.Snapshot
}

// Reader reads the store.
type Reader interface {
	vjobReader
	eventReader
	planReader
	recommendationReader
	energyReader
	reportReader
	alarmReader
}

// Accounts stores users, tokens and the audit list.
type Accounts interface {
	accountStore
	credentials
	tokenUseStore
	auditReader
	auditWriter
}

// Config is the configuration of a server. Scheduler, Reader, Accounts and Logger are required.
type Config struct {
	Scheduler Scheduler
	Reader    Reader
	Accounts  Accounts
	Console   Console   // nil: no logs
	Attacher  Attacher  // nil: no interactive consoles
	Adviser   Adviser   // nil: no notes on submissions
	Outputs   Outputs   // nil: no output files
	Catalogue Catalogue // nil: an empty list
	Copier    Copier    // nil: no back-ups
	Operator  Operator  // nil: no reload of settings
	// Scratch is the directory in which back-ups are made before they are sent; ""
	// is the system's for temporary files.
	Scratch string
	Logger  *slog.Logger
	Now     func() time.Time // nil: time.Now
	// ClockSpeed is how many times as fast as that of the daemon the clock of simulated guests is; 0: it is the same.
	ClockSpeed float64
	Zone       *time.Location // of the cluster, in which days begin; nil: UTC
	Limits     Limits
	// Endpoints returns the endpoints to serve beside /v1; may be nil. It is called once.
	Endpoints func(*Service) []Endpoint
	// CanonicalPath returns the path of the endpoint that a request path stands for; may be nil.
	CanonicalPath func(path string) string
	// Admit applies the admission rules of the site to a submission to /v1; may be nil.
	// [Config.Endpoints] apply them themselves.
	Admit  Admission
	Rights Rights
	// Notifiable returns why an address cannot be notified; nil: all can.
	Notifiable func(notify.Address) error
	// HeartbeatEvery is the pause between heartbeats on event streams, and between checks of the
	// caller's credentials; 0 is 15 s.
	HeartbeatEvery time.Duration
	// Locals are the local users that need no token.
	Locals Locals
	// TokenLife is the default validity of tokens, and the longest for users; 0 is unlimited.
	TokenLife time.Duration
	// PollEvery is the longest delay of an event on a stream without a call of [Server.Notify];
	// 0 is 1 s.
	PollEvery time.Duration
}

func (c Config) withDefaults() Config {
	c.Limits, c.Locals = c.Limits.withDefaults(), c.Locals.withDefaults()
	c.HeartbeatEvery, c.PollEvery = cmp.Or(c.HeartbeatEvery, 15*time.Second), cmp.Or(c.PollEvery, time.Second)
	if c.Zone == nil {
		c.Zone = time.UTC
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return c
}

// Server answers requests. It is safe for concurrent use.
type Server struct {
	limits Limits
	log    *slog.Logger
	conns  *guard.Conns
	shared *shared
	// assembled answers new requests. [Server.Reconfigure] replaces it; requests under way keep theirs.
	assembled atomic.Pointer[assembly]
}

// shared is what all configurations of a server share.
type shared struct {
	news     *broadcast
	tail     *eventTail
	metrics  *metrics
	uses     *tokenUses
	audit    *auditLog
	failures *loginFailures
	attached sync.WaitGroup // attached consoles
	end      func()         // ends all streams
	// ending returns a channel that is closed by its own function, or by end.
	ending func() (stop <-chan struct{}, stopNow func())
}

// assembly is a server with one configuration.
type assembly struct {
	handler http.Handler
	listed  bool   // only listed local users may use the socket
	end     func() // ends its streams
}

// New makes a server.
func New(cfg Config) (*Server, error) {
	if cfg.Scheduler == nil || cfg.Reader == nil || cfg.Accounts == nil || cfg.Logger == nil {
		return nil, errors.New("api: Scheduler, Reader, Accounts and Logger are needed")
	}
	cfg = cfg.withDefaults()
	s := &Server{limits: cfg.Limits, log: cfg.Logger, conns: guard.NewConns(cfg.Limits.Connections, cfg.Limits.PerPeer, cfg.Now), shared: newShared(&cfg)}
	s.assembled.Store(s.assemble(&cfg))
	return s, nil
}

func newShared(cfg *Config) *shared {
	h := &shared{
		news: newBroadcast(), metrics: newMetrics(cfg.Scheduler.Snapshot, cfg.Now()), uses: &tokenUses{store: cfg.Accounts, log: cfg.Logger},
	}
	h.tail = &eventTail{log: cfg.Reader, news: h.news, poll: cfg.PollEvery, now: cfg.Now}
	h.audit = &auditLog{store: cfg.Accounts, news: h.news, log: cfg.Logger, now: cfg.Now}
	h.failures = newLoginFailures(h.audit, cfg.Limits.UnauthenticatedPerSecond, cfg.Now)
	all, end := context.WithCancel(context.Background())
	h.end = end
	h.ending = func() (<-chan struct{}, func()) {
		one, stop := context.WithCancel(all)
		return one.Done(), stop
	}
	return h
}

// assemble makes the handlers of a configuration.
func (s *Server) assemble(cfg *Config) *assembly {
	stop, end := s.shared.ending()
	a := &assembly{listed: cfg.Locals.Listed, end: end}
	p := newParts(cfg, s.shared, stop)
	h := p.handlers(cfg, s.shared)
	table := h.routes()
	if cfg.Endpoints != nil {
		table = append(table, cfg.Endpoints(p.service(cfg, h))...)
	}
	h.document.describe(table)
	answers := &errorWriter{cfg.Logger}
	g := &gate{
		auth: p.auth, failures: s.shared.failures, rates: newBuckets(cfg.Limits.PerSecond, cfg.Limits.Burst),
		pools: newRequestPools(&cfg.Limits), bodies: newBodyLimits(&cfg.Limits), errors: answers, now: cfg.Now,
	}
	routes := router(table, g, &requestLog{metrics: p.metrics, errors: answers, log: cfg.Logger, now: cfg.Now})
	a.handler = withDeadlines(withCanonicalPaths(routes, cfg.CanonicalPath), cfg.Limits.WriteTime)
	return a
}

// Reconfigure answers new requests by another configuration. Requests under way go on by the one from before, and so do
// streams, but if other local users may use the socket: then streams end, and clients open them again. The limits of
// connections and of times stay as they are.
func (s *Server) Reconfigure(cfg Config) {
	cfg = cfg.withDefaults()
	a := s.assemble(&cfg)
	before := s.assembled.Swap(a)
	if before.listed != a.listed {
		before.end()
	}
}

// Handler returns the whole API, without its listeners.
func (s *Server) Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.assembled.Load().handler.ServeHTTP(w, r) })
}

// Notify has streams look for new events at once.
func (s *Server) Notify() { s.shared.news.notify() }

// Serve answers requests on the listeners until the context ends; then it takes
// no more, ends the streams, lets the other requests end for a while, and closes
// the listeners. It may be called once.
func (s *Server) Serve(ctx context.Context, listeners ...*Listener) error {
	server := &http.Server{
		Handler: s.Handler(), ConnContext: withConn,
		ReadHeaderTimeout: s.limits.HeaderTime, ReadTimeout: s.limits.BodyTime, IdleTimeout: s.limits.IdleTime,
		// Until something is written, which has a time of its own.
		WriteTimeout:   s.limits.BodyTime + s.limits.WriteTime,
		MaxHeaderBytes: s.limits.HeaderBytes,
		HTTP2: &http.HTTP2Config{
			MaxConcurrentStreams: s.limits.PerCaller, WriteByteTimeout: s.limits.WriteTime, SendPingTimeout: s.limits.IdleTime,
		},
		ErrorLog: slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
	}
	server.RegisterOnShutdown(s.shared.end)
	failed := make(chan error, len(listeners))
	var serving sync.WaitGroup
	for _, l := range listeners {
		serving.Go(func() {
			if err := server.Serve(s.countConnections(l)); !errors.Is(err, http.ErrServerClosed) {
				failed <- fmt.Errorf("serve on %s: %w", l.Addr(), err)
			}
		})
		s.log.LogAttrs(ctx, slog.LevelInfo, "listening", slog.String("address", l.Addr().String()))
	}
	noting, noted := context.WithCancel(context.WithoutCancel(ctx))
	defer noted()
	serving.Go(func() { s.shared.uses.run(noting) })
	var err error
	select {
	case <-ctx.Done():
	case err = <-failed:
	}
	late, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.limits.StopTime)
	defer cancel()
	if stop := server.Shutdown(late); stop != nil {
		// What is still under way has had its time.
		err = errors.Join(err, server.Close())
	}
	noted()
	serving.Wait()
	s.shared.attached.Wait()
	return err
}

// countConnections counts the connections of a listener. Beneath TLS a refusal cannot be read, so
// none is sent.
func (s *Server) countConnections(l *Listener) net.Listener {
	if l.config == nil {
		return s.conns.Listen(l.Listener, refusal)
	}
	return tls.NewListener(s.conns.Listen(l.Listener, nil), l.config)
}
