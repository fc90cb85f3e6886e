package api

import (
	"context"
	"errors"

	"vjob/api/wire"
	"vjob/cluster"
)

// Outputs keeps the output of vjobs in files of their owners.
type Outputs interface {
	// Check returns an error that says why no files can be written for an owner, and what to do instead.
	Check(ctx context.Context, owner string) error
	// Folder returns the folder of an owner, below which the files are.
	Folder(owner string) string
	// Files lists the output files of a vjob; none if it keeps none.
	Files(job *cluster.VJob) []wire.OutputFile
}

// errNoOutputs is the error for output files without a directory for them.
var errNoOutputs = errors.New("this site keeps no output files, vjob logs prints the output: leave it out, or have an administrator set output.directory")

// checkOutputs refuses output files that cannot be written.
func (s *submitter) checkOutputs(ctx context.Context, owner string, t *cluster.Terms) error {
	if !t.KeepsOutput() {
		return nil
	}
	_, err := outputFolder(ctx, s.outputs, owner)
	if err == nil {
		return nil
	}
	field := "output"
	if t.Output == "" {
		field = "error"
	}
	return cluster.Fault(field, "%s", err)
}

// outputFolder returns the folder of an owner, or an error that says why no files can be written there.
func outputFolder(ctx context.Context, o Outputs, owner string) (string, error) {
	if o == nil {
		return "", errNoOutputs
	}
	return o.Folder(owner), o.Check(ctx, owner)
}

// outputFiles lists the output files of a vjob.
func outputFiles(o Outputs, job *cluster.VJob) []wire.OutputFile {
	if o == nil || !job.KeepsOutput() {
		return nil
	}
	return o.Files(job)
}
