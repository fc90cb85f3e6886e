package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version is what the build recorded: a tag, or the commit.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return s.Value[:12]
		}
	}
	return "development"
}

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "print the version of this program",
		Args:  noArguments,
		RunE: func(*cobra.Command, []string) error {
			if a.json() {
				return printJSON(a.out, map[string]string{"version": version(), "go": runtime.Version()}, true)
			}
			_, err := fmt.Fprintf(a.out, "vjob %s (%s)\n", version(), runtime.Version())
			return err
		},
	}
}
