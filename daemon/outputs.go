package daemon

import (
	"context"
	"path/filepath"
	"time"

	"vjob/api"
	"vjob/api/wire"
	"vjob/cluster"
	"vjob/daemon/output"
	"vjob/daemon/settings"
)

// outputs keeps the output of vjobs in files.
type outputs struct {
	users  *output.Users
	copier *output.Copier
}

// openOutputs returns what keeps output in files; nil if the settings name no directory.
func (d *Daemon) openOutputs() *outputs {
	s := &d.settings
	if s.Output.Directory == "" {
		return nil
	}
	users := &output.Users{Directory: s.Output.Directory, Account: d.store.User}
	return &outputs{users, output.New(output.Config{
		Store: d.store, Consoles: d.driver, Open: users.Open, Marked: marksOutput(s),
		Limit: int64(s.Output.Limit.MiB) << 20, Log: d.log, Now: time.Now, Every: time.Second,
	})}
}

// marksOutput returns whether the console of a VM tells the output of its work from other text: that of a VM which
// runs a command or a script, unless its image boots a kernel.
func marksOutput(s *settings.Settings) func(p cluster.Payload) bool {
	kernel := map[string]bool{}
	for _, image := range s.Images {
		kernel[image.ID] = image.Kind == "kernel"
	}
	return func(p cluster.Payload) bool {
		return p.Program == nil && (len(p.Command) > 0 || p.Script != "") && !kernel[p.Image]
	}
}

// Check implements [api.Outputs].
func (o *outputs) Check(ctx context.Context, owner string) error {
	_, err := o.users.Find(ctx, owner)
	return err
}

// Folder implements [api.Outputs].
func (o *outputs) Folder(owner string) string { return filepath.Join(o.users.Directory, owner) }

// Files implements [api.Outputs].
func (o *outputs) Files(job *cluster.VJob) []wire.OutputFile {
	problems := o.copier.Problems(job.ID)
	names := output.Names(job)
	files := make([]wire.OutputFile, len(names))
	for i, name := range names {
		files[i] = wire.OutputFile{Path: filepath.Join(o.Folder(job.Owner), name), Problem: problems[name]}
		if all := problems[""]; all != "" {
			files[i].Problem = all
		}
	}
	return files
}

// api returns the outputs for the API.
func (o *outputs) api() api.Outputs {
	if o == nil {
		return nil
	}
	return o
}

// notify says that vjobs may have changed.
func (o *outputs) notify() {
	if o != nil {
		o.copier.Notify()
	}
}

// run copies until the context ends.
func (o *outputs) run(ctx context.Context) error {
	if o == nil {
		<-ctx.Done()
		return ctx.Err()
	}
	return o.copier.Run(ctx)
}
