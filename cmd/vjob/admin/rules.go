package admin

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"vjob/api/wire"
	"vjob/cmd/vjob/cli"
	"vjob/cmd/vjob/display"
	"vjob/repack/rule"
	"vjob/repack/script"
)

func rulesCommand(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "rules",
		Short: "show the placement rules of the cluster; administrators also change them",
		Long: `Shows the placement rules that hold for all vjobs: those of the daemon's settings and
those that were stated here, and what breaks rules now. docs/reference/rules.md is the language.`,
		Example: `  vjob rules
  vjob rules check racks.rules
  vjob rules set racks.rules
  echo 'for $r in $ALL_NODES / rack { capacity($r, 300); }' | vjob rules set -`,
		Args: cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := a.Client()
			if err != nil {
				return err
			}
			rules, err := c.Rules(cmd.Context())
			if err != nil {
				return err
			}
			if a.Structured() {
				return a.Print(rules)
			}
			return showRules(a, &rules)
		},
	}
	cmd.AddCommand(
		changeRules(a, "set FILE", "replace the rules that were stated by those of a file", false),
		changeRules(a, "check FILE", "say what is wrong with the rules of a file, and change nothing", true),
		clearRules(a), catalogueCommand(a),
	)
	return cmd
}

func showRules(a *cli.App, r *wire.Rules) error {
	var b strings.Builder
	block := func(title, text string) {
		if text = strings.TrimSpace(text); text == "" {
			text = "none"
		}
		b.WriteString(title + "\n")
		for line := range strings.Lines(text) {
			b.WriteString("  " + display.Clean(strings.TrimRight(line, "\r\n")) + "\n")
		}
	}
	block("in the settings", r.Settings)
	stated := "stated"
	if r.StatedBy != "" {
		stated = fmt.Sprintf("stated by %s, %s", display.Clean(r.StatedBy), display.Moment(r.Stated))
	}
	block(stated, r.Text)
	if len(r.Broken) > 0 {
		block("broken now", strings.Join(r.Broken, "\n"))
	}
	if len(r.Dropped) > 0 {
		block("preferred rules that are dropped now", strings.Join(r.Dropped, "\n"))
	}
	_, err := fmt.Fprint(a.Out, b.String())
	return err
}

// changeRules sends the rules of a file, "-" is the standard input.
func changeRules(a *cli.App, use, short string, check bool) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Args: cli.Arguments(1, "a file with rules, or -"),
		RunE: func(cmd *cobra.Command, args []string) error {
			data, err := a.ReadInput(args[0])
			if err != nil {
				return err
			}
			done := "the rules are stated\n"
			if check {
				done = "the rules are right\n"
			}
			return sendRules(a, cmd, wire.RulesChange{Text: string(data), Check: check}, done)
		},
	}
}

func clearRules(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "clear", Short: "take the rules back that were stated; those of the settings stay", Args: cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return sendRules(a, cmd, wire.RulesChange{}, "no rules but those of the settings\n")
		},
	}
}

func sendRules(a *cli.App, cmd *cobra.Command, change wire.RulesChange, done string) error {
	c, err := a.Client()
	if err != nil {
		return err
	}
	if err := c.SetRules(cmd.Context(), change); err != nil {
		return err
	}
	if a.Structured() {
		return a.Print(change)
	}
	_, err = fmt.Fprint(a.Out, done)
	return err
}

// catalogueCommand needs no daemon.
func catalogueCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "catalogue", Short: "list the rules that there are, and what each says", Args: cli.NoArguments,
		RunE: func(*cobra.Command, []string) error {
			type entry struct {
				Rule       string `json:"rule"`
				Call       string `json:"call"`
				Meaning    string `json:"meaning"`
				Continuous bool   `json:"continuous"` // it can hold at every instant
				Discrete   bool   `json:"discrete"`   // it can hold at the end
			}
			var list []entry
			t := &display.Table{Heads: display.Heads("RULE HOLDS MEANING")}
			for _, k := range rule.Catalogue() {
				e := entry{k.Name, script.Signature(k), k.Doc, k.Modes&rule.Continuous != 0, k.Modes&rule.Discrete != 0}
				list = append(list, e)
				holds := "at the end"
				switch {
				case e.Continuous && e.Discrete:
					holds = "either"
				case e.Continuous:
					holds = "throughout"
				}
				t.Row(e.Call, holds, e.Meaning)
			}
			return a.Show(list, func() *display.Table { return t })
		},
	}
}
