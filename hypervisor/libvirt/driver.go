//go:build libvirt_dlopen && cgo

package libvirt

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"
	"time"

	"vjob/cluster"
	"vjob/hypervisor"
	"vjob/internal/fileio"
)

// Driver drives nodes through libvirt.
type Driver struct {
	cfg    Config
	log    *slog.Logger
	store  imageStore
	files  *fileOps
	images coalesced[hypervisor.Store] // listings of the store
	nodes  map[cluster.NodeID]*node
	hints  chan cluster.NodeID
	saving claims[hypervisor.ImageID]

	stop    chan struct{}  // closed by Close
	closing sync.Once      // Close may be called twice
	running sync.WaitGroup // every goroutine of the driver
}

var _ hypervisor.Driver = (*Driver)(nil)

// New starts driving the nodes. It does not wait for them: a look at a node that is down is an
// error. New fails if the settings are wrong, or if libvirt.so.0 or a shared directory is
// missing.
func New(cfg Config, log *slog.Logger) (*Driver, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg = cfg.withDefaults()
	d := &Driver{
		cfg: cfg, log: log,
		nodes:  map[cluster.NodeID]*node{},
		hints:  make(chan cluster.NodeID, 256),
		saving: claims[hypervisor.ImageID]{held: map[hypervisor.ImageID]bool{}},
		stop:   make(chan struct{}),
	}
	d.files = newFileOps(minFileOps+fileOpsPerNode*len(cfg.Hosts), &d.running)
	d.images = coalesced[hypervisor.Store]{files: d.files, run: d.store.list}
	d.store = imageStore{dir: cfg.ImageDir, installation: cfg.Installation, identify: cfg.identify, known: &knownHardware{images: map[hypervisor.ImageID]imageHardware{}}}
	for _, h := range cfg.Hosts {
		d.store.nodes = append(d.store.nodes, h.Node)
	}
	if err := d.store.open(); err != nil {
		return nil, err
	}
	for _, dir := range []string{cfg.ConsoleDir, cfg.SeedDir} {
		if dir != "" {
			if err := fileio.MakeDir(dir); err != nil {
				return nil, fmt.Errorf("directory of consoles or seeds: %w", err)
			}
		}
	}
	if err := loop.acquire(); err != nil {
		return nil, fmt.Errorf("libvirt: %w: %w", cluster.ErrUnavailable, err)
	}
	d.logUnusableFolders()
	for _, h := range cfg.Hosts {
		n := newNode(h, d)
		d.nodes[h.Node] = n
		d.running.Go(n.watch)
		d.running.Go(n.listen)
	}
	return d, nil
}

// logUnusableFolders logs which folders of the store cannot be used, and how to fix each. Guests
// can run without them; nothing is saved or restored, and no image counts as gone.
func (d *Driver) logUnusableFolders() {
	d.running.Go(func() { // the store may hang
		for _, node := range d.store.nodes {
			root, err := d.store.folder(node)
			if err == nil {
				err = root.Close()
			}
			if err != nil {
				d.log.LogAttrs(context.Background(), slog.LevelError, "no image can be saved or restored",
					slog.String("node", string(node)), slog.String("error", err.Error()))
			}
		}
	})
}

// Close waits for pending calls and for every goroutine. Calls that are still pending after
// the configured time are abandoned; each holds a thread until its connection breaks.
func (d *Driver) Close() error {
	var err error
	d.closing.Do(func() {
		close(d.stop)
		for _, n := range d.nodes {
			n.close()
		}
		joined := make(chan struct{})
		go func() {
			d.running.Wait()
			loop.release()
			close(joined)
		}()
		select {
		case <-joined:
		case <-time.After(d.cfg.Timeouts.close()):
			err = fmt.Errorf("close libvirt driver: calls under way after %s: %w", d.cfg.Timeouts.close(), hypervisor.ErrTimeout)
		}
	})
	return err
}

// Hints names nodes on which something changed.
func (d *Driver) Hints() <-chan cluster.NodeID { return d.hints }

// hint sends a hint, or drops it while the channel is full: hints may get lost.
func (d *Driver) hint(node cluster.NodeID) {
	select {
	case d.hints <- node:
	default:
	}
}

func (d *Driver) node(node cluster.NodeID) (*node, error) {
	if n, ok := d.nodes[node]; ok {
		return n, nil
	}
	return nil, fmt.Errorf("node %q: %w", node, cluster.ErrNotFound)
}

// Look lists everything on one node.
func (d *Driver) Look(ctx context.Context, node cluster.NodeID, missing ...hypervisor.Guest) (hypervisor.View, error) {
	n, err := d.node(node)
	if err != nil {
		return hypervisor.View{}, err
	}
	view, err := n.look(ctx)
	if unanswered(err) { // the operator's guide has a section on it
		err = fmt.Errorf("libvirtd is connected and does not answer: %w", err)
	}
	if err != nil {
		return hypervisor.View{}, fmt.Errorf("look at %s: %w", node, err)
	}
	n.addTold(ctx, &view, missing)
	view.Warnings, view.Platforms = n.allWarnings(), n.platforms()
	if i := n.inspected.Load(); i != nil {
		view.Software = i.software
	}
	if n.cache.contentionHidden() {
		view.Warnings = append(view.Warnings, warnBlind)
	}
	return view, nil
}

// unanswered reports whether the error of a look means that the daemon keeps the connection
// open and does not answer.
func unanswered(err error) bool {
	return errors.Is(err, errQueued) || errors.Is(err, hypervisor.ErrTimeout) && !errors.Is(err, errLost)
}

// LookStore lists the images of all nodes, also of those that are down.
func (d *Driver) LookStore(ctx context.Context) (hypervisor.Store, error) {
	return d.images.get(ctx)
}

// Console opens what a VM has printed, on all nodes where it ran.
func (d *Driver) Console(ctx context.Context, vm cluster.VMID) (io.ReadCloser, error) {
	return d.openPrinted(ctx, "console", vm, d.cfg.consolePath(vm))
}

// Errors opens what the work of a VM has written to its standard error, on all nodes where it ran.
func (d *Driver) Errors(ctx context.Context, vm cluster.VMID) (io.ReadCloser, error) {
	return d.openPrinted(ctx, "standard error", vm, d.cfg.errorsPath(vm))
}

// openPrinted opens a file to which a VM prints on a serial line.
func (d *Driver) openPrinted(ctx context.Context, what string, vm cluster.VMID, path string) (io.ReadCloser, error) {
	return runFileOp(ctx, d.files, func() (io.ReadCloser, error) {
		f, err := os.Open(path)
		if os.IsNotExist(err) {
			return nil, fmt.Errorf("%s of VM %s: %w", what, vm, cluster.ErrNotFound)
		}
		if err != nil {
			return nil, fmt.Errorf("%s of VM %s: %w", what, vm, err)
		}
		// The hypervisor makes the file when the guest has not printed yet.
		if info, err := f.Stat(); err == nil && info.Size() == 0 {
			return nil, fmt.Errorf("%s of VM %s: %w", what, vm, cmp.Or(f.Close(), cluster.ErrNotFound))
		}
		return f, nil
	})
}

// claims are keys that one caller at a time may hold.
type claims[K comparable] struct {
	mu   sync.Mutex
	held map[K]bool
}

func (c *claims[K]) take(k K) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.held[k] {
		return false
	}
	c.held[k] = true
	return true
}

func (c *claims[K]) free(k K) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.held, k)
}
