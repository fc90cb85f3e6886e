// Package api is the REST interface of the daemon: it authenticates and authorises requests,
// validates them, and passes them to the scheduler or reads the store.
//
// Endpoints are data (endpoints.go): routing, authorisation, the OpenAPI document and the tests
// read the same table.
package api

import (
	"cmp"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/gin-gonic/gin"
	"golang.org/x/time/rate"

	"vjob/api/guard"
	"vjob/api/wire"
	"vjob/cluster"
	"vjob/notify"
)

// Config is the configuration of a server. Scheduler, Reader, Accounts and Logger are required.
type Config struct {
	Scheduler Scheduler
	Reader    Reader
	Accounts  Accounts
	Console   Console   // nil: no logs
	Attacher  Attacher  // nil: no interactive consoles
	Catalogue Catalogue // nil: an empty list
	Copier    Copier    // nil: no back-ups
	// Scratch is the directory in which back-ups are made before they are sent; ""
	// is the system's for temporary files.
	Scratch string
	Logger  *slog.Logger
	Now     func() time.Time // nil: time.Now
	Limits  Limits
	// Operations returns the operations to serve beside /v1; may be nil. It is called once.
	Operations func(*Service) []Operation
	// CanonicalPath returns the path of the endpoint that a request path stands for; may be nil.
	CanonicalPath func(path string) string
	// Admit applies the admission rules of the site to a submission to /v1; may be nil.
	// Operations apply them themselves.
	Admit  Admission
	Rights Rights
	// Notifiable says why an address cannot be notified; nil: all can.
	Notifiable func(notify.Address) error
	// HeartbeatEvery is the pause between signs of life on event streams, and
	// between checks that the caller may still listen; 0 is 15 s.
	HeartbeatEvery time.Duration
	// Locals are the local users that need no token.
	Locals Locals
	// TokenLife is how long a token is valid that asks for nothing else, and the longest that a
	// user may ask for; 0: for ever.
	TokenLife time.Duration
	// PollEvery is the longest delay of an event on a stream without a call of [Server.Notify];
	// 0 is 1 s.
	PollEvery time.Duration
}

// Limits bound what callers can take. Zero fields have the defaults given here.
type Limits struct {
	BodyBytes       int64   // of a request: 1 MiB
	SubmissionBytes int64   // of a submission, with the parameters of an array: 16 MiB
	VMsPerVJob      int     // 1,000
	VJobsPerArray   int     // 10,000
	PerSecond       float64 // requests of one subject: 1,000
	Burst           int     // that may come at once: 2,000
	Strangers       float64 // failed authentications a second from one address: 5, with bursts of 20
	// Of what is in flight an eighth of each total is for administrators.
	Concurrent         int // requests: 256
	PerCaller          int // of one caller: 64
	Streams            int // event streams; the same number of logs and consoles: 64
	StreamsPerCaller   int // of one caller: 8
	Forecasts          int // what-ifs and schedules: 8
	ForecastsPerCaller int // of one caller: 2
	Connections        int // 1,024; an eighth is for root and the daemon's user on the socket
	PerPeer            int // of one address, or of one user of the socket: 512, which is more than can be in flight

	HeaderBytes int           // 16 KiB
	HeaderTime  time.Duration // until the header of a request is read: 5 s
	BodyTime    time.Duration // until a request is read: 30 s
	WriteTime   time.Duration // until an answer, or one message of a stream, is taken: 30 s
	IdleTime    time.Duration // between requests on a connection: 1 m; there is one request without a known caller
	StopTime    time.Duration // that Serve lets requests end in: 10 s
}

