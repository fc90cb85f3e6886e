// Package output keeps the output of vjobs in files of their owners, on a directory with one folder a user.
//
// A file itself is the memory of how much of the output it has: after a start, or when something was wrong with it, what
// is there is compared with what was printed, and the copying goes on behind it. So each byte stands there once, whenever
// the daemon is killed. A file with other text is left alone.
package output

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
)

// Store says which vjobs keep their output in files.
type Store interface {
	OpenOutputs(ctx context.Context) ([]journal.OpenOutput, error)
	CloseOutput(ctx context.Context, id cluster.VJobID) error
	VJob(ctx context.Context, id cluster.VJobID) (journal.Kept, error)
}

// OpenFolder is the folder of a user, until it is closed.
type OpenFolder interface {
	Folder
	Close()
}

// Config is the configuration of a [Copier].
type Config struct {
	Store    Store
	Consoles Consoles
	Open     func(ctx context.Context, owner string) (OpenFolder, error)
	// Marked reports whether the console of a VM tells the output of its work from other text.
	Marked func(p cluster.Payload) bool
	Limit  int64 // bytes of one file; 0: no limit
	Log    *slog.Logger
	Now    func() time.Time
	Every  time.Duration // between two looks at the consoles
}

// Pauses before something that failed is tried again.
const (
	firstPause = time.Second
	lastPause  = time.Minute
)

// Copier copies what guests print to the files of their owners.
type Copier struct {
	cfg Config

	mu       sync.Mutex
	problems map[cluster.VJobID]map[string]string // by file; "" stands for all
	workers  map[string]*worker                   // by owner
	busy     map[*worker]bool
	running  sync.WaitGroup
	news     chan struct{}
}

// New makes a copier.
func New(cfg Config) *Copier {
	return &Copier{cfg: cfg, problems: map[cluster.VJobID]map[string]string{}, workers: map[string]*worker{}, busy: map[*worker]bool{}, news: make(chan struct{}, 1)}
}

// Notify says that a vjob may have changed: the next look does not wait.
func (c *Copier) Notify() {
	select {
	case c.news <- struct{}{}:
	default:
	}
}

// rest is the least time between two looks.
const rest = 50 * time.Millisecond

// Run copies until the context ends.
func (c *Copier) Run(ctx context.Context) error {
	tick := time.NewTicker(c.cfg.Every)
	defer tick.Stop()
	for {
		list, err := c.cfg.Store.OpenOutputs(ctx)
		if err == nil {
			c.begin(ctx, list)
		} else if ctx.Err() == nil {
			c.cfg.Log.LogAttrs(ctx, slog.LevelError, "output files", slog.String("error", err.Error()))
		}
		select {
		case <-tick.C:
		case <-c.news:
		case <-ctx.Done():
		}
		select {
		case <-time.After(rest):
		case <-ctx.Done():
			c.stop()
			return ctx.Err()
		}
	}
}

// begin starts a pass of each worker that is idle. A file system that hangs delays only its own users.
func (c *Copier) begin(ctx context.Context, list []journal.OpenOutput) {
	byOwner := map[string][]journal.OpenOutput{}
	for _, o := range list {
		byOwner[o.Owner] = append(byOwner[o.Owner], o)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for owner := range byOwner {
		if c.workers[owner] == nil {
			c.workers[owner] = &worker{copier: c, owner: owner, vjobs: map[cluster.VJobID]*copied{}}
		}
	}
	for owner, w := range c.workers {
		if c.busy[w] {
			continue
		}
		if len(byOwner[owner]) == 0 {
			delete(c.workers, owner)
		}
		c.busy[w] = true
		c.running.Go(func() {
			w.pass(ctx, byOwner[owner])
			c.mu.Lock()
			defer c.mu.Unlock()
			delete(c.busy, w)
		})
	}
}

// stop waits a while for the workers and closes their folders.
func (c *Copier) stop() {
	done := make(chan struct{})
	go func() {
		c.running.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(5 * time.Second):
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, w := range c.workers {
		if !c.busy[w] {
			w.close()
		}
	}
}

// Problems returns what is wrong with the output files of a vjob, by their names; "" stands for all of them.
func (c *Copier) Problems(id cluster.VJobID) map[string]string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.problems[id])
}

// note sets what is wrong with a file; "" is nothing.
func (c *Copier) note(id cluster.VJobID, name, problem string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if problem == "" {
		delete(c.problems[id], name)
		return
	}
	if c.problems[id] == nil {
		c.problems[id] = map[string]string{}
	}
	c.problems[id][name] = problem
}

