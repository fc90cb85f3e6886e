package admin

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"vjob/api/wire"
	"vjob/cluster"
	"vjob/cmd/vjob/cli"
	"vjob/cmd/vjob/display"
)

func reloadCommand(a *cli.App) *cobra.Command {
	var check bool
	cmd := &cobra.Command{
		Use:   "reload",
		Short: "have the daemon read its settings again, and print what changes",
		Long: `Has the daemon read its settings file again, and prints what changes: + before what is added, - before what is
removed. If the file is wrong, nothing changes. What can change while the daemon runs is applied at
once; what needs a restart stays as it is, and is marked. Vjobs that run go on. A node that vjobs hold is not removed: drain it first.
SIGHUP to vjobd does the same.`,
		Example: `  vjob admin reload --check
  vjob admin reload`,
		Args: cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := a.Client()
			if err != nil {
				return err
			}
			done, err := c.Reload(cmd.Context(), wire.ReloadOrder{Check: check})
			if err != nil {
				return err
			}
			if a.Structured() {
				return a.Print(done)
			}
			_, err = fmt.Fprint(a.Out, reloadText(&done))
			return err
		},
	}
	cmd.Flags().BoolVar(&check, "check", false, "only print what would change")
	return cmd
}

// reloadText lists the changes, and then says what became of them.
func reloadText(r *wire.Reload) string {
	var b strings.Builder
	for i := range r.Changes {
		b.WriteString(changeLine(&r.Changes[i]) + "\n")
	}
	live, verb := len(r.Changes)-r.Restart, "applied"
	if !r.Applied {
		verb = "to apply"
	}
	switch {
	case len(r.Changes) == 0 && r.Applied:
		b.WriteString("nothing differs from the settings in effect; the files that the settings name were read again\n")
		return b.String()
	case len(r.Changes) == 0:
		b.WriteString("nothing differs from the settings in effect\n")
		return b.String()
	}
	fmt.Fprintf(&b, "%s %s", cluster.Count(live, "change"), verb)
	if r.Restart > 0 {
		fmt.Fprintf(&b, ", %d in effect when vjobd is started again", r.Restart)
	}
	b.WriteString("\n")
	return b.String()
}

// changeLine writes a change.
func changeLine(c *wire.SettingChange) string {
	line := c.Setting + ": " + c.Old + " → " + c.New
	switch c.Kind {
	case "added":
		line = strings.TrimSpace("+ " + c.Setting + " " + c.New)
	case "removed":
		line = strings.TrimSpace("- " + c.Setting + " " + c.Old)
	}
	if c.Effect == "restart" {
		line += "  (needs a restart)"
	}
	return display.Clean(line)
}
