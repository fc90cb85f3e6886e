package api

import (
	"fmt"
	"sync"
	"time"
)

// Bounds of the cache of local users.
const (
	maxLocalUsers = 1000
	localUserAge  = time.Minute
)

// localUser is what the system has said of a uid.
type localUser struct {
	name    string
	refusal string // why the uid may not use the socket, whatever accounts there are
}

// localUsers remember the system's word on uids, which a directory may be slow to give. It is
// safe for concurrent use.
type localUsers struct {
	locals Locals
	now    func() time.Time

	mu    sync.Mutex
	byUID map[uint32]*lookup
}

// lookup asks the system about one uid, once.
type lookup struct {
	began time.Time
	user  func() localUser
}

func newLocalUsers(locals Locals, now func() time.Time) *localUsers {
	return &localUsers{locals: locals, now: now, byUID: map[uint32]*lookup{}}
}

// get is the word on a uid. Only callers with the same uid wait for its lookup.
func (l *localUsers) get(uid uint32) localUser { return l.lookup(uid).user() }

func (l *localUsers) lookup(uid uint32) *lookup {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	if e, ok := l.byUID[uid]; ok && now.Sub(e.began) < localUserAge {
		return e
	}
	if len(l.byUID) >= maxLocalUsers {
		clear(l.byUID)
	}
	e := &lookup{now, sync.OnceValue(func() localUser { return l.locals.ask(uid) })}
	l.byUID[uid] = e
	return e
}

// ask asks the system about a uid.
func (l *Locals) ask(uid uint32) (found localUser) {
	name, err := l.Login(uid)
	switch {
	case err != nil:
		found.refusal = fmt.Sprintf("uid %d has no name on this machine", uid)
	case l.Subordinate(uid):
		found.refusal = fmt.Sprintf("uid %d is a subordinate uid (/etc/subuid): use the user that it belongs to", uid)
	}
	found.name = name
	return found
}
