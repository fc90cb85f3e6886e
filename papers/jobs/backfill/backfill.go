// Package backfill compares queue disciplines in time on a log of jobs (thesis §2.3.1):
// first come first served, first fit, EASY and conservative backfilling.
//
// A [Discipline] decides which jobs of a queue start now on a pool of processors, given how
// long each may run. It is asked once at every instant at which something happens, and
// keeps what it has computed until the next, so that an unchanged queue costs nearly
// nothing. [Run] replays a log under a discipline, in virtual time: at each instant it
// first ends jobs, then submits jobs, then asks the discipline. It places no job on nodes,
// and suspends and moves none; see package replay for that.
package backfill

import (
	"strings"

	"vjob/cluster"
	"vjob/queue/availability"
)

// Time is an instant, or a length of time, in seconds.
type Time = availability.Time

// Never is after every other instant.
const Never = availability.Never

// Job is what a discipline knows of one job.
type Job struct {
	ID    int64 // no other job has it
	Width int64 // how much it takes of the pool all the time: 1 at least, all of it at most
	// Length is how long it may run, in seconds; at least 1. The caller makes sure that it has
	// ended by then.
	Length Time
}

// Discipline decides which jobs start. It has one owner.
type Discipline interface {
	// Pass tells what happened at an instant and returns the jobs that start at
	// it, in the order of the queue. Jobs that are gone have ended, or were taken
	// out of the queue; their room counts as free at once. After that, those that
	// came join the end of the queue. An instant is neither negative nor before the
	// last one, and what is returned is good until the next one.
	Pass(now Time, gone []int64, came []Job) []int64
	// Wake is the next instant at which jobs are to start even though nothing else
	// happens, or [Never]. Without a pass then they start late, though their time
	// ends when it would have.
	Wake() Time
}

// disciplines are those that can be named, simple ones first.
var disciplines = []struct {
	name string
	make func(size int64) Discipline
}{
	{"fcfs", func(size int64) Discipline { return newFCFS(size) }},
	{"firstfit", func(size int64) Discipline { return newFirstFit(size) }},
	{"easy", func(size int64) Discipline { return newEASY(size) }},
	{"conservative", func(size int64) Discipline { return newConservative(size, true) }},
	{"conservative-nocompression", func(size int64) Discipline { return newConservative(size, false) }},
}

// Names are the names of the disciplines.
func Names() []string {
	names := make([]string, len(disciplines))
	for i, d := range disciplines {
		names[i] = d.name
	}
	return names
}

// New is the named discipline over an empty pool of a size; the error lists the
// right names.
func New(name string, size int64) (Discipline, error) {
	for _, d := range disciplines {
		if d.name == name {
			return d.make(size), nil
		}
	}
	return nil, cluster.BadField("policy", name, "one of "+strings.Join(Names(), ", "))
}
