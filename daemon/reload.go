package daemon

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"

	"vjob/api"
	"vjob/api/oarapi"
	"vjob/api/wire"
	"vjob/cluster"
	"vjob/ctxswitch/journal"
	"vjob/daemon/settings"
	"vjob/notify"
	"vjob/scheduler"
)

// Source is where a daemon reads its settings again.
type Source struct {
	Name    string                            // of the file; "" is the embedded defaults
	Read    func() (settings.Settings, error) // with the same flags as at the start
	Signals <-chan os.Signal                  // each asks for a reload; may be nil
}

// parts are what a daemon builds from its settings.
type parts struct {
	loop   scheduler.LoopSettings
	oar    *oarapi.Dialect
	poster *notify.Poster
}

// partsOf builds the parts of some settings.
func (d *Daemon) partsOf(s *settings.Settings) (p parts, err error) {
	p.loop = scheduler.LoopSettings{
		Limits: s.SubmissionLimits(), Tick: s.Timing.Tick.Duration, KeepConsoles: s.Retention.Consoles.Duration, Retention: retention(s),
	}
	if p.loop.Settings, err = coreSettings(s); err != nil {
		return p, err
	}
	if p.loop.Fleet, err = powerDrivers(s, d.driver); err != nil {
		return p, err
	}
	if p.oar, err = dialect(s); err != nil {
		return p, err
	}
	p.poster, err = d.openPoster(s)
	return p, err
}

// apiConfig returns the configuration of the API for some settings.
func (d *Daemon) apiConfig(s *settings.Settings, p parts) api.Config {
	return api.Config{
		Scheduler: d.loop.Requests, Reader: d.store, Accounts: d.store, Console: d.driver, Attacher: attacher(d.driver), Adviser: adviser(d.driver), Outputs: d.outputs.api(), Catalogue: catalogue(s.Images),
		Copier: d.store, Operator: d, Scratch: s.State, Logger: d.log, Limits: apiLimits(s),
		Locals: api.Locals{Listed: s.Listen.Users == "listed"}, TokenLife: s.Accounts.TokenLifetime.Duration,
		Endpoints: p.oar.Endpoints, CanonicalPath: p.oar.Path, Admit: admit(s, p.oar), Notifiable: notifiable(s),
		Rights: api.Rights(s.Rights), Zone: p.loop.Zone, ClockSpeed: clockSpeed(s),
	}
}

// clockSpeed is how many times as fast as the daemon's the clock of the guests is; 0: it is the same.
func clockSpeed(s *settings.Settings) float64 {
	if s.Driver != driverSimulated || s.Simulated.Speed == 1 {
		return 0
	}
	return s.Simulated.Speed
}

// Reload reads the settings again and applies what can change while the daemon runs; what needs a restart stays as it was.
// With check it only returns the changes. Nothing changes on an error: cluster.ErrInvalid if the settings are wrong,
// cluster.ErrConflict if they cannot be applied now.
func (d *Daemon) Reload(ctx context.Context, by, from string, check bool) (wire.Reload, error) {
	if d.Source == nil {
		return wire.Reload{}, fmt.Errorf("reload: the daemon was started without a settings file; start it with --settings FILE: %w", cluster.ErrConflict)
	}
	d.reloading.Lock()
	defer d.reloading.Unlock()
	file, err := d.Source.Read()
	if err != nil {
		return wire.Reload{}, err
	}
	changes, err := settings.Diff(&d.settings, &file)
	if err != nil {
		return wire.Reload{}, err
	}
	next := d.settings.InEffect(&file)
	if err := Check(&next); err != nil {
		return wire.Reload{}, fmt.Errorf("together with the settings that need a restart: %w", err)
	}
	done := reloadOf(d.Source.Name, changes)
	if check {
		return done, d.loop.Requests.CheckNodes(ctx, next.ClusterNodes())
	}
	act := journal.Audit{At: time.Now().UTC(), By: by, From: from, Action: journal.AuditReload, Text: auditText(changes)}
	if err := d.replace(ctx, &next, act, eventText(by, &done)); err != nil {
		return wire.Reload{}, err
	}
	done.Applied = true
	d.log.LogAttrs(ctx, slog.LevelInfo, "audit", slog.String("action", string(act.Action)), slog.String("text", act.Text),
		slog.String("by", by), slog.String("from", from))
	return done, nil
}

// replace replaces the settings of all parts: first of the loop, which may refuse, then of the others, which cannot.
func (d *Daemon) replace(ctx context.Context, next *settings.Settings, act journal.Audit, text string) error {
	p, err := d.partsOf(next)
	if err != nil {
		return err
	}
	driver, err := d.prepareDriver(ctx, next)
	if err != nil {
		return err
	}
	err = d.loop.Requests.ChangeSettings(ctx, &scheduler.SettingsChange{
		Settings: p.loop, Nodes: next.ClusterNodes(), Audit: act, Text: text, Apply: driver.apply, Undo: driver.undo,
	})
	if err != nil {
		driver.drop()
		return err
	}
	d.settings = *next
	driver.done()
	d.posters.replace(p.poster)
	setLevel(d.log, next.Log.Level)
	d.server.Reconfigure(d.apiConfig(next, p)) //nolint:contextcheck // requests bring contexts of their own
	return nil
}

// reloadOnSignals reloads the settings at every signal of the source until the context ends.
func (d *Daemon) reloadOnSignals(ctx context.Context) {
	if d.Source == nil || d.Source.Signals == nil {
		return
	}
	for {
		select {
		case <-ctx.Done():
			return
		case s := <-d.Source.Signals:
			done, err := d.Reload(ctx, "", "signal "+s.String(), false)
			if err != nil {
				d.log.LogAttrs(ctx, slog.LevelError, "the settings stay as they were", slog.String("error", err.Error()))
				continue
			}
			for i := range done.Changes {
				c := &done.Changes[i]
				d.log.LogAttrs(ctx, slog.LevelInfo, "setting", slog.String("kind", c.Kind), slog.String("setting", c.Setting), slog.String("old", c.Old),
					slog.String("new", c.New), slog.String("effect", c.Effect))
			}
		}
	}
}

// reloadOf returns the changes for the API.
func reloadOf(name string, changes []settings.Change) wire.Reload {
	r := wire.Reload{File: name, Changes: make([]wire.SettingChange, len(changes))}
	for i, c := range changes {
		r.Changes[i] = wire.SettingChange{Setting: c.Path, Kind: string(c.Kind), Old: c.Old, New: c.New, Effect: string(c.Class)}
		if c.Class == settings.Restart {
			r.Restart++
		}
	}
	return r
}

// maxAudit bounds the text of an audit entry, in bytes.
const maxAudit = 2000

// auditText lists changes for the audit list.
func auditText(changes []settings.Change) string {
	if len(changes) == 0 {
		return "settings as before"
	}
	lines := make([]string, len(changes))
	for i, c := range changes {
		lines[i] = c.String()
		if c.Class == settings.Restart {
			lines[i] += " (after a restart)"
		}
	}
	text := strings.Join(lines, "; ")
	if len(text) > maxAudit {
		text = strings.ToValidUTF8(text[:maxAudit], "") + fmt.Sprintf("… (%d changes)", len(changes))
	}
	return text
}

// eventText says for users that the settings were reloaded, without their values.
func eventText(by string, r *wire.Reload) string {
	text := "settings reloaded: " + cluster.Count(len(r.Changes), "change")
	if by != "" {
		text = fmt.Sprintf("%s, by %s", text, by)
	}
	if r.Restart > 0 {
		text += fmt.Sprintf("; %d of them after a restart", r.Restart)
	}
	return text
}
