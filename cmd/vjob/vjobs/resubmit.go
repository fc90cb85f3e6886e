package vjobs

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"vjob/api/wire"
	"vjob/cmd/vjob/cli"
	"vjob/cmd/vjob/display"
)

func resubmitCommand(a *cli.App) *cobra.Command {
	var array bool
	cmd := &cobra.Command{
		Use:   "resubmit VJOB",
		Short: "submit the same vjob again, whether it has ended or not",
		Long: `Submits a vjob that is like another one of yours, and prints its number. Its terms are the same, but for
instants that have passed, which are dropped. To change something before, print it as a file:
vjob show --file 12 >again.yaml.`,
		Example: `  vjob resubmit 12
  vjob resubmit --array 1046     # all vjobs of the array`,
		Args: cli.Arguments(1, "the number or the name of a vjob"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.Client()
			if err != nil {
				return err
			}
			id, err := cli.ResolveVJob(cmd.Context(), c, args[0])
			if err != nil {
				return err
			}
			s, err := c.Submission(cmd.Context(), id, array)
			if err != nil {
				return err
			}
			for _, dropped := range dropPast(&s, a.Now()) {
				_, _ = fmt.Fprintf(a.Err, "vjob: %s\n", dropped)
			}
			job, _, err := c.Submit(cmd.Context(), s, "")
			if err != nil {
				return err
			}
			if a.Structured() {
				return a.Print(job)
			}
			_, err = fmt.Fprintln(a.Out, job.ID)
			return err
		},
	}
	cmd.Flags().BoolVar(&array, "array", false, "submit its whole array")
	return cmd
}

// dropPast takes from a submission the instants that have passed, and says which.
func dropPast(s *wire.Submission, now time.Time) (dropped []string) {
	for _, term := range []struct {
		name string
		at   *time.Time
	}{{"deadline", &s.Deadline}, {"not_before", &s.NotBefore}, {"not_after", &s.NotAfter}, {"reservation", &s.Reservation}} {
		if !term.at.IsZero() && !term.at.After(now) {
			dropped = append(dropped, fmt.Sprintf("%s %s has passed: dropped", term.name, display.Moment(term.at)))
			*term.at = time.Time{}
		}
	}
	return dropped
}
