package main

import (
	"maps"
	"slices"
	"sync"

	"github.com/spf13/cobra"
)

// groups are the commands by task, the most common first.
var groups = []struct {
	title    string
	commands []string
}{
	{"Run work:", []string{"submit", "list", "show", "logs", "wait", "delete", "resubmit", "console"}},
	{"Steer vjobs:", []string{"hold", "release", "suspend", "resume", "requeue", "walltime", "moves"}},
	{"See what happens, and what will:", []string{"watch", "gantt", "plans", "events", "report", "energy"}},
	{"See the cluster and its rules:", []string{"nodes", "queues", "quotas", "shares", "pools", "images", "rules", "price", "budget"}},
	{"Administer:", []string{"alarms", "recommendations", "approve", "reject", "balance", "accounts", "audit", "restore", "admin"}},
	{"Try offline, or ask what if:", []string{"plan", "check", "replay", "balance-day", "oar"}},
	{"This program and you:", []string{"whoami", "token", "completion", "version", "help"}},
}

// synonyms are other names of commands, as users of other systems type them.
var synonyms = map[string][]string{
	"submit": {"run"}, "list": {"ps"}, "show": {"info", "status"}, "delete": {"cancel", "kill", "rm"}, "watch": {"top"}, "console": {"attach"},
}

// unsorted keeps commands in the order of their groups. The switch is one for all trees, which tests make side by side.
var unsorted = sync.OnceFunc(func() { cobra.EnableCommandSorting = false })

// arrange puts the commands into their groups, in order, and gives them their synonyms.
func arrange(root *cobra.Command) {
	unsorted()
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	byName := map[string]*cobra.Command{}
	for _, c := range root.Commands() {
		byName[c.Name()] = c
		root.RemoveCommand(c)
	}
	for _, g := range groups {
		root.AddGroup(&cobra.Group{ID: g.title, Title: g.title})
		for _, name := range g.commands {
			c := byName[name]
			c.GroupID = g.title
			c.Aliases = append(c.Aliases, synonyms[name]...)
			root.AddCommand(c)
			delete(byName, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		root.AddCommand(byName[name])
	}
}
