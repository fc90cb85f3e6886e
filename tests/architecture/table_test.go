package architecture_test

// row says what the production code of one package may import of ours. Tests may
// import what they like.
type row struct {
	pkg    string
	may    []string // exact packages, or everything
	unwise string   // what the package refuses to know
}

// table is who may import whom: arrows point down only. The same table stands in
// docs/ARCHITECTURE.md; `go test ./tests/architecture -update` copies it there.
var table = []row{
	{"spelling", nil, "what names are of"},
	{"cluster", nil, "how anything is decided, done or kept"},
	{"demand", of("cluster"), "what is done with a prediction"},
	{"energy", of("cluster"), "how an allocation is found"},
	{"energy/dpm", of("cluster", "energy"), "how VMs are moved, and how a node is switched"},
	{"energy/price", of("cluster", "energy"), "vjobs, and who pays"},
	{"queue/profile", nil, "what is reserved, for whom, and why"},
	{"queue/backfill", of("cluster", "queue/profile"), "how long jobs really run, and whose they are"},
	{"queue/outlook", of("cluster", "queue/profile"), "nodes, and who takes what"},
	{"queue", of("cluster", "queue/outlook"), "where VMs are placed, and how a context switch is made"},
	{"queue/reservation", of("cluster", "queue/outlook", "queue"), "how long a suspension takes, and who may reserve"},
	{"queue/ceiling", of("queue/profile"), "what is counted, and for whom"},
	{"queue/forecast", of("cluster", "queue/outlook", "queue/ceiling"), "policies, and who is on which node"},
	{"queue/mold", of("cluster", "queue/outlook"), "what a shape is made of, and when that is decided"},
	{"queue/calendar", of("cluster"), "what windows in time are for"},
	{"energy/ration", of("energy"), "which vjobs there are, and how one is suspended"},
	{"energy/budget", of("cluster", "energy", "queue/calendar"), "what is drawn"},
	{"queue/fairshare", of("cluster"), "vjobs, and what is done with the factor"},
	{"queue/rank", of("cluster"), "policies, and what is in a queue or a project"},
	{"queue/quota", of("cluster", "queue", "queue/ceiling", "queue/calendar"), "policies and nodes, and how to suspend anybody"},
	{"queue/queues", of("cluster", "queue"), "what order there is within a queue, and quotas"},
	{"queue/arrangement", of("cluster", "queue", "queue/fairshare", "queue/rank", "queue/quota", "queue/queues"), "nodes and verdicts, and how what was used is kept"},
	{"hypervisor", of("cluster"), "why a call is made"},
	{"repack", nil, "vjobs, files and searches"},
	{"repack/rule", of("repack"), "how a plan is searched for"},
	{"repack/script", of("spelling", "repack", "repack/rule"), "who wrote a script, and what its rules do"},
	{"repack/script/rulelist", of("repack/script"), "what the rules are, and all but the YAML"},
	{"repack/planted", of("repack"), "how a problem is solved"},
	{"repack/packing", nil, "VMs, plans and rules: a problem is numbers and callbacks"},
	{"repack/solve", of("repack", "repack/packing"), "vjobs and files"},
	{"repack/format", of("repack", "repack/rule"), "how plans are made, and what is done with them"},
	{"ruling", of("cluster", "repack/rule", "repack/script", "repack/script/rulelist"), "what becomes of the rules"},
	{"ctxswitch", of("cluster", "energy", "queue", "repack", "repack/rule", "repack/script", "repack/solve", "ruling"), "how a plan is carried out"},
	{"ctxswitch/gang", of("cluster", "hypervisor"), "other vjobs, and anything that is neither durable nor seen"},
	{"power", of("cluster"), "why a node is switched, and whether anything runs on it"},
	{"power/cycle", of("cluster", "power"), "why a node is wanted off, and other nodes"},
	{"power/secret", nil, "what passwords open"},
	{"power/command", of("power"), "which nodes there are"},
	{"power/wol", of("cluster", "power", "power/command"), "what runs on the node"},
	{"power/ipmi", of("cluster", "power", "power/secret", "power/command"), "what runs on the node"},
	{"power/redfish", of("cluster", "power", "power/secret"), "what runs on the node"},
	{"journal", of("cluster", "hypervisor", "ctxswitch", "ctxswitch/gang", "power/cycle"), "how it is stored"},
	{"energy/account", of("energy", "energy/price", "journal"), "how energy is written down"},
	{"notify", of("cluster", "journal"), "how messages travel"},
	{"notify/post", of("cluster", "journal", "notify"), "who is told what"},
	{"ctxswitch/execute", of("cluster", "demand", "energy", "hypervisor", "ctxswitch", "ctxswitch/gang", "journal"), "who wanted the plan, and why"},
	{"scheduler/intake", of("cluster", "queue/arrangement", "ruling", "ctxswitch"), "what runs, who asks, and how a vjob is stored"},
	{"scheduler/kin", of("cluster", "ctxswitch/gang", "journal", "ctxswitch/execute"), "what else keeps a vjob from running"},
	{"scheduler/pass", of("cluster", "energy", "energy/price", "queue/outlook", "queue", "queue/reservation", "queue/forecast", "queue/ceiling", "queue/mold", "energy/ration", "energy/budget", "queue/quota", "queue/arrangement", "hypervisor", "ruling", "ctxswitch", "ctxswitch/gang", "ctxswitch/execute"), "how plans are carried out, what is written down, and when the next pass is due"},
	{"scheduler/switchboard", of("cluster", "energy", "power", "power/cycle", "journal"), "why a node is wanted off, and how much power there is"},
	{"scheduler/wattage", of("cluster", "energy", "energy/budget", "journal", "ctxswitch/execute", "scheduler/pass"), "who runs, and how a decision shares the power out"},
	{"scheduler/caretaker", of("cluster", "energy", "energy/dpm", "ctxswitch/gang", "power/cycle", "ctxswitch/execute", "scheduler/pass", "scheduler/switchboard"), "how a node is switched"},
	{"scheduler/chore", of("cluster", "journal"), "what is decided, and which vjobs are live"},
	{"scheduler", of("cluster", "energy", "energy/price", "queue", "queue/reservation", "queue/forecast", "energy/budget", "queue/rank", "queue/arrangement", "hypervisor", "ruling", "ctxswitch", "ctxswitch/gang", "power", "power/cycle", "journal", "ctxswitch/execute", "scheduler/intake", "scheduler/kin", "scheduler/pass", "scheduler/switchboard", "scheduler/wattage", "scheduler/caretaker", "scheduler/chore"), "which store, driver and front it has"},

	{"hypervisor/simulated", of("cluster", "hypervisor", "power"), "gangs, plans and queues"},
	{"hypervisor/libvirt", of("cluster", "hypervisor"), "gangs, plans and queues"},
	{"hypervisor/conformance", of("cluster", "hypervisor"), "which driver it tests"},
	{"db/internal/check", of("cluster", "hypervisor", "ctxswitch", "ctxswitch/gang", "journal", "scheduler/intake"), "where the rows are kept"},
	{"db/replay", of("cluster", "journal"), "everything but the event log"},
	{"db/storetest", of("cluster", "hypervisor", "ctxswitch", "ctxswitch/gang", "power/cycle", "journal", "scheduler/intake", "scheduler", "db/replay"), "which store it tests"},
	{"db/memory", of("cluster", "hypervisor", "ctxswitch/gang", "power/cycle", "journal", "scheduler/intake", "scheduler", "db/internal/check", "db/replay"), "the disk"},
	{"db", of("cluster", "hypervisor", "ctxswitch/gang", "power/cycle", "journal", "scheduler/intake", "scheduler", "db/internal/check", "db/replay"), "what the rows mean to the loop"},

	{"oar/message", of("cluster"), "what is typed"},
	{"oar/date", of("oar/message"), "which time it is, and where"},
	{"oar/property", of("spelling", "oar/message"), "nodes, and every database"},
	{"oar/request", of("oar/message", "oar/date", "oar/property"), "what levels mean, and how many there are"},
	{"oar/mapping", of("spelling", "cluster", "repack/script", "oar/message", "oar/property", "oar/request"), "what runs at present, but for the nodes that are free"},
	{"oar/script", of("spelling", "oar/message"), "what options mean"},
	{"oar/starter", of("cluster", "oar/date"), "how VMs get what they run"},
	{"oar/paramfile", of("oar/message"), "what is run with the parameters"},
	{"oar/jobtype", of("spelling", "oar/message", "oar/date"), "what a type makes of a job"},
	{"oar/admission", of("cluster", "oar/message", "oar/date", "oar/property", "oar/request", "oar/jobtype"), "which queues and nodes there are"},
	{"oar/state", of("cluster"), "how a vjob comes from one state to the next"},

	{"oar/getopt", of("spelling", "oar/message", "oar/script"), "what an option means"},
	{"oar/rest", nil, "everything: it is JSON"},
	{"oar/job", of("cluster", "oar/date", "oar/state", "oar/rest"), "how jobs are submitted and printed"},
	{"oar/report", of("oar/message", "oar/date", "oar/state", "oar/rest"), "where jobs come from, and what they are beside OAR's jobs"},

	{"api/wire", nil, "everything: it is JSON"},
	{"api/client", of("cluster", "api/wire"), "how the daemon does it"},
	{"oar/submission", of("cluster", "ruling", "notify", "oar/message", "oar/date", "oar/property", "oar/request", "oar/mapping", "oar/script", "oar/starter", "oar/paramfile", "oar/jobtype", "oar/admission", "oar/rest", "oar/job", "api/wire"), "how a vjob is stored, and over which way it is asked for"},
	{"terminal", of("cluster", "api/client"), "what runs in a VM"},
	{"oar/command", of("cluster", "oar/message", "oar/date", "oar/script", "oar/jobtype", "oar/state", "oar/getopt", "oar/rest", "oar/report", "api/wire", "api/client", "terminal"), "what a request means: the daemon says it"},
	{"api", of("cluster", "energy", "energy/budget", "queue/rank", "queue/quota", "queue/arrangement", "ctxswitch", "power/cycle", "journal", "energy/account", "notify", "scheduler/intake", "scheduler/switchboard", "scheduler", "api/wire"), "the store and the drivers"},
	{"api/oarapi", of("cluster", "journal", "scheduler", "oar/message", "oar/mapping", "oar/jobtype", "oar/state", "oar/rest", "oar/job", "oar/report", "api/wire", "oar/submission", "api"), "what package oar/submission decides"},

	{"settings/document", of("spelling", "cluster"), "what the documents mean"},
	{"settings", of("spelling", "cluster", "energy", "energy/dpm", "energy/price", "queue", "queue/calendar", "energy/budget", "queue/fairshare", "queue/rank", "queue/quota", "queue/queues", "queue/arrangement", "ruling", "power/command", "oar/request", "oar/mapping", "oar/admission", "oar/submission", "settings/document"), "what is made of it"},
	{"settings/steering", of("cluster", "queue", "queue/arrangement", "ctxswitch", "ctxswitch/gang", "ctxswitch/execute", "scheduler/intake", "scheduler/pass", "scheduler", "hypervisor/simulated", "settings"), "who runs the loop, and on what"},
	{"workload", of("cluster", "scheduler/intake", "settings/document"), "how vjobs are scheduled"},
	{"swf", of("cluster"), "how jobs are scheduled"},
	{"workload/logged", of("cluster", "scheduler/intake", "workload", "swf"), "how vjobs are scheduled"},
	{"energy/day", of("cluster", "energy", "energy/dpm"), "vjobs, queues and gangs"},
	{"energy/bound", of("energy"), "single jobs: only their sums count"},
	{"energy/heuristic", of("energy"), "what is better than the paper"},
	{"energy/solve", of("energy", "energy/bound"), "files, clocks and the paper's heuristics"},
	{"energy/sampled", of("energy", "energy/bound"), "how a problem is solved"},
	{"energy/format", of("energy", "repack/format"), "how allocations are found"},
	{"chart", nil, "what the bars and lines mean"},
	{"replay/spread", nil, "what the values are"},
	{"replay/pool", of("cluster", "queue/backfill", "swf", "chart", "replay/spread"), "nodes, VMs, and how a discipline decides"},
	{"virtual", of("cluster", "hypervisor", "power", "power/cycle", "journal", "ctxswitch/execute", "scheduler/intake", "scheduler", "hypervisor/simulated"), "what is replayed, and what is checked"},
	{"replay", of("cluster", "queue", "ctxswitch", "journal", "ctxswitch/execute", "scheduler/intake", "scheduler/pass", "scheduler", "hypervisor/simulated", "db/memory", "settings/steering", "workload", "chart", "replay/spread", "virtual"), "real time, and the disk"},
	{"daemon", everything, "nothing: it joins the parts, and decides nothing"},
	{"cmd/vjobd", everything, "nothing: it reads flags and runs the daemon"},
	{"cmd/program", nil, "what the programs do"},
	{"cmd/vjob-oar", of("api/client", "terminal", "oar/command", "cmd/program"), "nothing: it reads the name and asks the API"},
	{"cmd/vjob/plain", of("cluster", "energy"), "where the values come from"},
	{"cmd/vjob/cli", of("cluster", "repack/format", "api/client", "terminal", "settings/document", "cmd/program", "cmd/vjob/plain"), "what any command does"},
	{"cmd/vjob/parse", of("cluster", "api/wire", "settings"), "which command asks"},
	{"cmd/vjob/fetch", of("cluster", "api/wire", "api/client"), "what is done with the answer"},
	{"cmd/vjob/wording", of("cluster", "power/cycle", "api/wire", "cmd/vjob/plain"), "how the words are arranged"},
	{"cmd/vjob/vjobfile", of("cluster", "api/wire", "settings/document", "cmd/vjob/parse"), "what only the server can check"},
	{"cmd/vjob/vjobs", of("cluster", "ruling", "api/wire", "api/client", "terminal", "settings/document", "chart", "cmd/program", "cmd/vjob/plain", "cmd/vjob/cli", "cmd/vjob/parse", "cmd/vjob/fetch", "cmd/vjob/wording", "cmd/vjob/vjobfile"), "how the daemon does it"},
	{"cmd/vjob/site", of("cluster", "energy", "repack/rule", "repack/script", "api/wire", "api/client", "settings", "cmd/vjob/plain", "cmd/vjob/cli", "cmd/vjob/parse", "cmd/vjob/fetch", "cmd/vjob/wording"), "how the daemon does it"},
	{"cmd/vjob/watch", of("cluster", "api/wire", "api/client", "cmd/vjob/plain", "cmd/vjob/cli", "cmd/vjob/wording"), "how the daemon knows"},
	{"cmd/vjob/plan", of("cluster", "energy", "repack", "repack/solve", "repack/format", "api/wire", "chart", "cmd/program", "cmd/vjob/plain", "cmd/vjob/cli", "cmd/vjob/parse", "cmd/vjob/wording", "cmd/vjob/vjobfile"), "how a plan is found"},
	{"cmd/vjob/energy", of("cluster", "energy", "energy/dpm", "api/wire", "api/client", "energy/day", "energy/bound", "energy/heuristic", "energy/solve", "energy/format", "chart", "cmd/program", "cmd/vjob/plain", "cmd/vjob/cli", "cmd/vjob/parse", "cmd/vjob/fetch"), "how an allocation is found"},
	{"cmd/vjob/replay", everything, "how vjobs are scheduled"},
	{"cmd/vjob/oar", of("cluster", "oar/message", "oar/date", "oar/property", "oar/request", "oar/mapping", "oar/command", "cmd/program", "cmd/vjob/plain", "cmd/vjob/cli", "cmd/vjob/parse"), "what a request means"},
	{"cmd/vjob", of("cmd/program", "cmd/vjob/cli", "cmd/vjob/vjobs", "cmd/vjob/site", "cmd/vjob/watch", "cmd/vjob/plan", "cmd/vjob/energy", "cmd/vjob/replay", "cmd/vjob/oar"), "nothing: it joins the commands"},
	{"tests/golden", nil, "what the texts mean"},
	{"tests/pace", nil, "what long tests do"},
	{"tests/sim", everything, "real time"},
	{"tests/lab", of("cluster", "hypervisor/libvirt"), "what is tested on its hosts"},
}

