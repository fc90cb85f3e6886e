// Package daemon is vjobd as a library: it connects the store, the driver, the loop
// and the API, and starts, serves and stops them. Tests run the whole daemon in
// their own process.
package daemon

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"vjob/api"
	"vjob/cluster"
	"vjob/daemon/settings"
	"vjob/db"
	"vjob/hypervisor"
	"vjob/internal/fileio"
	"vjob/scheduler"
)

// Daemon is a daemon that listens. It answers requests once [Daemon.Serve] runs.
type Daemon struct {
	// Source is where a reload reads the settings; nil: a reload is refused. Set it before [Daemon.Serve].
	Source *Source
	// Started is called after the first decision; may be nil. Set it before [Daemon.Serve].
	Started func()

	reloading sync.Mutex        // held while the settings are replaced
	settings  settings.Settings // in effect
	log       *slog.Logger
	store     *db.DB
	commits   *notifyingStore
	driver    hypervisor.Driver
	loop      *scheduler.Loop
	server    *api.Server
	posters   posters
	outputs   *outputs // nil: none are kept in files
	listeners []*api.Listener
	addresses []net.Addr // of the listeners
}

// Run starts a daemon, serves until the context ends, and stops it. A daemon that is killed
// loses nothing: the next start inspects every node and continues.
func Run(ctx context.Context, s settings.Settings, source *Source, log *slog.Logger) error {
	started := limitGarbage()
	d, err := Open(ctx, s, log)
	if err != nil {
		return err
	}
	d.Source, d.Started = source, started
	return errors.Join(d.Serve(ctx), d.Close())
}

// Check validates the settings as far as is possible without starting.
func Check(s *settings.Settings) error {
	if err := s.Validate(); err != nil {
		return err
	}
	if _, err := powerDrivers(s, nil); err != nil {
		return err
	}
	if s.Driver == driverLibvirt {
		return checkLibvirt(s)
	}
	return nil
}

