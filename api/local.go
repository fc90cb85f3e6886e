package api

import (
	"bufio"
	"fmt"
	"os"
	"os/user"
	"strconv"
	"strings"
	"sync"
	"time"

	"vjob/cluster"
)

// Locals says which local users may use the unix socket, beside root and the daemon's own user.
// The zero value lets all users of the machine in that are people.
type Locals struct {
	Listed bool // only users with an account that an administrator has added
	// What the system knows of its users; nil: os/user and /etc/subuid.
	Login       func(uid uint32) (name string, err error)
	Groups      func(name string) ([]string, error)
	Subordinate func(uid uint32) bool
}

func (l Locals) withDefaults() Locals {
	if l.Login == nil {
		l.Login = loginName
	}
	if l.Groups == nil {
		l.Groups = systemGroups
	}
	if l.Subordinate == nil {
		l.Subordinate = func(uid uint32) bool { return subordinate("/etc/subuid", uid) }
	}
	return l
}

// The uids of people, as systems hand them out: those below are of services, those from
// firstService to lastService too, with the overflow uid.
const (
	firstRegularUID = 1000
	firstServiceUID = 61_184
	lastServiceUID  = 65_535
)

// isRegularUID reports whether a uid is one of those that systems give to people.
func isRegularUID(uid uint32) bool {
	return uid >= firstRegularUID && (uid < firstServiceUID || uid > lastServiceUID)
}

// loginName is the name of a local user, or uid-N when the name could not be an account's.
func loginName(uid uint32) (string, error) {
	id := strconv.FormatUint(uint64(uid), 10)
	u, err := user.LookupId(id)
	switch {
	case err != nil:
		return "", err
	case !cluster.IsName(u.Username):
		return "uid-" + id, nil
	}
	return u.Username, nil
}

// systemGroups are the groups of a local user.
func systemGroups(name string) (list []string, err error) {
	u, err := user.Lookup(name)
	if err != nil {
		return nil, err
	}
	ids, err := u.GroupIds()
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		if g, err := user.LookupGroupId(id); err == nil {
			list = append(list, g.Name)
		}
	}
	return list, nil
}

// subordinate reports whether a file such as /etc/subuid gives a uid to a user for containers.
func subordinate(path string, uid uint32) bool {
	file, err := os.Open(path)
	if err != nil {
		return false // most machines have none
	}
	defer file.Close() //nolint:errcheck // it was only read
	for lines := bufio.NewScanner(file); lines.Scan(); {
		fields := strings.Split(strings.TrimSpace(lines.Text()), ":")
		if len(fields) != 3 {
			continue
		}
		first, err := strconv.ParseUint(fields[1], 10, 32)
		count, err2 := strconv.ParseUint(fields[2], 10, 64)
		if err == nil && err2 == nil && uint64(uid) >= first && uint64(uid)-first < count {
			return true
		}
	}
	return false
}

// privileged reports whether a uid is root's or the daemon's own.
func privileged(uid uint32) bool { return uid == 0 || uid == uint32(os.Getuid()) } //nolint:gosec // uids have 32 bits

// administers reports whether a name is that of root or of the daemon's own user.
func (l *localUsers) administers(name string) bool {
	return name == l.get(0).name || name == l.get(uint32(os.Getuid())).name //nolint:gosec // uids have 32 bits
}

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
