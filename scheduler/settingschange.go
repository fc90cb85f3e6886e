package scheduler

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
	"vjob/energy/power"
	"vjob/scheduler/admission"
)

// LoopSettings are the settings of a loop. They are one value, which [Requests.ChangeSettings] replaces as a whole.
type LoopSettings struct {
	Settings
	Fleet        power.Drivers // the power drivers of nodes; may be nil
	Limits       admission.Limits
	Tick         time.Duration // the periodic timer; events come in between
	KeepConsoles time.Duration // consoles of ended vjobs that are younger are kept
	Retention    journal.Retention
}

// SettingsChange replaces the settings of a loop that runs.
type SettingsChange struct {
	Settings LoopSettings
	Nodes    []cluster.Node // all of them; their states stay as they are
	Audit    journal.Audit
	Text     string // of the event
	// Apply replaces the settings of the driver, and Undo takes that back if the change cannot be written. Both run in the
	// goroutine of the loop and must not block. May be nil.
	Apply func() error
	Undo  func()
}

// Leave returns the last step of a core before its settings are replaced: its accounts, and the change of the nodes. The core is
// not used afterwards. A node that vjobs hold is not removed: the error is ErrConflict, and the core goes on.
func (c *Core) Leave(now time.Time, change *SettingsChange) (journal.Step, error) {
	removed, err := c.removed(change.Nodes)
	if err != nil {
		return journal.Step{}, err
	}
	step := c.Stop(now)
	for _, n := range change.Nodes {
		if known, ok := c.exec.Node(n.ID); ok {
			n.State, n.Maintenance = known.State, known.Maintenance
		}
		step.Nodes = append(step.Nodes, n)
	}
	step.Removed = append(step.Removed, removed...)
	step.Audit = append(step.Audit, change.Audit)
	step.Events = append(step.Events, journal.Event{At: now, Kind: journal.EventSettings, Text: change.Text})
	return step, nil
}

// removed lists the nodes that are missing in a list. It is ErrConflict if vjobs hold one of them.
func (c *Core) removed(nodes []cluster.Node) (list []cluster.NodeID, err error) {
	for _, n := range c.exec.Nodes() {
		if slices.ContainsFunc(nodes, func(m cluster.Node) bool { return m.ID == n.ID }) {
			continue
		}
		if holders := c.exec.Holders(n.ID); len(holders) > 0 {
			return nil, fmt.Errorf("nodes: %s cannot be removed: it holds a part of %s; drain it first (vjob nodes drain %s): %w",
				n.ID, listVJobs(holders), n.ID, cluster.ErrConflict)
		}
		list = append(list, n.ID)
	}
	return list, nil
}

// most is how many vjobs an error names.
const most = 10

// listVJobs names some vjobs for people.
func listVJobs(list []cluster.VJobID) string {
	names := make([]string, min(len(list), most))
	for i := range names {
		names[i] = list[i].String()
	}
	text := "vjob " + strings.Join(names, ", ")
	if len(list) > 1 {
		text = "vjobs " + strings.Join(names, ", ")
	}
	if more := len(list) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// CheckNodes returns why the nodes cannot become these: ErrConflict if vjobs hold a node that is removed.
func (l *Requests) CheckNodes(ctx context.Context, nodes []cluster.Node) error {
	return l.inbox.ask(ctx, func(c *Core) error {
		_, err := c.removed(nodes)
		return err
	})
}

// changeRequest is a change of the settings that waits for the loop.
type changeRequest struct {
	*SettingsChange
	answer chan error
}

// ChangeSettings replaces the settings of the loop between two steps, and the nodes with them. The loop continues as after a
// restart with the new settings: from the journal, with every node observed anew. It returns once the change is durable.
// ErrConflict: a removed node is not empty; nothing has changed then.
func (l *Requests) ChangeSettings(ctx context.Context, change *SettingsChange) error {
	r := changeRequest{change, make(chan error, 1)}
	select {
	case l.inbox.changes <- r:
	case <-l.inbox.quit:
		return errStopping
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case err := <-r.answer:
		return err
	case <-l.inbox.quit:
		return errStopping
	}
}

// change carries out a change of the settings. It returns the core to continue with.
func (l *Loop) change(ctx context.Context, core *Core, r changeRequest) (*Core, error) {
	step, err := core.Leave(l.now(), r.SettingsChange)
	if err != nil {
		r.answer <- err
		return core, nil //nolint:nilerr // the caller has the error, and the core goes on
	}
	if err := l.replace(ctx, step, r.SettingsChange); err != nil {
		r.answer <- err
		return l.reload(ctx) // the accounts of the step are no longer in the core
	}
	fresh, err := l.load(ctx)
	if err != nil {
		fresh, err = l.reload(ctx)
	}
	r.answer <- err
	return fresh, err
}

// replace replaces the settings of the driver and of the loop, and commits the last step under the old ones.
func (l *Loop) replace(ctx context.Context, step journal.Step, change *SettingsChange) error {
	if change.Apply != nil {
		if err := change.Apply(); err != nil {
			return err
		}
	}
	if err := l.commit(ctx, step); err != nil {
		if change.Undo != nil {
			change.Undo()
		}
		return fmt.Errorf("commit: %w: %w", cluster.ErrUnavailable, err)
	}
	l.settings.Store(&change.Settings)
	return nil
}
