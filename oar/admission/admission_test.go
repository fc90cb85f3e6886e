package admission_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/internal/document"
	"vjob/oar"
	"vjob/oar/admission"
	"vjob/oar/property"
	"vjob/oar/request"
)

// site is a list of rules as administrators write it.
const site = `
- when: {queues: [""]}
  set: {queue: default, project: none}
- name: physics
  when: {groups: [physics], queues: [default], not_types: [besteffort]}
  set: {queue: physics}
  say: "{user} goes to {queue}"
- when: {queues: [physics], walltime_over: "48:0:0"}
  refuse: "no more than two days in {queue}, {user}"
- when: {types: [deploy, cosystem], resources: [core, cpu]}
  refuse: "no {resource} for {type} of {project}"
- when: {no_walltime: true, kinds: [interactive]}
  set: {walltime: "1:0:0"}
  say: an hour
- when: {no_walltime: true}
  set: {walltime: "2:0:0", property: "fast = 'YES'"}
- when: {walltime_over: "10:0:0", not_groups: [staff]}
  set: {walltime: "10:0:0"}
- when: {no_memory: true, queues: [big]}
  set: {memory: 8GiB, image: large}
- when: {no_image: true, queues: [big]}
  say: nothing tells what runs
- when: {memory_over: 64GiB}
  refuse: a VM has 64 GiB at most
- when: {array_over: 100, not_queues: [night]}
  set: {queue: night, types: [besteffort]}
- when: {jobs_over: 1000}
  refuse: too many jobs
- when: {reservations_over: 1, projects: [none]}
  refuse: one reservation is enough
- when: {unknown_types: [licence]}
  refuse: "there is no type {type}"
`

// load reads rules as part of the settings, so that errors have positions.
func load(t *testing.T, text string) (*admission.Policy, error) {
	t.Helper()
	var file struct {
		Admission []admission.Rule `json:"admission"`
	}
	text = "admission:\n" + strings.ReplaceAll("\n"+strings.TrimSpace(text), "\n", "\n  ")
	doc, err := document.Decode("vjobd.yaml", []byte(text), &file)
	if err != nil {
		return nil, err
	}
	p, err := admission.Compile(file.Admission)
	if err != nil {
		return nil, doc.Locate(err)
	}
	return p, nil
}

