package daemon

import (
	"vjob/api/oarapi"
	"vjob/oar/rest"
	"vjob/settings"
)

// dialect is the API in OAR's shape.
func dialect(s *settings.Settings) (*oarapi.Dialect, error) {
	site, err := s.OARSite()
	if err != nil {
		return nil, err
	}
	return oarapi.New(oarapi.Config{Site: site, Queues: queues(s), Suspenders: s.OAR.UsersMaySuspend, Version: oarVersion}), nil
}

// oarVersion is the version of OAR whose commands and calls these are like.
const oarVersion = "2.5.10 (vjob)"

// queues are those that OAR's users know.
func queues(s *settings.Settings) []rest.Queue {
	return []rest.Queue{
		{Name: "default", Priority: 2, Policy: s.Policy.Name, State: "Active"},
		{Name: "besteffort", Priority: 0, Policy: s.Policy.Name, State: "Active"},
	}
}