func (l Limits) withDefaults() Limits {
	l.BodyBytes = cmp.Or(l.BodyBytes, 1<<20)
	l.SubmissionBytes = cmp.Or(l.SubmissionBytes, 16<<20)
	l.VMsPerVJob = cmp.Or(l.VMsPerVJob, 1000)
	l.VJobsPerArray = cmp.Or(l.VJobsPerArray, 10_000)
	l.PerSecond = cmp.Or(l.PerSecond, 1000)
	l.Burst = cmp.Or(l.Burst, 2000)
	l.Strangers = cmp.Or(l.Strangers, 5)
	l.Concurrent = cmp.Or(l.Concurrent, 256)
	l.PerCaller = cmp.Or(l.PerCaller, 64)
	l.Streams = cmp.Or(l.Streams, 64)
	l.StreamsPerCaller = cmp.Or(l.StreamsPerCaller, 8)
	l.Forecasts = cmp.Or(l.Forecasts, 8)
	l.ForecastsPerCaller = cmp.Or(l.ForecastsPerCaller, 2)
	l.Connections = cmp.Or(l.Connections, 1024)
	l.PerPeer = cmp.Or(l.PerPeer, 512)
	l.HeaderBytes = cmp.Or(l.HeaderBytes, 16<<10)
	l.HeaderTime = cmp.Or(l.HeaderTime, 5*time.Second)
	l.BodyTime = cmp.Or(l.BodyTime, 30*time.Second)
	l.WriteTime = cmp.Or(l.WriteTime, 30*time.Second)
	l.IdleTime = cmp.Or(l.IdleTime, time.Minute)
	l.StopTime = cmp.Or(l.StopTime, 10*time.Second)
	return l
}

// Server answers requests. It is safe for concurrent use.
type Server struct {
	scheduler  Scheduler
	reader     Reader
	accounts   Accounts
	console    Console
	attacher   Attacher
	consoles   sync.WaitGroup // open consoles
	catalogue  Catalogue
	copier     Copier
	scratch    string
	admission  Admission // nil: no rules
	rights     Rights
	notifiable func(notify.Address) error // nil: any address is
	copying    sync.Mutex                 // held while a back-up is made
	log        *slog.Logger
	now        func() time.Time
	limits     Limits
	heartbeat  time.Duration
	poll       time.Duration

	localUsers            *localUsers
	tokenLife             time.Duration
	tokenUses             tokenUses
	tokenRate             *buckets      // tokens that users make
	loginFailureRate      *buckets      // failed logins that are written down, by address
	totalLoginFailureRate *rate.Limiter // of all addresses

	handler             http.Handler
	metrics             *metrics
	document            []byte // OpenAPI
	callerRate          *buckets
	unauthenticatedRate *buckets
	compressed          func() []byte // the document, compressed
	pools               []pool        // of requests in flight, by class
	conns               *guard.Conns
	largeBodies         chan struct{} // one token per long body under way
	newEvents           *broadcast
	stop                chan struct{} // closed when streams have to end
	stopOnce            sync.Once
}

// New makes a server.
func New(cfg Config) (*Server, error) {
	if cfg.Scheduler == nil || cfg.Reader == nil || cfg.Accounts == nil || cfg.Logger == nil {
		return nil, errors.New("api: Scheduler, Reader, Accounts and Logger are needed")
	}
	limits := cfg.Limits.withDefaults()
	s := &Server{
		scheduler: cfg.Scheduler, reader: cfg.Reader, accounts: cfg.Accounts,
		console: cfg.Console, attacher: cfg.Attacher, catalogue: cfg.Catalogue, copier: cfg.Copier, scratch: cfg.Scratch, admission: cfg.Admit, rights: cfg.Rights, notifiable: cfg.Notifiable, log: cfg.Logger, now: cfg.Now, limits: limits,
		heartbeat: cmp.Or(cfg.HeartbeatEvery, 15*time.Second), poll: cmp.Or(cfg.PollEvery, time.Second),
		callerRate: newBuckets(limits.PerSecond, limits.Burst), unauthenticatedRate: newBuckets(limits.Strangers, 20),
		pools: newPools(&limits), largeBodies: make(chan struct{}, maxLargeBodies),
		newEvents: newBroadcast(), stop: make(chan struct{}),
		tokenLife: cfg.TokenLife, tokenRate: newBuckets(tokensPerSecond, tokenBurst),
		loginFailureRate: newBuckets(failuresPerAddress, 1), totalLoginFailureRate: rate.NewLimiter(failuresInTotal, failureBurst),
	}
	if s.now == nil {
		s.now = time.Now
	}
	s.conns = guard.NewConns(limits.Connections, limits.PerPeer, s.now)
	s.localUsers = newLocalUsers(cfg.Locals.withDefaults(), s.now)
	s.metrics = newMetrics(s.scheduler, s.now())
	table := endpoints()
	if cfg.Operations != nil {
		table = append(table, operationEndpoints(cfg.Operations(&Service{s}))...)
	}
	document, err := openAPI(table)
	if err != nil {
		return nil, err
	}
	s.document, s.compressed = document, sync.OnceValue(func() []byte { return compress(document) })
	s.handler = s.withDeadlines(withCanonicalPaths(s.routes(table), cfg.CanonicalPath))
	return s, nil
}