// worker copies the output of the vjobs of one user.
type worker struct {
	copier *Copier
	owner  string
	folder OpenFolder // nil: it is closed
	pause  backoff    // of the folder
	vjobs  map[cluster.VJobID]*copied
}

// copied is a vjob with output to copy.
type copied struct {
	files []*file
	pause backoff
}

// backoff is until when something that failed is not tried again.
type backoff struct {
	until time.Time
	last  time.Duration
}

func (b *backoff) failed(now time.Time) {
	b.last = min(max(2*b.last, firstPause), lastPause)
	b.until = now.Add(b.last)
}

// pass copies what is new.
func (w *worker) pass(ctx context.Context, list []journal.OpenOutput) {
	maps.DeleteFunc(w.vjobs, func(id cluster.VJobID, _ *copied) bool {
		return !slices.ContainsFunc(list, func(o journal.OpenOutput) bool { return o.VJob == id })
	})
	if len(list) == 0 {
		w.close()
		return
	}
	if !w.open(ctx, list) {
		return
	}
	for _, o := range list {
		if ctx.Err() != nil || w.folder == nil {
			return
		}
		w.copy(ctx, o)
	}
}

// open opens the folder of the user.
func (w *worker) open(ctx context.Context, list []journal.OpenOutput) bool {
	now := w.copier.cfg.Now()
	if w.folder != nil {
		return true
	}
	if now.Before(w.pause.until) {
		return false
	}
	folder, err := w.copier.cfg.Open(ctx, w.owner)
	if err != nil {
		w.pause.failed(now)
	} else {
		w.folder, w.pause = folder, backoff{}
	}
	for _, o := range list {
		w.copier.note(o.VJob, "", textOf(err))
		if err != nil && o.Ended {
			w.giveUp(ctx, o.VJob)
		}
	}
	return err == nil
}

func textOf(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// copy copies the output of one vjob.
func (w *worker) copy(ctx context.Context, o journal.OpenOutput) {
	cfg := &w.copier.cfg
	j := w.vjobs[o.VJob]
	if j == nil {
		kept, err := cfg.Store.VJob(ctx, o.VJob)
		if err != nil {
			return // it was pruned, or the next pass finds it
		}
		j = &copied{files: filesOf(kept.VJob, cfg.Limit, cfg.Marked)}
		w.vjobs[o.VJob] = j
	}
	if cfg.Now().Before(j.pause.until) {
		return
	}
	failed := false
	for _, f := range j.files {
		err := f.copy(ctx, cfg.Consoles, w.folder, o.Ended)
		if ctx.Err() != nil {
			return
		}
		problem := textOf(err)
		if err == nil && f.full {
			problem = "the limit of this site is reached: vjob logs has the rest"
		}
		w.copier.note(o.VJob, f.name, problem)
		failed = failed || err != nil
		if err != nil && !w.usable() {
			return
		}
	}
	switch {
	case failed:
		j.pause.failed(cfg.Now())
		if o.Ended {
			w.giveUp(ctx, o.VJob)
		}
	default:
		j.pause = backoff{}
		if o.Ended {
			w.done(ctx, o.VJob)
		}
	}
}

// usable reports whether the folder can still be used; a process that has ended cannot.
func (w *worker) usable() bool {
	if f, ok := w.folder.(interface{ Usable() bool }); ok && !f.Usable() {
		w.close()
		w.pause.failed(w.copier.cfg.Now())
	}
	return w.folder != nil
}

// done notes that the output of a vjob is complete.
func (w *worker) done(ctx context.Context, id cluster.VJobID) {
	if err := w.copier.cfg.Store.CloseOutput(ctx, id); err != nil && ctx.Err() == nil {
		w.copier.cfg.Log.LogAttrs(ctx, slog.LevelError, "output files", slog.String("error", err.Error()))
	}
}

// giveUp ends the attempts for a vjob that has ended, once its consoles were removed.
func (w *worker) giveUp(ctx context.Context, id cluster.VJobID) {
	kept, err := w.copier.cfg.Store.VJob(ctx, id)
	if err != nil {
		return
	}
	for rank := range kept.VMs {
		vm := cluster.VMID{VJob: id, Rank: rank}
		for _, open := range []func(context.Context, cluster.VMID) (io.ReadCloser, error){w.copier.cfg.Consoles.Console, w.copier.cfg.Consoles.Errors} {
			in, err := open(ctx, vm)
			if !errors.Is(err, cluster.ErrNotFound) {
				if err == nil {
					_ = in.Close()
				}
				return
			}
		}
	}
	w.done(ctx, id)
}

func (w *worker) close() {
	if w.folder != nil {
		w.folder.Close()
		w.folder = nil
	}
}
