package admin

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"vjob/api/wire"
	"vjob/cluster"
	"vjob/cmd/program"
	"vjob/cmd/vjob/cli"
	"vjob/cmd/vjob/display"
)

// The levels of findings.
const (
	green  = "green"
	yellow = "yellow"
	red    = "red"
)

func doctorCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "doctor",
		Short: "check the installation: what is well, what needs attention, what is broken, with the next step",
		Long: `Checks the database, disks, clocks, nodes, versions, permissions of files, back-ups, the certificate, the mail server and alarms.
Each finding is green (well), yellow (needs attention soon) or red (broken), and each that is not green names the next step.
Exit code 1: at least one finding is red. Without a daemon that answers it says so, and what to do.`,
		Args: cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			d, err := examine(cmd.Context(), a)
			if err != nil {
				return err
			}
			if a.Structured() {
				err = a.Print(d)
			} else {
				err = printDoctor(a, d)
			}
			if err == nil && d.Level == red {
				err = &cli.ExitError{Code: cli.ExitInternal} // the output says why
			}
			return err
		},
	}
}

// examine asks the daemon, and adds what only the client sees. That the caller is not allowed to ask is an error.
func examine(ctx context.Context, a *cli.App) (*wire.Doctor, error) {
	began := a.Now()
	c, err := a.Client()
	if err != nil {
		return withFindings(&wire.Doctor{At: began, Findings: []wire.Finding{{Check: "client", Level: red, Text: err.Error(), Next: "vjob admin doctor --help"}}}), nil //nolint:nilerr // it is a finding
	}
	d, err := c.Doctor(ctx)
	switch {
	case err == nil:
		found := append([]wire.Finding{{Check: "daemon", Level: green, Text: "answers at " + c.Server()}}, checkClient(&d, began, a.Now(), program.Version())...)
		return withFindings(&d, found...), nil
	case errors.Is(err, cluster.ErrForbidden), errors.Is(err, cluster.ErrUnauthenticated), errors.Is(err, cluster.ErrNotFound), ctx.Err() != nil:
		return nil, err
	}
	return withFindings(&wire.Doctor{At: began}, unreachable(c.Server(), err)), nil
}

// unreachable is the finding about a daemon that does not answer.
func unreachable(server string, err error) wire.Finding {
	f := wire.Finding{Check: "daemon", Level: red, Text: err.Error()}
	f.Next = "systemctl status vjobd; journalctl -u vjobd -n 50"
	if !strings.HasPrefix(server, "unix:") {
		f.Next = "on the machine of the daemon: " + f.Next
	}
	return f
}

// mostSkew is how far the clocks of client and daemon may differ.
const mostSkew = 30 * time.Second

// checkClient compares client and daemon: their versions, and their clocks during a request.
func checkClient(d *wire.Doctor, began, ended time.Time, version string) []wire.Finding {
	found := []wire.Finding{
		{Check: "versions", Level: green, Text: "client and daemon are " + version},
		{Check: "clock", Level: green, Text: "the clocks of client and daemon agree"},
	}
	if d.Version != version {
		found[0] = wire.Finding{
			Check: "versions", Level: yellow, Text: fmt.Sprintf("the client is %s, the daemon %s", version, d.Version), Next: "docs/how-to/upgrade.md",
		}
	}
	skew := max(d.At.Sub(ended), began.Sub(d.At))
	if skew > mostSkew {
		found[1] = wire.Finding{
			Check: "clock", Level: red, Text: fmt.Sprintf("the clocks of client and daemon differ by %s", skew.Round(time.Second)), Next: "timedatectl, on both machines",
		}
	}
	return found
}

// withFindings puts findings before the others, and sets the level to that of the worst.
func withFindings(d *wire.Doctor, first ...wire.Finding) *wire.Doctor {
	d.Findings = append(first, d.Findings...)
	d.Level = green
	for _, f := range d.Findings {
		if f.Level == red || f.Level == yellow && d.Level == green {
			d.Level = f.Level
		}
	}
	return d
}

// printDoctor prints the findings, each next step below its finding, and the sum.
func printDoctor(a *cli.App, d *wire.Doctor) error {
	t := &display.Table{Heads: display.Heads("CHECK STATE FINDING")}
	count := map[string]int{}
	for _, f := range d.Findings {
		count[f.Level]++
		t.Row(f.Check, f.Level, f.Text)
		if f.Next != "" {
			t.Row("", "", "next: "+f.Next)
		}
	}
	if a.Colours() {
		t.Paint = display.Paint
	}
	if err := t.Write(a.Out, 0); err != nil { // a next step is not cut
		return err
	}
	_, err := fmt.Fprintf(a.Out, "\n%d red, %d yellow, %d green\n", count[red], count[yellow], count[green])
	return err
}
