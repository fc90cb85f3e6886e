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

// Sweep removes the files of VMs of vjobs that are not live. While a node does not answer,
// disks, seeds and leases stay: it may hold a machine of a vjob that the caller does not know.
func (d *Driver) Sweep(ctx context.Context, live func(cluster.VJobID) bool, keepConsoles time.Duration) error {
	return d.sweep(ctx, d.Look, live, keepConsoles)
}

// lookFunc is [Driver.Look].
type lookFunc func(context.Context, cluster.NodeID, ...hypervisor.Guest) (hypervisor.View, error)

func (d *Driver) sweep(ctx context.Context, look lookFunc, live func(cluster.VJobID) bool, keepConsoles time.Duration) error {
	seen, err := listHeld(ctx, slices.Collect(maps.Keys(d.nodes)), look)
	if err != nil {
		err = fmt.Errorf("sweep: disks, seeds and leases are kept: %w", err)
	}
	s := sweep{
		cfg: d.cfg, store: &d.store, now: time.Now(), live: live,
		held: seen, incomplete: err != nil, keepConsoles: keepConsoles,
	}
	return errors.Join(err, d.files.do(ctx, func() error { return s.run(ctx) }))
}

// listHeld looks at all nodes at once and returns the VMs that they hold. A VM counts as held if
// an unmanaged machine has its name: another vjob may share our directories.
func listHeld(ctx context.Context, nodes []cluster.NodeID, look lookFunc) (map[cluster.VMID]bool, error) {
	ctx, cancel := context.WithTimeout(ctx, sweepTimeout)
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
			for _, name := range view.Unmanaged {
				if vm, ok := machineOwner(name); ok {
					seen[vm] = true
				}
			}
		})
	}
	looks.Wait()
	return seen, errors.Join(errs...)
}

// sweepTimeout is how long a sweep waits for the nodes to answer.
const sweepTimeout = 30 * time.Second