// Open opens the database and the driver, and listens. It neither decides nor answers
// requests yet. After an error nothing is left open.
func Open(ctx context.Context, s settings.Settings, log *slog.Logger) (*Daemon, error) {
	if err := Check(&s); err != nil {
		return nil, err
	}
	d := &Daemon{settings: s, log: log}
	if err := d.open(ctx); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

func (d *Daemon) open(ctx context.Context) error {
	var err error
	if d.store, err = OpenStore(&d.settings); err != nil { //nolint:contextcheck // opening cannot be interrupted
		return err
	}
	if err := api.SweepBackups(d.settings.State); err != nil {
		return err
	}
	if err := d.declareNodes(ctx); err != nil {
		return err
	}
	installation, err := d.store.Installation(ctx)
	if err != nil {
		return err
	}
	if d.driver, err = openDriver(&d.settings, installation, d.log); err != nil { //nolint:contextcheck // the driver lives on
		return err
	}
	if err := d.connect(); err != nil { //nolint:contextcheck // requests bring contexts of their own
		return err
	}
	if err := d.listen(ctx); err != nil {
		return err
	}
	return d.auditStart(ctx)
}

// OpenStore opens the database in the state directory, and creates the directory if it is missing.
func OpenStore(s *settings.Settings) (*db.DB, error) {
	if err := fileio.MakeDir(s.State); err != nil {
		return nil, fmt.Errorf("state directory: %w", err)
	}
	return db.Open(s.Database())
}

// connect creates the loop, the API and the delivery of notifications.
func (d *Daemon) connect() error {
	at, err := dieAt(d.log)
	if err != nil {
		return err
	}
	d.commits = &notifyingStore{Store: d.store}
	p, err := d.partsOf(&d.settings)
	if err != nil {
		return err
	}
	d.loop = scheduler.NewLoop(scheduler.LoopConfig{
		LoopSettings: p.loop, Store: d.commits, Driver: d.driver, Log: d.log, Now: time.Now, At: at,
		SweepEvery: 10 * time.Minute, PruneEvery: time.Hour,
	})
	d.outputs = d.openOutputs()
	if d.server, err = api.New(d.apiConfig(&d.settings, p)); err != nil {
		return err
	}
	d.posters.start(p.poster)
	d.commits.notify = func() {
		d.server.Notify()
		d.posters.notify()
		d.outputs.notify()
	}
	return nil
}

// declareNodes stores the nodes of the settings. It deletes nodes that the settings no longer
// name, and fails if one of them still holds VMs or images.
func (d *Daemon) declareNodes(ctx context.Context) error {
	gone, err := d.store.SaveNodes(ctx, d.settings.ClusterNodes())
	if err != nil {
		return err
	}
	for _, id := range gone {
		switch err := d.store.DeleteNode(ctx, id); {
		case err == nil:
			d.log.Info("node deleted: the settings no longer name it", slog.String("node", string(id)))
		case errors.Is(err, cluster.ErrConflict):
			return fmt.Errorf("settings: nodes: %s is missing: %w", id, err)
		default:
			return err
		}
	}
	return nil
}

// listen opens the unix socket and, if there is one, the TCP address.
func (d *Daemon) listen(ctx context.Context) error {
	l := &d.settings.Listen
	mode, gid, err := l.Permissions()
	if err != nil {
		return err
	}
	socket, err := api.ListenSocket(ctx, l.Socket, mode, gid)
	if err != nil {
		return err
	}
	d.keep(socket)
	if l.Address == "" {
		return nil
	}
	var config *tls.Config
	if l.Certificate != "" {
		pair, err := api.OpenCertificate(l.Certificate, l.Key, time.Now, d.log)
		if err != nil {
			return cluster.BadField("listen.certificate", l.Certificate, "a certificate with its key: "+err.Error())
		}
		config = &tls.Config{GetCertificate: pair.Get, MinVersion: tls.VersionTLS13}
	}
	tcp, err := api.Listen(ctx, l.Address, config)
	if err != nil {
		return err
	}
	d.keep(tcp)
	return nil
}

func (d *Daemon) keep(l *api.Listener) {
	d.listeners = append(d.listeners, l)
	d.addresses = append(d.addresses, l.Addr())
}

// Addresses returns the addresses on which the daemon listens, the unix socket first.
func (d *Daemon) Addresses() []net.Addr { return d.addresses }

// Handler returns the whole API without its listeners, for tests that need no connections.
func (d *Daemon) Handler() http.Handler { return d.server.Handler() }

// Serve runs the loop and answers requests until the context ends. It stops the requests
// first, then the loop. Call it only once.
func (d *Daemon) Serve(ctx context.Context) error {
	serving, stopServing := context.WithCancel(ctx)
	defer stopServing()
	looping, stopLoop := context.WithCancel(context.WithoutCancel(ctx))
	defer stopLoop()
	looped := make(chan error, 1)
	go func() {
		looped <- d.loop.Run(looping)
		stopServing() // without the loop the API must not answer
	}()
	posted := make(chan error, 1)
	go func() { posted <- d.posters.run(looping, d.log) }()
	copied := make(chan error, 1)
	go func() { copied <- d.outputs.run(looping) }()
	// Until the loop has loaded the nodes connections wait in the queues of the listeners, so that no request is checked
	// against an empty cluster.
	d.await(serving, func(s *scheduler.Snapshot) bool { return len(s.Nodes) > 0 })
	d.log.Info("vjobd is up", slog.String("socket", d.settings.Listen.Socket), slog.String("driver", d.settings.Driver),
		slog.Int("nodes", len(d.settings.ClusterNodes())))
	var beside sync.WaitGroup
	beside.Go(func() { d.reloadOnSignals(serving) }) // from here on the settings may be replaced
	beside.Go(func() {
		if d.await(serving, func(s *scheduler.Snapshot) bool { return s.Ready }) && d.Started != nil {
			d.Started()
		}
	})
	beside.Go(func() { giveBackMemory(serving) })
	defer beside.Wait()
	listeners := d.listeners
	d.listeners = nil // the server closes them
	err := d.server.Serve(serving, listeners...)
	stopServing()
	stopLoop()
	if looped := <-looped; !errors.Is(looped, context.Canceled) {
		err = errors.Join(err, looped)
	}
	if posted := <-posted; !errors.Is(posted, context.Canceled) {
		err = errors.Join(err, posted)
	}
	if copied := <-copied; !errors.Is(copied, context.Canceled) {
		err = errors.Join(err, copied)
	}
	d.log.Info("vjobd stops")
	return err
}

// await waits until a snapshot of the loop satisfies a condition. It reports false if the context ends before.
func (d *Daemon) await(ctx context.Context, satisfied func(*scheduler.Snapshot) bool) bool {
	for pause := time.Millisecond; !satisfied(d.loop.Requests.Snapshot()); pause = min(2*pause, 50*time.Millisecond) {
		select {
		case <-ctx.Done():
			return false
		case <-time.After(pause):
		}
	}
	return true
}

// Close releases everything. Further calls do nothing.
func (d *Daemon) Close() error {
	var errs []error
	for _, l := range d.listeners {
		errs = append(errs, l.Close())
	}
	d.listeners = nil
	if d.driver != nil {
		errs = append(errs, d.driver.Close())
	}
	if d.store != nil {
		errs = append(errs, d.store.Close())
	}
	return errors.Join(errs...)
}
