package api

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/user"
	"strconv"
	"strings"

	"vjob/api/wire"
	"vjob/cluster"
	"vjob/ctxswitch/journal"
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

// local is the subject of a local user. Root and the daemon's own user are administrators,
// whatever the accounts say.
func (s *Server) local(ctx context.Context, uid uint32) (Subject, error) {
	caller := Subject{Via: "socket", From: fmt.Sprintf("uid %d", uid)}
	l := s.localUsers.get(uid)
	if privileged(uid) {
		caller.Name, caller.Role = l.name, journal.RoleAdmin
		if caller.Name == "" {
			caller.Name = fmt.Sprintf("uid-%d", uid)
		}
		return caller, nil
	}
	if l.refusal != "" {
		return Subject{}, fmt.Errorf("%s: %w", l.refusal, cluster.ErrForbidden)
	}
	account, err := s.accounts.Admit(ctx, journal.LocalUser{
		Name: l.name, UID: uid, Open: !s.localUsers.locals.Listed && isRegularUID(uid),
	}, s.now().UTC())
	if err != nil {
		return Subject{}, err
	}
	caller.Name, caller.Role = account.Name, account.Role
	return caller, nil
}

// privileged reports whether a uid is root's or the daemon's own.
func privileged(uid uint32) bool { return uid == 0 || uid == uint32(os.Getuid()) } //nolint:gosec // uids have 32 bits

// administers reports whether a name is that of root or of the daemon's own user.
func (s *Server) administers(name string) bool {
	return name == s.localUsers.get(0).name || name == s.localUsers.get(uint32(os.Getuid())).name //nolint:gosec // uids have 32 bits
}

// groups are those of a subject. known is false where neither the system nor the account tells.
func (s *Server) groups(ctx context.Context, caller Subject) (list []string, known bool, err error) {
	account, err := s.accounts.User(ctx, caller.Name)
	switch {
	case isNotFound(err):
		account.Local = caller.Via == "socket"
	case err != nil:
		return nil, false, err
	}
	if !account.Local {
		return account.Groups, account.Groups != nil, nil
	}
	list, err = s.localUsers.locals.Groups(caller.Name)
	return list, err == nil, nil
}

// checkImages refuses a submission of images that the subject may not boot. An image that does
// not exist is left to later checks.
func (s *Server) checkImages(ctx context.Context, caller Subject, vms []cluster.VM) error {
	images, err := s.bootable(ctx, caller)
	if err != nil {
		return err
	}
	for i := range vms {
		for _, image := range images {
			named := vms[i].Payload.Image
			if !image.may && (named == image.ID || named == "" && image.Default) {
				return fmt.Errorf("vms[%d].image: %s may not boot the image %s; vjob images lists those that they may: %w", i, caller.Name, image.ID, cluster.ErrForbidden)
			}
		}
	}
	return nil
}

// permitted is an image, and whether the subject may boot it.
type permitted struct {
	wire.Image
	may bool
}

func (s *Server) bootable(ctx context.Context, caller Subject) ([]permitted, error) {
	if s.catalogue == nil {
		return nil, nil
	}
	images, err := s.catalogue.Images(ctx)
	if err != nil {
		return nil, err
	}
	list, asked := make([]permitted, len(images)), false
	var groups []string
	for i := range images {
		if len(images[i].Groups) > 0 && !asked {
			asked = true
			if groups, _, err = s.groups(ctx, caller); err != nil {
				return nil, err
			}
		}
		list[i] = permitted{images[i], s.mayBoot(&images[i], caller, groups)}
	}
	return list, nil
}
