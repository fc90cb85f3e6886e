package api

import (
	"fmt"
	"sync"
	"time"
)

// Bounds of the cache of local users.
const (
	maxLogins = 1000
	loginAge  = time.Minute
)

// login is what the system has said of a uid.
type login struct {
	name    string
	refused string // why the uid may not use the socket, whatever accounts there are
}

// logins remember the system's word on uids, which a directory may be slow to give. It is
// safe for concurrent use.
type logins struct {
	locals Locals
	now    func() time.Time

	mu    sync.Mutex
	byUID map[uint32]*lookup
}

// lookup asks the system about one uid, once.
type lookup struct {
	began time.Time
	login func() login
}

func newLogins(locals Locals, now func() time.Time) *logins {
	return &logins{locals: locals, now: now, byUID: map[uint32]*lookup{}}
}

// of is the word on a uid. Only callers with the same uid wait for its lookup.
func (l *logins) of(uid uint32) login { return l.lookup(uid).login() }

func (l *logins) lookup(uid uint32) *lookup {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	if e, ok := l.byUID[uid]; ok && now.Sub(e.began) < loginAge {
		return e
	}
	if len(l.byUID) >= maxLogins {
		clear(l.byUID)
	}
	e := &lookup{now, sync.OnceValue(func() login { return l.locals.ask(uid) })}
	l.byUID[uid] = e
	return e
}

// ask asks the system about a uid.
func (l *Locals) ask(uid uint32) (found login) {
	name, err := l.Login(uid)
	switch {
	case err != nil:
		found.refused = fmt.Sprintf("uid %d has no name on this machine", uid)
	case l.Subordinate(uid):
		found.refused = fmt.Sprintf("uid %d is a subordinate uid (/etc/subuid): use the user that it belongs to", uid)
	}
	found.name = name
	return found
}
