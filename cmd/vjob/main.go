// Command vjob is the command line of vjob: it submits, follows and steers vjobs
// through the REST API of vjobd, replays workloads in virtual time, and makes and
// checks plans from files.
//
// There is one file per command. The package refuses to know how the daemon does
// anything.
package main

import (
	"context"
	"os"

	"vjob/cmd/program"
)

func main() {
	ctx, stop := program.Context()
	var code int
	if name, ok := oarName(os.Args[0]); ok {
		a := &app{streams: standardStreams()}
		code = a.oar(ctx, name, os.Args[1:])
	} else {
		code = run(ctx, standardStreams(), os.Args[1:])
	}
	stop()
	os.Exit(code)
}

// run carries out one command line and returns its exit code.
func run(ctx context.Context, s streams, args []string) int {
	a := &app{streams: s}
	root := a.root()                          //nolint:contextcheck // cobra hands the context to the commands
	root.SetArgs(append([]string{}, args...)) // never nil, for which cobra would take the program's own
	err := root.ExecuteContext(ctx)
	if err != nil {
		a.complain(err)
	}
	return exitCode(err)
}
