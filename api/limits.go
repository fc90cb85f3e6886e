package api

import (
	"cmp"
	"time"
)

// Limits bound what callers can take. Zero fields have the defaults given here.
type Limits struct {
	BodyBytes                int64   // of a request: 1 MiB
	SubmissionBytes          int64   // of a submission, with the parameters of an array: 16 MiB
	VMsPerVJob               int     // 1,000
	VJobsPerArray            int     // 10,000
	PerSecond                float64 // requests of one subject: 1,000
	Burst                    int     // that may come at once: 2,000
	UnauthenticatedPerSecond float64 // requests of one address: 5, with bursts of 20
	// Of what is in flight an eighth of each total is for administrators.
	Concurrent         int // requests: 256
	PerCaller          int // of one caller: 64
	Streams            int // event streams; the same number of logs and consoles: 5,000
	StreamsPerCaller   int // of one caller: 32
	Forecasts          int // what-ifs, schedules and reports: 8
	ForecastsPerCaller int // of one caller: 2
	Connections        int // 8,192; an eighth is for root and the daemon's user on the socket
	PerPeer            int // of one address, or of one user of the socket: 512, which is more than can be in flight

	HeaderBytes int // 16 KiB
	Timeouts
}

// Timeouts bound how long a request may take. Zero fields have the defaults given here.
type Timeouts struct {
	HeaderTime time.Duration // until the header of a request is read: 5 s
	BodyTime   time.Duration // until a request is read: 30 s
	WriteTime  time.Duration // until an answer, or one message of a stream, is taken: 30 s
	IdleTime   time.Duration // between requests on a connection: 1 m; a connection without a known caller has one request
	StopTime   time.Duration // until requests end when the server stops: 10 s
}

func (l Limits) withDefaults() Limits {
	l.BodyBytes = cmp.Or(l.BodyBytes, 1<<20)
	l.SubmissionBytes = cmp.Or(l.SubmissionBytes, 16<<20)
	l.VMsPerVJob = cmp.Or(l.VMsPerVJob, 1000)
	l.VJobsPerArray = cmp.Or(l.VJobsPerArray, 10_000)
	l.PerSecond = cmp.Or(l.PerSecond, 1000)
	l.Burst = cmp.Or(l.Burst, 2000)
	l.UnauthenticatedPerSecond = cmp.Or(l.UnauthenticatedPerSecond, 5)
	l.Concurrent = cmp.Or(l.Concurrent, 256)
	l.PerCaller = cmp.Or(l.PerCaller, 64)
	l.Streams = cmp.Or(l.Streams, 5000)
	l.StreamsPerCaller = cmp.Or(l.StreamsPerCaller, 32)
	l.Forecasts = cmp.Or(l.Forecasts, 8)
	l.ForecastsPerCaller = cmp.Or(l.ForecastsPerCaller, 2)
	l.Connections = cmp.Or(l.Connections, 8192)
	l.PerPeer = cmp.Or(l.PerPeer, 512)
	l.HeaderBytes = cmp.Or(l.HeaderBytes, 16<<10)
	l.Timeouts = l.Timeouts.withDefaults()
	return l
}

func (t Timeouts) withDefaults() Timeouts {
	t.HeaderTime = cmp.Or(t.HeaderTime, 5*time.Second)
	t.BodyTime = cmp.Or(t.BodyTime, 30*time.Second)
	t.WriteTime = cmp.Or(t.WriteTime, 30*time.Second)
	t.IdleTime = cmp.Or(t.IdleTime, time.Minute)
	t.StopTime = cmp.Or(t.StopTime, 10*time.Second)
	return t
}
