package api

import (
	"github.com/gin-gonic/gin"

	"vjob/api/wire"
)

// Endpoint is one operation of the API, as data. The table of endpoints routes the requests, authorises
// the callers, and is described by the OpenAPI document.
type Endpoint struct {
	Method, Path string // the path with :name for a variable
	Name         string // operationId of OpenAPI
	Summary      string
	Access       Access
	Verb         Verb
	Query        []Param
	// Preconditions are those that a change takes.
	Preconditions Preconditions
	Body          any          // zero value of the request body, nil without one
	LargeBody     bool         // the body may have the length of a submission
	Status        int          // of success
	Result        any          // zero value of the answer, a [OneOf], or nil without an answer in JSON
	Media         string       // of the answer when it is not JSON
	Lines         bool         // the list is streamed as lines if those are accepted
	class         requestClass // of its concurrency limit
	Handle        Handler
	Errors        *ErrorShape // nil: the shape of /v1
}

// Handler answers a request of a caller that may make it. The server answers with the error, if
// there is one.
type Handler func(c *gin.Context, caller Subject) error

// OneOf has the zero values of different answers; the query of the request selects one.
type OneOf []any

// ErrorShape is a form of errors other than that of /v1.
type ErrorShape struct {
	Name string // prefix of its parts in the OpenAPI document
	// Show returns the answer.
	Show func(status int, body wire.ErrorBody, cause error) any
}

// Access is the access that an endpoint requires.
type Access uint8

// The levels of access.
const (
	Administrators Access = iota // the zero value denies most
	Users                        // any account
	Public                       // no credentials needed
)

// object returns an object that callers of the level may access by any verb: an account for
// administrators, an own vjob for users.
func (l Access) object(caller Subject) Object {
	if l == Users {
		return Object{Kind: KindVJob, Owner: caller.Name}
	}
	return Object{Kind: KindAccount}
}

// Param is one key of a query string.
type Param struct {
	Name    string
	Kind    string // OpenAPI: string, integer, boolean
	Many    bool   // may be given more than once
	Meaning string
}
