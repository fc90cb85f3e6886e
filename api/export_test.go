package api

import (
	"time"

	"vjob/internal/strictjson"
)

// Decode reads the JSON of a request within bounds.
func Decode(data []byte, into any, bounds strictjson.Bounds) error {
	return newDecoder(bounds).Decode(data, into)
}

// Route is an endpoint as tests walk them.
type Route struct {
	Method, Path, Operation string
	Least                   string // anyone, user, admin
	Status                  int
	Body                    bool
}

// Routes is the table of endpoints.
func Routes() []Route {
	names := map[Access]string{Public: "anyone", Users: "user", Administrators: "admin"}
	var list []Route
	for _, e := range new(handlers).routes() {
		list = append(list, Route{e.Method, openPath(e.Path), e.Name, names[e.Access], e.Status, e.Body != nil})
	}
	return list
}

// LastLines is what logs with a tail are made of.
var LastLines = lastLines

// NewLogins makes the cache of names of local users.
func NewLogins(look func(uint32) string, now func() time.Time) func(uint32) string {
	l := newLocalUsers(Locals{
		Login:       func(uid uint32) (string, error) { return look(uid), nil },
		Subordinate: func(uint32) bool { return false },
	}, now)
	return func(uid uint32) string { return l.get(uid).name }
}
