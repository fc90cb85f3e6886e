package settings

import (
	"fmt"
	"os"
	"path/filepath"

	"vjob/cluster"
)

// Output are the settings of output files, see docs/how-to/keep-output-in-files.md.
type Output struct {
	Directory string `json:"directory"` // with one folder a user; "": none are kept
	Limit     Size   `json:"limit"`     // of one file; 0: no limit
}

func (o *Output) validate() error {
	if o.Limit.MiB < 0 {
		return cluster.BadField("output.limit", o.Limit.MiB, "a size such as 1GiB, or 0 for no limit")
	}
	if o.Directory == "" {
		return nil
	}
	if !filepath.IsAbs(o.Directory) {
		return cluster.BadField("output.directory", o.Directory, "an absolute path, or nothing")
	}
	info, err := os.Stat(o.Directory)
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("it is a file")
	}
	if err != nil {
		return cluster.BadField("output.directory", o.Directory, "a directory that exists: "+err.Error())
	}
	return nil
}