// Handler is the whole API, without its listeners.
func (s *Server) Handler() http.Handler { return s.handler }

// Notify says that there may be new events, so that streams look at once.
func (s *Server) Notify() { s.newEvents.notify() }

// routes builds the router from the table of endpoints.
func (s *Server) routes(table []endpoint) http.Handler {
	gin.SetMode(gin.ReleaseMode)
	engine := gin.New()
	engine.RedirectTrailingSlash = false
	engine.HandleMethodNotAllowed = true
	_ = engine.SetTrustedProxies(nil) // nil cannot be malformed
	engine.Use(s.record, s.recover)
	fails := map[string]Fail{} // by the first part of the path
	for _, e := range table {
		engine.Handle(e.method, e.path, s.handlerOf(e))
		if e.fail != nil {
			fails[root(e.path)] = e.fail
		}
	}
	lost := func(c *gin.Context, err error) {
		if fail, ok := fails[root(c.Request.URL.Path)]; ok {
			c.Set(failKey, fail)
		}
		s.fail(c, err)
	}
	engine.NoRoute(func(c *gin.Context) { lost(c, notFound("path", c.Request.URL.Path)) })
	engine.NoMethod(func(c *gin.Context) { lost(c, errNoMethod) })
	return engine
}

// root is the first part of a path.
func root(path string) string {
	first, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	return first
}

// handlerOf admits a request to its endpoint: within the limits, and from a caller
// with the role that the endpoint requires.
func (s *Server) handlerOf(e endpoint) gin.HandlerFunc {
	return func(c *gin.Context) {
		if e.fail != nil {
			c.Set(failKey, e.fail)
		}
		caller, err := s.admit(c, e)
		if err == nil {
			err = checkQuery(c.Request.URL.Query(), e.query)
		}
		if err != nil {
			s.fail(c, err)
			return
		}
		leave, err := s.enter(c.Request, e.classOf(c.Request), caller)
		if err != nil {
			if c.Request.ContentLength != 0 {
				c.Header("Connection", "close") // else its body would be waited for
			}
			s.fail(c, err)
			return
		}
		defer leave()
		defer s.limitBody(c, &e)()
		if err := e.handle(s, c, caller); err != nil {
			s.fail(c, err)
		}
	}
}

// admit authenticates the caller and checks the role and the rate.
func (s *Server) admit(c *gin.Context, e endpoint) (Subject, error) {
	if e.access == public {
		return Subject{}, nil
	}
	caller, err := s.authenticate(c.Request)
	if err == nil && caller.Name == "" {
		err = errUnauthenticated
	}
	if errors.Is(err, errUnauthenticated) || errors.Is(err, cluster.ErrForbidden) {
		err = s.rejectCredentials(c.Request, err)
	}
	if err != nil {
		return Subject{}, err
	}
	s.keepConnection(c.Writer, c.Request)
	if !s.callerRate.allow(caller.Name, s.now()) {
		return Subject{}, errRate
	}
	if !Can(caller, e.verb, e.access.object(caller)) {
		return Subject{}, authorise(caller, e.verb, e.access.object(caller))
	}
	return caller, nil
}

// answer writes a success.
func answer(c *gin.Context, status int, body any) error {
	c.JSON(status, body)
	return nil
}

// health answers GET /healthz: whether the scheduler has taken its first decision and can write.
func (s *Server) health(c *gin.Context, _ Subject) error {
	h, status := wire.Health{Ready: true, Reason: "ready"}, http.StatusOK
	switch now := s.snapshot(); {
	case now.Broken != "":
		h, status = wire.Health{Reason: "the database cannot be written, so no decision is taken: " + now.Broken}, http.StatusServiceUnavailable
	case !now.Ready:
		h, status = wire.Health{Reason: "starting: the first decision has not been taken"}, http.StatusServiceUnavailable
	}
	return answer(c, status, h)
}