// pure packages decide: the same input gives the same bytes. They see no clock,
// no chance, no files, no network and start no goroutine.
var pure = of("energy/day", "energy/dpm", "power/cycle", "spelling", "cluster", "demand", "queue", "queue/profile", "queue/backfill", "queue/outlook", "queue/ceiling", "replay/pool", "replay/spread", "repack", "repack/rule", "repack/script", "repack/packing", "repack/solve", "ruling", "ctxswitch", "ctxswitch/gang", "ctxswitch/execute", "journal", "scheduler", "scheduler/intake", "scheduler/kin", "scheduler/pass", "scheduler/switchboard", "scheduler/wattage", "scheduler/caretaker", "virtual",
	"queue/calendar", "queue/fairshare", "queue/rank", "queue/quota", "queue/queues", "queue/arrangement", "queue/reservation", "queue/forecast", "queue/mold",
	"energy", "energy/budget", "energy/ration", "energy/bound", "energy/heuristic", "energy/solve", "energy/sampled",
	"oar/message", "oar/date", "oar/property", "oar/request", "oar/script", "oar/starter", "oar/paramfile", "oar/state", "oar/mapping", "oar/jobtype", "oar/admission",
	"oar/getopt", "oar/rest", "oar/job", "oar/report", "oar/submission", "notify")

// shells are the files of pure packages that are not: they give the core time and
// carry out what it asks for.
var shells = of("scheduler/calls.go", "scheduler/loop.go", "scheduler/request.go", "repack/solve/party.go")

// everything marks what only wires and so may import all.
var everything = []string{"*"}

func of(pkgs ...string) []string { return pkgs }
