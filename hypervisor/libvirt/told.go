//go:build libvirt_dlopen && cgo

package libvirt

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"vjob/cluster"
	"vjob/hypervisor"
)

// addTold adds the endings that the consoles of missing guests tell to a view. A guest has told nothing if its files
// cannot be read.
func (n *node) addTold(ctx context.Context, view *hypervisor.View, missing []hypervisor.Guest) {
	for _, g := range missing {
		_, held := view.Copy(g.VM)
		if held || slices.ContainsFunc(view.Endings, func(e hypervisor.Ending) bool {
			return e.VM == g.VM && e.Stamp.Incarnation == g.Incarnation
		}) {
			continue
		}
		status, err := runFileOp(ctx, n.driver.files, func() (cluster.ExitStatus, error) { return n.driver.cfg.told(g) })
		if err != nil {
			n.driver.log.LogAttrs(ctx, slog.LevelWarn, "exit status not read", slog.String("vm", g.VM.String()), slog.String("error", err.Error()))
		}
		if status.Known() {
			view.Endings = append(view.Endings, hypervisor.Ending{
				VM: g.VM, Stamp: hypervisor.Stamp{Incarnation: g.Incarnation}, Cause: hypervisor.CauseShutdown, Exit: status, At: time.Now(),
			})
		}
	}
}
