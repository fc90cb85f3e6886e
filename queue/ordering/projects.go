package ordering

import (
	"fmt"
	"slices"
	"strings"

	"vjob/cluster"
	"vjob/queue/quota"
)

// Project is a project for which users submit vjobs.
type Project struct {
	Name  string
	Users []string // by name; [quota.Each] is all users
	Pool  string   // of its vjobs that name none; ""
}

// Projects say which users may submit for which project. Without any, all users may name any project.
type Projects []Project

// Check returns which project is wrong, if any.
func (p Projects) Check() error {
	for i, one := range p {
		field := fmt.Sprintf("projects[%d]", i)
		switch {
		case strings.TrimSpace(one.Name) == "" || one.Name == quota.Each || strings.Contains(one.Name, "/"):
			return cluster.BadField(field+".name", one.Name, "a name without slashes, and not each")
		case slices.ContainsFunc(p[:i], func(o Project) bool { return o.Name == one.Name }):
			return cluster.BadField(field+".name", one.Name, "a name that no other project has")
		case len(one.Users) == 0:
			return cluster.BadField(field+".users", "[]", "at least one user, or each")
		}
	}
	return nil
}

// Route returns the project of a submission: the named one if the user may use it, or the first one of the
// user; "" if the user has no project.
func (p Projects) Route(user, project string) (string, error) {
	if len(p) == 0 {
		return project, nil
	}
	own := p.of(user)
	switch {
	case project == "" && len(own) == 0:
		return "", nil
	case project == "":
		return own[0], nil
	case slices.Contains(own, project):
		return project, nil
	case len(own) == 0:
		return "", cluster.Fault("project", "%q given, %s has no project", project, user)
	default:
		return "", cluster.BadField("project", project, "one of the projects of "+user+": "+strings.Join(own, ", "))
	}
}

// pool returns the pool of a project; "" for none.
func (p Projects) pool(name string) string {
	if i := slices.IndexFunc(p, func(one Project) bool { return one.Name == name }); i >= 0 {
		return p[i].Pool
	}
	return ""
}

// of returns the projects of a user.
func (p Projects) of(user string) (names []string) {
	for _, one := range p {
		if slices.Contains(one.Users, user) || slices.Contains(one.Users, quota.Each) {
			names = append(names, one.Name)
		}
	}
	return names
}
