package plan

import (
	"io"

	"vjob/cmd/vjob/cli"
	"vjob/repack"
	"vjob/repack/format"
)

// readProblem reads an instance file.
func readProblem(a *cli.App, path string) (*repack.Instance, error) {
	var in *repack.Instance
	err := a.ReadFrom("--in", path, func(r io.Reader, name string) error {
		p, err := format.ReadInstance(r, name)
		if err == nil {
			in = p.Instance
		}
		return err
	})
	return in, err
}
