package admission

import "slices"

// Default returns the rules of OAR itself, except those that query nodes: OAR marks nodes for
// best-effort and deploy jobs by properties, and vjob keeps drained nodes free without them.
func Default() []Rule {
	two := 2
	return []Rule{
		{Name: "default queue", When: When{Queues: []string{""}}, Set: Set{Queue: "default"}},
		{
			Name: "no system users", When: When{Users: []string{"root", "oar"}},
			Refuse: "root and oar users are not allowed to submit jobs.",
		},
		{
			Name: "admin queue", When: When{Queues: []string{"admin"}, NotGroups: []string{"admin"}},
			Refuse: "Only member of the group admin can submit jobs in the admin queue",
		},
		{
			Name: "no system properties", When: When{Resources: systemProperties()},
			Refuse: "'{resource}' resource is not allowed",
		},
		{
			Name: "best-effort jobs go to their queue", When: When{Types: []string{"besteffort"}, NotQueues: []string{"besteffort"}},
			Set: Set{Queue: "besteffort"}, Say: "Automatically redirect in the besteffort queue",
		},
		{
			Name: "the queue makes jobs best-effort", When: When{Queues: []string{"besteffort"}, NotTypes: []string{"besteffort"}},
			Set: Set{Types: []string{"besteffort"}}, Say: "Automatically add the besteffort type",
		},
		{
			Name: "no best-effort reservations", When: When{Types: []string{"besteffort"}, Kinds: []string{Reservation}},
			Refuse: "Error: a job cannot both be of type besteffort and be a reservation.",
		},
		{
			Name: "deploy takes whole nodes", When: When{Types: []string{"deploy"}, Resources: []string{"cpu", "core", "thread", "resource_id"}},
			Refuse: "'{resource}' resource is not allowed with a deploy job",
		},
		{
			Name: "few reservations", When: When{ReservationsOver: &two},
			Refuse: "Error: you cannot have more than 2 waiting advance reservations.",
		},
		{
			Name: "longest interactive job", When: When{Kinds: []string{Interactive}, WalltimeOver: "12:0:0"},
			Set: Set{Walltime: "12:0:0"}, Say: "Walltime to big for an INTERACTIVE job so it is set to 43200.",
		},
		{
			Name: "default walltime", When: When{NoWalltime: true},
			Set: Set{Walltime: "2:0:0"}, Say: "Set default walltime to 7200.",
		},
		{
			Name: "known types", When: When{UnknownTypes: &[]string{}},
			Refuse: "Error: unknown job type: {type}",
		},
	}
}

// systemProperties are properties that OAR maintains. A count of them is meaningless.
func systemProperties() []string {
	return []string{
		"type", "state", "next_state", "finaud_decision", "next_finaud_decision", "state_num", "suspended_jobs", "besteffort", "deploy",
		"expiry_date", "desktop_computing", "last_job_date", "available_upto", "scheduler_priority",
	}
}

// ForVMs returns the default rules for VMs: root may submit, because no part of a job runs on a host
// as the submitting user.
func ForVMs() []Rule {
	return slices.DeleteFunc(Default(), func(r Rule) bool { return r.Name == "no system users" })
}
