package cli

import (
	"strings"

	"github.com/spf13/cobra"
)

// Complete offers fixed values for a flag.
func Complete(cmd *cobra.Command, flag string, values ...string) {
	completeFlag(cmd, flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
}

// CompleteList offers fixed values for a flag that takes several with commas, each with the sign in front if it was
// typed.
func CompleteList(cmd *cobra.Command, flag, sign string, values ...string) {
	completeFlag(cmd, flag, func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		before := typed[:strings.LastIndexByte(typed, ',')+1]
		if sign != "" && strings.HasPrefix(typed[len(before):], sign) {
			before += sign
		}
		list := make([]string, len(values))
		for i, v := range values {
			list[i] = before + v
		}
		return list, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	})
}

func completeFlag(cmd *cobra.Command, flag string, complete cobra.CompletionFunc) {
	// The error says that there is no such flag, which the tests would show.
	_ = cmd.RegisterFlagCompletionFunc(flag, complete)
}
