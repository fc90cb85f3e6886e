package main

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"vjob/cmd/program"
	"vjob/oar/command"
)

// oarName is the command of OAR's by whose name the program was called: oarsub is
// sub. Links of these names to vjob make it answer as them.
func oarName(called string) (name string, ok bool) {
	name, ok = strings.CutPrefix(filepath.Base(called), "oar")
	if ok {
		_, ok = command.Summary(name)
	}
	return name, ok
}

// oar carries out one of OAR's commands and returns its exit code.
func (a *app) oar(ctx context.Context, name string, line []string) int {
	return command.Run(ctx, name, line, command.World{
		Out: a.out, Err: a.err, Getenv: a.getenv, Now: a.now, Version: program.Version(), Client: a.client, Pause: program.Sleep,
		Attach: a.terminal().Work,
	})
}

// oarFamily are OAR's commands below `vjob oar`.
func (a *app) oarFamily() (list []*cobra.Command) {
	for _, name := range command.Names() {
		summary, _ := command.Summary(name)
		list = append(list, &cobra.Command{
			Use:                name,
			Short:              "as oar" + name + ": " + summary,
			DisableFlagParsing: true, // OAR's commands read their lines in their own way
			RunE: func(cmd *cobra.Command, line []string) error {
				if code := a.oar(cmd.Context(), name, line); code != exitOK {
					return &outcome{code: code}
				}
				return nil
			},
		})
	}
	return list
}
