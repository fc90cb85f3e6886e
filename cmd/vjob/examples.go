package main

import (
	"strings"

	"github.com/spf13/cobra"
)

// examples are those of commands that have none of their own: simple ones, of which a line or two say all.
var examples = map[string]string{
	"console":              "vjob console sim-run --rank 1",
	"gantt":                "vjob gantt --ahead 12h\nvjob gantt --svg gantt.svg",
	"watch":                "vjob watch\nvjob watch --once",
	"plans":                "vjob plans -n 5",
	"plans show":           "vjob plans show 4",
	"events":               "vjob events --vjob sim-run\nvjob events -f --kind alarm,node",
	"nodes":                "vjob nodes -o wide\nvjob nodes --sort -cpu",
	"nodes show":           "vjob nodes show n3",
	"nodes drain":          "vjob nodes drain n3 'n[5-7]'",
	"nodes online":         "vjob nodes online n3",
	"nodes offline":        "vjob nodes offline n3",
	"nodes ready":          "vjob nodes ready n3",
	"nodes down":           "vjob nodes down n3",
	"nodes off":            "vjob nodes off n3",
	"nodes on":             "vjob nodes on n3",
	"queues":               "vjob queues",
	"quotas":               "vjob quotas",
	"shares":               "vjob shares",
	"pools show":           "vjob pools show physics",
	"pools delete":         "vjob pools delete physics",
	"images":               "vjob images",
	"images orphans":       "vjob images orphans",
	"images discard":       "vjob images discard 7.0.g2.a1",
	"rules set":            "vjob rules set rules.txt",
	"rules check":          "vjob rules check rules.txt",
	"rules clear":          "vjob rules clear",
	"rules catalogue":      "vjob rules catalogue",
	"price show":           "vjob price show",
	"price set":            "vjob price set tomorrow.csv",
	"price check":          "vjob price check tomorrow.csv",
	"price clear":          "vjob price clear",
	"budget show":          "vjob budget show",
	"budget set":           "vjob budget set 12kW\nvjob budget set 6kW --from 18:00 --to 08:00 --days Mo-Fr",
	"budget clear":         "vjob budget clear --group rack=r1",
	"alarms ack":           "vjob alarms ack 3",
	"recommendations show": "vjob recommendations show 5",
	"accounts":             "vjob accounts",
	"accounts add":         "vjob accounts add ann --local\nvjob accounts add bob --role admin",
	"accounts change":      "vjob accounts change ann --role admin",
	"accounts delete":      "vjob accounts delete ann",
	"accounts disable":     "vjob accounts disable ann",
	"accounts enable":      "vjob accounts enable ann",
	"audit":                "vjob audit --action login.failed",
	"restore":              "vjob restore sim-run",
	"admin doctor":         "vjob admin doctor",
	"admin backup":         "vjob admin backup vjob.db",
	"admin":                "vjob admin doctor\nvjob admin reload --check",
	"token":                "vjob token list",
	"token list":           "vjob token list",
	"token create":         "vjob token create --name laptop",
	"token rotate":         "vjob token rotate 3",
	"token revoke":         "vjob token revoke 3",
	"whoami":               "vjob whoami",
	"version":              "vjob version",
	"oar":                  "vjob oar parse -l nodes=2/core=4,walltime=1:00:00",
	"energy consolidation": "vjob energy consolidation",
	"energy now":           "vjob energy now --by rack",
	"energy":               "vjob energy now",
	"check":                "vjob check --in instance.json --plan plan.json",
}

// illustrate gives commands without examples those of the table.
func illustrate(cmd *cobra.Command) {
	if text := examples[strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" ")]; text != "" && cmd.Example == "" {
		cmd.Example = "  " + strings.ReplaceAll(text, "\n", "\n  ")
	}
	for _, sub := range cmd.Commands() {
		illustrate(sub)
	}
}
