package daemon

import (
	"cmp"
	"slices"

	"vjob/api"
	"vjob/api/oarapi"
	"vjob/daemon/settings"
	"vjob/oar"
)

// dialect returns OAR's REST API.
func dialect(s *settings.Settings) (*oarapi.Dialect, error) {
	site, err := s.OARSite()
	if err != nil {
		return nil, err
	}
	return oarapi.New(oarapi.Config{Site: site, Queues: queues(s), Suspenders: s.OAR.UsersMaySuspend, Version: oarVersion}), nil
}

// admit returns the admission rules for submissions to vjob's own API: only those of the
// settings, since OAR's default rules are about OAR's language. It is nil without rules.
func admit(s *settings.Settings, d *oarapi.Dialect) api.Admission {
	if len(s.OAR.Admission) == 0 {
		return nil
	}
	return d.Admit
}

// oarVersion is the version of OAR with which the commands and the API are compatible.
const oarVersion = "2.5.10 (vjob)"

// queues lists the queues as OAR shows them: default and besteffort with OAR's priorities,
// then those of the settings, which replace queues of the same name.
func queues(s *settings.Settings) []oar.Queue {
	all := []oar.Queue{
		{Name: "default", Priority: 2, Policy: s.Policy.Name, State: active},
		{Name: "besteffort", Priority: 0, Policy: s.Policy.Name, State: active},
	}
	for _, q := range s.Queues {
		own := oar.Queue{Name: q.Name, Priority: q.Priority, Policy: cmp.Or(q.Policy, s.Policy.Name), State: active}
		if at := slices.IndexFunc(all, func(o oar.Queue) bool { return o.Name == q.Name }); at >= 0 {
			all[at] = own
			continue
		}
		all = append(all, own)
	}
	return all
}

const active = "Active"
