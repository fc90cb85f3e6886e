package completion

import (
	"vjob/cluster"
	"vjob/cmd/vjob/watch/screen"
)

// sources says what completes each placeholder, flag and type of flags. The most special key holds: "events --kind",
// then "--kind", then the placeholder KIND, then the type of the flag.
var sources = map[string]source{
	// Placeholders of arguments and flags that the daemon knows.
	"VJOB": vjobs, "VJOBS": vjobs, "ARRAY": vjobs, "CONTAINER": vjobs, "[CONDITION:]VJOB": dependencies,
	"NODE": nodes, "NODES": nodes, "QUEUE": queues, "PROJECT": projects, "POOL": pools, "OWNER": accounts, "USER": accounts, "ACCOUNT": accounts,
	"PLAN": plans, "TOKEN": tokens, "IMAGE": orphans, "NUMBER": free, "STATES": fixed(append(states(), "live", "ended")...), "LABEL=VALUE": nodeLabels,

	// Words that are fixed.
	"MODE": fixed("automatic", "manual", "never"), "UNTIL": fixed("start", "end"), "PAGE": fixed(screen.PageNames...), "ROLE": fixed("user", "admin"),
	"FORMAT": fixed("table", "wide", "json", "yaml", "csv", "template="),
	"STATE":  fixed("pending", "approved", "rejected", "expired", "dropped", "done"),
	"KIND":   fixed("start", "balance", "consolidate", "drain", "power"),

	// Files.
	"FILE": files, "FOLDER": files, "COMMAND": files, "ARGUMENT": files,

	// Commands and flags of which the placeholder does not say enough.
	"approve NUMBER": recommendations, "reject NUMBER": recommendations, "recommendations show NUMBER": recommendations,
	"show VJOB": allVJobs, "list VJOB": allVJobs, "logs VJOB": allVJobs, "resubmit VJOB": allVJobs, "restore VJOB": allVJobs, "events --vjob": allVJobs, "list --array": allVJobs,
	"accounts delete NAME": accounts, "accounts change NAME": accounts, "accounts disable NAME": accounts, "accounts enable NAME": accounts, "accounts add NAME": free,
	"pools show NAME": pools, "pools set NAME": pools, "pools delete NAME": pools,
	"audit --action":      fixed("login.failed", "user.create", "user.change", "user.delete", "token.create", "token.rotate", "token.revoke", "rules", "budgets", "prices", "pools"),
	"energy account --by": fixed("owner", "project", "queue", "vjob", "node"), "energy now --by": nodeLabelNames,
	"--label": labels, "submit --image": images, "submit --name": free, "token create --name": free, "--name": names,
	"list --outcome": fixed(outcomes()...),
	"--unmet":        fixed("fail", "hold", "run"), "--yields": fixed("suspend", "end", "never"), "--success": fixed("all", "first", "any"), "--shares": fixed("high", "normal", "low"), "--at": free,
	"SHARES": fixed("high", "normal", "low"), "--server": free, "--walltime": free,
	"oar parse --nodes-resources": free,

	// Text that cannot be foreseen.
	"TEXT": free, "NAME": free, "NAME=VALUE": free, "TIME": free, "DATE": free, "DATES": free, "DAYS": free, "WINDOW": free, "HOURS": free, "N": free, "MANY": free,
	"LINES": free, "ZONE": free, "WATTS": free, "MHZ": free, "CPU": free, "PROCESSORS": free, "MEMORY": free, "SIZE": free, "GROUPS": free, "KEY": free, "ID": free, "SHARE": free,
	"ADDRESS": free, "PATTERN": free, "ALTERNATIVE": free, "RULE": free, "REASON": free, "REQUEST": free, "PROPERTIES": free, "LEVELS": free, "DEMAND": free,
	"NUMBER[%MOST]": free, "TIME@PROCESSORS": free, "COUNTxPROCESSORSxMEMORY,…": free, "COUNTxCPUxMEMORY": free, "IDLE:FULL": free,
	"int": free, "uint": free, "int64": free, "float64": free, "duration": free,
}

// states are the names of the states of vjobs.
func states() (names []string) {
	for s := cluster.Waiting; s <= cluster.Failed; s++ {
		names = append(names, s.String())
	}
	return names
}

// outcomes are the ways in which vjobs end.
func outcomes() (names []string) {
	for o := cluster.Open + 1; o < 1<<4; o++ {
		if _, err := cluster.ParseOutcome(o.String()); err == nil {
			names = append(names, o.String())
		}
	}
	return names
}
