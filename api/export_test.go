package api

import (
	"vjob/journal"
)

// Route is an endpoint as tests walk them.
type Route struct {
	Method, Path, Operation string
	Least                   string // anyone, user, admin
	Status                  int
	Body                    bool
}

// Routes is the table of endpoints.
func Routes() []Route {
	names := map[level]string{anyone: "anyone", known: "user", administrator: "admin"}
	var list []Route
	for _, e := range endpoints() {
		list = append(list, Route{e.method, openPath(e.path), e.operation, names[e.least], e.status, e.body != nil})
	}
	return list
}

// NewPeer is the subject of a local user.
func NewPeer(uid, own uint32, name string) (role journal.Role) {
	return newPeer(uid, own, func(uint32) string { return name }).Role
}

// MaxTail and LastLines are what logs with a tail are made of.
var LastLines = lastLines
