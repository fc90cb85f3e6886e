package ordering_test

import (
	"testing"
	"time"

	"vjob/cluster"
	"vjob/queue/ordering"
)

func TestAdmit(t *testing.T) {
	r := settings(t, night(t))
	r.Projects = ordering.Projects{{Name: "physics", Users: []string{"ann", "bob"}}, {Name: "common", Users: []string{"each"}}}
	for name, c := range map[string]struct {
		job            *cluster.VJob
		queue, project string
		want           string
	}{
		"as it is":               {vjob(1, "ann", "common", "idle", 1), "idle", "common", ""},
		"the usual":              {vjob(1, "ann", "", "", 1), "batch", "physics", ""},
		"each has a project":     {vjob(1, "eve", "", "", 1), "batch", "common", ""},
		"no such queue":          {vjob(1, "ann", "", "night", 1), "", "", `queue: "night" is not one of urgent, batch, idle`},
		"another's project":      {vjob(1, "eve", "physics", "", 1), "", "", `project: "physics" is not one of the projects of eve: common`},
		"too large":              {vjob(1, "ann", "", "", 9), "", "", `vms: 9 VMs requested, queue batch allows at most 8`},
		"too long":               {vjob(1, "ann", "", "urgent", 1), "", "", `walltime_seconds: queue urgent requires a walltime of at most 1h0m0s`},
		"as large as ever may":   {vjob(1, "ann", "", "idle", 16), "idle", "physics", ""},
		"more than a quota ever": {vjob(1, "ann", "", "idle", 17), "", "", `vms: 17 CPU requested, quota cpus of user ann allows at most 16 CPU`},
	} {
		t.Run(name, func(t *testing.T) {
			err := r.Admit(c.job)
			if (err == nil) != (c.want == "") || err != nil && err.Error() != c.want {
				t.Fatalf("%v, want %s", err, c.want)
			}
			if err == nil && (c.job.Queue != c.queue || c.job.Project != c.project) {
				t.Errorf("in queue %q for project %q", c.job.Queue, c.job.Project)
			}
		})
	}
	moldable := vjob(1, "ann", "", "", 2)
	moldable.Shapes = []cluster.Shape{{VMs: moldable.VMs}, {VMs: vjob(1, "", "", "", 9).VMs, Walltime: time.Minute}}
	if err := r.Admit(moldable); err == nil || err.Error() != `shapes[1].vms: 9 VMs requested, queue batch allows at most 8` {
		t.Error(err)
	}
}

func TestProjects(t *testing.T) {
	for name, c := range map[string]struct {
		list ordering.Projects
		want string
	}{
		"none":          {nil, ""},
		"one":           {ordering.Projects{{Name: "p", Users: []string{"ann"}}}, ""},
		"no name":       {ordering.Projects{{Users: []string{"ann"}}}, `projects[0].name: "" is not a name without slashes, and not each`},
		"a path":        {ordering.Projects{{Name: "p/q", Users: []string{"ann"}}}, `projects[0].name: "p/q" is not a name without slashes, and not each`},
		"without users": {ordering.Projects{{Name: "p"}}, `projects[0].users: "[]" is not at least one user, or each`},
		"twice": {
			ordering.Projects{{Name: "p", Users: []string{"ann"}}, {Name: "p", Users: []string{"bob"}}},
			`projects[1].name: "p" is not a name that no other project has`,
		},
	} {
		if err := c.list.Check(); (err == nil) != (c.want == "") || err != nil && err.Error() != c.want {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
	list := ordering.Projects{{Name: "p", Users: []string{"ann"}}}
	if _, err := list.Route("eve", "p"); err == nil || err.Error() != `project: "p" given, eve has no project` {
		t.Error(err)
	}
	if project, err := list.Route("eve", ""); project != "" || err != nil {
		t.Errorf("%q, %v", project, err)
	}
	if project, err := ordering.Projects(nil).Route("eve", "new"); project != "new" || err != nil {
		t.Errorf("%q, %v", project, err)
	}
}
