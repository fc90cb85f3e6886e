package api

import (
	"fmt"
	"slices"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
)

// Subject is the authenticated caller of a request. Nothing in the body, the query or the path
// of the request changes it.
type Subject struct {
	Name string // "" for an unauthenticated request
	Role journal.Role
	Via  string // "socket" or "token"
	From string // uid or network address
	// Token is the name of the token, or its number if it has none; "" without one.
	Token string
}

// Verb is the kind of access to an object.
type Verb string

// The verbs.
const (
	Read   Verb = "read"
	Create Verb = "create"
	Change Verb = "change"
)

// Kind sorts objects.
type Kind string

// The kinds of objects.
const (
	KindVJob    Kind = "vjob"    // of an owner, with its console and events
	KindCluster Kind = "cluster" // nodes, status and catalogue, as far as all users may see them
	KindPlans   Kind = "plans"   // context switches in full, with all that others do
	KindAccount Kind = "account" // users
	KindToken   Kind = "token"   // of an owner
	KindSelf    Kind = "self"    // the identity of the caller
)

// Object is what a request touches.
type Object struct {
	Kind  Kind
	Owner string // of a vjob or a token
}

// Can is the whole authorisation: whether the subject may do this to the object.
// What is not allowed here is denied.
func Can(s Subject, verb Verb, o Object) bool {
	if s.Name == "" {
		return false
	}
	switch s.Role {
	case journal.RoleAdmin:
		return true
	case journal.RoleUser:
		switch o.Kind {
		case KindVJob, KindToken:
			return o.Owner == s.Name
		case KindCluster, KindSelf:
			return verb == Read
		case KindPlans, KindAccount:
		}
	}
	return false
}

// CanAll reports whether the subject may do this to every one of the objects
// that a request was resolved to. It is false without objects.
func CanAll(s Subject, verb Verb, objects ...Object) bool {
	return len(objects) > 0 && !slices.ContainsFunc(objects, func(o Object) bool { return !Can(s, verb, o) })
}

// authorise is CanAll as an error. Vjobs that the caller may not see are not found, so that an
// answer does not reveal that they exist.
func authorise(s Subject, verb Verb, objects ...Object) error {
	switch {
	case CanAll(s, verb, objects...):
		return nil
	case s.Name == "":
		return errUnauthenticated
	case len(objects) > 0 && objects[0].Kind == KindVJob:
		return fmt.Errorf("vjob: %w", cluster.ErrNotFound)
	default:
		return fmt.Errorf("%s may not %s this: %w", s.Name, verb, cluster.ErrForbidden)
	}
}

// Origin is where the request came from.
func (s Subject) Origin() cluster.Origin { return cluster.Origin{From: s.From, Token: s.Token} }

// Viewer narrows a list to what the subject owns; "" narrows nothing.
func (s Subject) Viewer() string {
	if s.Role == journal.RoleAdmin {
		return ""
	}
	return s.Name
}