func ask(t *testing.T, values ...string) *request.Request {
	t.Helper()
	r, err := request.Parse(values, request.DefaultConfig())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// shown formats the result of admission.
func shown(j *admission.Job, said []string, err error) string {
	if err != nil {
		return strings.Join(append(said, err.Error()), "; ")
	}
	parts := []string{j.Queue}
	for _, a := range j.Request.Alternatives {
		parts = append(parts, a.Walltime.String())
	}
	parts = append(parts, j.Types...)
	if p := j.Property(); p != "" {
		parts = append(parts, p)
	}
	return strings.Join(append(parts, said...), " ")
}

func TestRules(t *testing.T) {
	p, err := load(t, site)
	if err != nil {
		t.Fatal(err)
	}
	old, err := property.Parse("-p", "old = 1")
	if err != nil {
		t.Fatal(err)
	}
	one := func(values ...string) admission.Job { return admission.Job{User: "ann", Request: ask(t, values...)} }
	with := func(j admission.Job, change func(*admission.Job)) admission.Job { change(&j); return j }
	for _, c := range []struct {
		job  admission.Job
		want string
	}{
		{one("nodes=1,walltime=1"), "default 1h0m0s"},
		{one("nodes=1"), "default 2h0m0s fast = 'YES'"},
		{one("nodes=1", "nodes=2,walltime=3"), "default 2h0m0s 3h0m0s fast = 'YES'"},
		{one("nodes=1,walltime=20"), "default 10h0m0s"},
		{one("nodes=1,walltime=10"), "default 10h0m0s"},
		{one("nodes=1,walltime=20", "nodes=1,walltime=1"), "default 10h0m0s 1h0m0s"},
		{with(one("nodes=1,walltime=20"), func(j *admission.Job) { j.Groups = []string{"staff"} }), "default 20h0m0s"},
		{with(one("nodes=1"), func(j *admission.Job) { j.Properties = []property.Filter{{}, old} }), "default 2h0m0s (old = 1) AND fast = 'YES'"},
		{with(one("nodes=1"), func(j *admission.Job) { j.Interactive = true }), "default 1h0m0s [ADMISSION RULE] an hour"},
		{with(one("nodes=1"), func(j *admission.Job) { j.Interactive, j.Reservation = true, true }), "default 2h0m0s fast = 'YES'"},
		{with(one("nodes=1,walltime=1"), func(j *admission.Job) { j.Groups = []string{"a", "physics"} }), "physics 1h0m0s [ADMISSION RULE] ann goes to physics"},
		{with(one("nodes=1,walltime=49"), func(j *admission.Job) { j.Groups = []string{"physics"} }), "[ADMISSION RULE] ann goes to physics; [ADMISSION RULE] no more than two days in physics, ann"},
		{with(one("nodes=1,walltime=48"), func(j *admission.Job) { j.Groups = []string{"physics", "staff"} }), "physics 48h0m0s [ADMISSION RULE] ann goes to physics"},
		{with(one("nodes=1,walltime=1"), func(j *admission.Job) { j.Groups, j.Types = []string{"physics"}, []string{"besteffort"} }), "default 1h0m0s besteffort"},
		{with(one("nodes=1,walltime=1"), func(j *admission.Job) { j.Queue = "other" }), "other 1h0m0s"},
		{with(one("nodes=1/core=1,walltime=1"), func(j *admission.Job) { j.Types, j.Queue = []string{"cosystem=standby"}, "q" }), "[ADMISSION RULE] no core for cosystem of"},
		{with(one("nodes=1,walltime=1"), func(j *admission.Job) { j.Types = []string{"deploy"} }), "default 1h0m0s deploy"},
		{with(one("nodes=1,walltime=1"), func(j *admission.Job) { j.Array = 101 }), "night 1h0m0s besteffort"},
		{with(one("nodes=1,walltime=1"), func(j *admission.Job) { j.Array, j.Queue, j.Types = 101, "night", []string{"besteffort"} }), "night 1h0m0s besteffort"},
		{with(one("nodes=1,walltime=1"), func(j *admission.Job) { j.Array = 100 }), "default 1h0m0s"},
		{with(one("nodes=1,walltime=1"), func(j *admission.Job) { j.ActiveJobs = 999 }), "default 1h0m0s"},
		{with(one("nodes=1,walltime=1"), func(j *admission.Job) { j.ActiveJobs = 1000 }), "[ADMISSION RULE] too many jobs"},
		{with(one("nodes=1,walltime=1"), func(j *admission.Job) { j.WaitingReservations = 5 }), "default 1h0m0s"},
		{with(one("nodes=1,walltime=1"), func(j *admission.Job) { j.WaitingReservations, j.Reservation = 1, true }), "[ADMISSION RULE] one reservation is enough"},
		{with(one("nodes=1,walltime=1"), func(j *admission.Job) { j.Types = []string{"licence=2", "idempotent"} }), "default 1h0m0s licence=2 idempotent"},
		{with(one("nodes=1,walltime=1"), func(j *admission.Job) { j.Types = []string{"idempotent", "timesharing"} }), "[ADMISSION RULE] there is no type timesharing"},
		{with(one("nodes=1,walltime=1"), func(j *admission.Job) { j.Types = []string{"x\x1b[2J"} }), "[ADMISSION RULE] there is no type x·[2J"},
	} {
		job, said, err := p.Admit(c.job)
		if got := shown(&job, said, err); got != c.want {
			t.Errorf("%+v:\n%s, want\n%s", c.job, got, c.want)
		}
		if code, _ := oar.ExitOf(err); err != nil && (code != oar.ExitAdmission || !errors.Is(err, cluster.ErrInvalid)) {
			t.Errorf("exit %d", code)
		}
	}
}

func TestTheJobThatIsGivenStays(t *testing.T) {
	p, err := load(t, site)
	if err != nil {
		t.Fatal(err)
	}
	j := admission.Job{User: "ann", Request: ask(t, "nodes=1"), Types: make([]string, 0, 4), Array: 500}
	if _, _, err := p.Admit(j); err != nil {
		t.Fatal(err)
	}
	if j.Queue != "" || j.Request.Alternatives[0].Walltime != request.NoWalltime || len(j.Properties) > 0 || slices.Contains(j.Types[:1], "besteffort") {
		t.Errorf("%+v", j)
	}
}

// Memory and image have defaults by queue, and limits.
func TestSizes(t *testing.T) {
	p, err := load(t, site)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		queue  string
		memory cluster.MiB
		image  string
		want   string
	}{
		{"big", 0, "", "8 GiB large"},
		{"big", 0, "own", "8 GiB large"},
		{"big", cluster.GiB, "", "1 GiB  [ADMISSION RULE] nothing tells what runs"},
		{"big", cluster.GiB, "own", "1 GiB own"},
		{"other", 0, "", "0 MiB "},
		{"other", 64 * cluster.GiB, "", "64 GiB "},
		{"other", 64*cluster.GiB + 1, "", "[ADMISSION RULE] a VM has 64 GiB at most"},
	} {
		j, said, err := p.Admit(admission.Job{User: "ann", Queue: c.queue, Memory: c.memory, Image: c.image, Request: ask(t, "nodes=1,walltime=1")})
		got := strings.Join(append([]string{j.Memory.String(), j.Image}, said...), " ")
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
}

// Compile finds errors, with their positions in the file.
func TestWrongRules(t *testing.T) {
	for text, want := range map[string]string{
		`- {when: {kinds: [nightly]}, refuse: no}`:                    `vjobd.yaml:3:20: admission[0].when.kinds: "nightly": want one of batch, interactive, reservation`,
		`- {when: {users: [a]}}`:                                      "has no effect, want set, say or refuse",
		`- {refuse: no, set: {queue: q}}`:                             "refuse excludes set and say",
		`- {refuse: no, say: yes}`:                                    "refuse excludes set and say",
		`- {when: {walltime_over: 1h}, refuse: no}`:                   `admission[0].when.walltime_over: "1h": want hours:minutes:seconds`,
		`- {set: {walltime: "1:2:3:4"}}`:                              "admission[0].set.walltime",
		`- {when: {walltime_over: 1, no_walltime: true}, refuse: no}`: "no job has both",
		`- {when: {array_over: -1}, refuse: no}`:                      "admission[0].when.array_over: -1: want a number from 0 on",
		`- {set: {property: "a = "}}`:                                 "admission[0].set.property",
		`- {set: {types: [""]}}`:                                      "want the name of a type",
		`- {set: {memory: much}}`:                                     `admission[0].set.memory: "much": want more than 0, such as 512MiB`,
		`- {when: {memory_over: 0}, refuse: no}`:                      "admission[0].when.memory_over",
		`- {when: {memory_over: 1GiB, no_memory: true}, refuse: no}`:  "no job has both",
		`- {say: "hello {name}"}`:                                     "has the unknown placeholder {name}, want one of {user}, {queue}, {project}, {type}, {resource}",
		`- {refuse: "no {type}"}`:                                     "{type} requires when.types",
		`- {when: {types: [a]}, refuse: "no {resource}"}`:             "{resource} requires when.resources",
		`- {when: {user: a}, refuse: no}`:                             "admission[0].when.user: unknown key",
		"- {say: a}\n- {refuse: no, when: {jobs_over: many}}":         "vjobd.yaml:4:",
	} {
		_, err := load(t, text)
		if !errors.Is(err, cluster.ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

func TestDefaultRules(t *testing.T) {
	p, err := admission.Compile(admission.Default())
	if err != nil {
		t.Fatal(err)
	}
	j, said, err := p.Admit(admission.Job{User: "ann", Request: ask(t), Types: []string{"besteffort"}})
	if got := shown(&j, said, err); got != "besteffort 2h0m0s besteffort [ADMISSION RULE] Automatically redirect in the besteffort queue [ADMISSION RULE] Set default walltime to 7200." {
		t.Error(got)
	}
	if a := j.Request.Alternatives[0]; a.Walltime != 2*time.Hour {
		t.Error(a.Walltime)
	}
	if none, err := admission.Compile(nil); err != nil {
		t.Error(err)
	} else if _, said, err := none.Admit(admission.Job{Request: ask(t)}); err != nil || said != nil {
		t.Error(said, err)
	}
}

func BenchmarkAdmit(b *testing.B) {
	p, err := admission.Compile(admission.Default())
	if err != nil {
		b.Fatal(err)
	}
	r, err := request.Parse([]string{"nodes=4/core=2"}, request.DefaultConfig())
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, _, err := p.Admit(admission.Job{User: "ann", Request: r}); err != nil {
			b.Fatal(err)
		}
	}
}
