package settings

import (
	"fmt"
	"io/fs"
	"os/user"
	"slices"
	"strconv"

	"vjob/cluster"
)

// Accounts are the settings of accounts and tokens.
type Accounts struct {
	TokenLifetime Age `json:"token_lifetime"`
}

// Permissions returns the mode and group of the unix socket. gid is -1 for the group of the daemon.
func (l *Listen) Permissions() (mode fs.FileMode, gid int, err error) {
	bits, err := strconv.ParseUint(l.Mode, 8, 32)
	if err != nil || bits > 0o777 || bits&0o600 != 0o600 {
		return 0, 0, cluster.BadField("listen.mode", l.Mode, `permissions in octal with those of the owner, such as "0666", or "0660" with listen.group`)
	}
	if l.Group == "" {
		return fs.FileMode(bits), -1, nil
	}
	group, err := user.LookupGroup(l.Group)
	if err == nil {
		gid, err = strconv.Atoi(group.Gid)
	}
	if err != nil {
		return 0, 0, cluster.BadField("listen.group", l.Group, "a group of this machine: "+err.Error())
	}
	return fs.FileMode(bits), gid, nil
}

// validateUsers checks which users the API accepts.
func (l *Listen) validateUsers() error {
	if err := (choice{"listen.users", l.Users, "any listed"}).check(); err != nil {
		return err
	}
	_, _, err := l.Permissions()
	return err
}

func (a *Accounts) validate() error {
	return a.TokenLifetime.check("accounts.token_lifetime")
}

// check refuses an age below youngest or above oldest; 0 is never.
func (a Age) check(field string) error {
	if a.Duration != 0 && (a.Duration < youngest || a.Duration > oldest) {
		return cluster.BadField(field, a, fmt.Sprintf("between %s and %s, or never", Age{youngest}, Age{oldest}))
	}
	return nil
}

// checkPermitted checks the users and groups that may boot an image.
func (i *Image) checkPermitted(field string) error {
	for name, list := range map[string][]string{"users": i.Users, "groups": i.Groups} {
		if at := slices.IndexFunc(list, func(n string) bool { return !cluster.IsName(n) }); at >= 0 {
			return cluster.BadField(fmt.Sprintf("%s.%s[%d]", field, name, at), list[at], "the name of an account or a group")
		}
	}
	return nil
}
