package queue

import (
	"strings"

	"vjob/cluster"
)

// policies are those that settings can name, in order of their names.
var policies = []Policy{Conservative{}, DynamicEASY{Count: Assumed, MinRun: DefaultCalm, Patience: DefaultCalm, Due: 1}, EASY{}, FCFS{}, FirstFit{Count: Assumed}, TimeSlices{Quantum: DefaultQuantum, Count: Observed}}

// Names lists the policies that settings can name.
func Names() []string {
	names := make([]string, len(policies))
	for i, p := range policies {
		names[i] = p.Name()
	}
	return names
}

// ByName returns the policy that settings and commands call so; the error lists
// the right names.
func ByName(name string) (Policy, error) {
	for _, p := range policies {
		if p.Name() == name {
			return p, nil
		}
	}
	return nil, cluster.BadField("policy", name, "one of "+strings.Join(Names(), ", "))
}
