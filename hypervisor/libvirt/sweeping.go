//go:build libvirt_dlopen && cgo

package libvirt

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"vjob/cluster"
	"vjob/hypervisor"
)

// Sweep removes the files of VMs of vjobs that are not live. While a host does not
// answer, disks, seeds and leases stay: it may hold a machine whose vjob the
// caller does not know of.
func (d *Driver) Sweep(ctx context.Context, live func(cluster.VJobID) bool, keepConsoles time.Duration) error {
	return d.sweep(ctx, d.Look, live, keepConsoles)
}

// looker is [Driver.Look].
type looker func(context.Context, cluster.NodeID) (hypervisor.View, error)

func (d *Driver) sweep(ctx context.Context, look looker, live func(cluster.VJobID) bool, keepConsoles time.Duration) error {
	seen, err := held(ctx, slices.Collect(maps.Keys(d.hosts)), look)
	if err != nil {
		err = fmt.Errorf("sweep: disks, seeds and leases are kept: %w", err)
	}
	s := sweep{
		cfg: d.cfg, store: &d.store, now: time.Now(), live: live,
		seen: seen, blind: err != nil, keepConsoles: keepConsoles,
	}
	return errors.Join(err, d.files.do(ctx, func() error { return s.run(ctx) }))
}

// held looks at all nodes at once and lists the VMs that they hold, also where a stranger
// bears the name of the VM: another vjob may share our directories.
func held(ctx context.Context, nodes []cluster.NodeID, look looker) (map[cluster.VMID]bool, error) {
	ctx, cancel := context.WithTimeout(ctx, sweepLook)
	defer cancel()
	var (
		mu    sync.Mutex // guards seen and errs
		seen  = map[cluster.VMID]bool{}
		errs  []error
		looks sync.WaitGroup
	)
	for _, node := range nodes {
		looks.Go(func() {
			view, err := look(ctx, node)
			mu.Lock()
			defer mu.Unlock()
			errs = append(errs, err)
			for _, c := range view.Copies {
				seen[c.VM] = true
			}
			for _, name := range view.Strangers {
				if vm, ok := machineOwner(name); ok {
					seen[vm] = true
				}
			}
		})
	}
	looks.Wait()
	return seen, errors.Join(errs...)
}

// sweepLook is how long a sweep waits for the hosts to say what they hold.
const sweepLook = 30 * time.Second
