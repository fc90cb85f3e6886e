package main

import "time"

// sizes are how large the experiments are.
type sizes struct {
	submissions int           // of each way of submitting
	waiting     []int         // vjobs in the queue
	restart     []int         // vjobs in the queue at a restart
	nodes       []int         // of a cluster
	crowds      []crowd       // clusters full of VMs
	streams     int           // event streams
	churn       int           // vjobs that come and go
	mixNodes    int           // of the mixed load
	mixVJobs    int           // that are there when it begins
	mixFor      time.Duration // that it lasts
	idleFor     time.Duration // that an idle daemon is observed
}

var (
	smallSizes = sizes{
		submissions: 2000, waiting: []int{300, 1000, 3000, 10_000}, restart: []int{10_000, 100_000}, nodes: []int{300, 1000, 3000, 10_000}, streams: 5000,
		crowds: []crowd{{300, 3000}, {1000, 10_000}},
		churn:  1000, mixNodes: 300, mixVJobs: 1000, mixFor: 10 * time.Second, idleFor: 10 * time.Second,
	}
	fullSizes = sizes{
		submissions: 10_000, waiting: []int{1000, 10_000, 100_000, 400_000}, restart: []int{100_000, 400_000}, nodes: []int{1000, 10_000, 20_000, 100_000}, streams: 5000,
		crowds: []crowd{{1000, 10_000}, {10_000, 100_000}, {100_000, 1_000_000}},
		churn:  10_000, mixNodes: 1000, mixVJobs: 5000, mixFor: 60 * time.Second, idleFor: 60 * time.Second,
	}
)
