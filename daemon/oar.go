package daemon

import (
	"cmp"
	"slices"

	"vjob/api"
	"vjob/api/oarapi"
	"vjob/daemon/settings"
	"vjob/oar"
)

// dialect is the API in OAR's shape.
func dialect(s *settings.Settings) (*oarapi.Dialect, error) {
	site, err := s.OARSite()
	if err != nil {
		return nil, err
	}
	return oarapi.New(oarapi.Config{Site: site, Queues: queues(s), Suspenders: s.OAR.UsersMaySuspend, Version: oarVersion}), nil
}

// admit is what submissions in our own language have to follow: the rules that an
// administrator has stated. Those that OAR has by itself are about its language.
func admit(s *settings.Settings, d *oarapi.Dialect) api.Admission {
	if len(s.OAR.Admission) == 0 {
		return nil
	}
	return d.Admit
}

// oarVersion is the version of OAR whose commands and calls these are like.
const oarVersion = "2.5.10 (vjob)"

// The queues that every user of OAR knows, with OAR's priorities. default is the usual
// queue of the settings, unless one is called so; jobs of besteffort run in room that
// nobody else wants.
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
