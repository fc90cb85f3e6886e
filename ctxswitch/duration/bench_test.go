package duration_test

import (
	"fmt"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/duration"
)

// large is a cluster of 20,000 nodes with a full window of one kind on each.
func large() *duration.Learner {
	var past []duration.Observation
	for i := range duration.Window {
		for node := range 20_000 {
			past = append(past, duration.Observation{
				Node: cluster.NodeID(fmt.Sprintf("n%d", node)), Kind: duration.Suspend,
				Memory: cluster.GiB * cluster.MiB(1+i%4), Taken: time.Duration(50+(node+i)%10) * time.Second,
			})
		}
	}
	return duration.NewLearner(priors, past)
}

// BenchmarkLearn is one observation.
func BenchmarkLearn(b *testing.B) {
	l := large()
	for b.Loop() {
		suspends(l, cluster.GiB, time.Minute)
	}
}

// BenchmarkEstimates is one observation, and the estimates that a decision takes after it.
func BenchmarkEstimates(b *testing.B) {
	l := large()
	for b.Loop() {
		suspends(l, cluster.GiB, time.Minute)
		l.Estimates()
	}
}
