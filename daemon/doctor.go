package daemon

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"vjob/api/wire"
	"vjob/cluster"
	"vjob/ctxswitch/journal"
	"vjob/daemon/doctor"
	"vjob/daemon/settings"
	"vjob/internal/version"
)

// How long the facts may take to collect: the integrity check of the database, and what may hang.
const (
	checkTime = 15 * time.Second
	probeTime = 3 * time.Second
)

// Doctor collects facts about the installation and judges them.
func (d *Daemon) Doctor(ctx context.Context) (wire.Doctor, error) {
	facts, err := d.facts(ctx)
	if err != nil {
		return wire.Doctor{}, err
	}
	list := doctor.Examine(&facts)
	out := wire.Doctor{At: facts.Now, Version: version.Program(), Level: string(doctor.Worst(list)), Findings: make([]wire.Finding, len(list))}
	for i, f := range list {
		out.Findings[i] = wire.Finding{Check: f.Check, Level: string(f.Level), Text: f.Text, Next: f.Next}
	}
	return out, nil
}

// facts collects what the doctor judges. Only a database that cannot be read at all is an error.
func (d *Daemon) facts(ctx context.Context) (f doctor.Facts, err error) {
	d.reloading.Lock()
	s, source := d.settings, d.Source
	d.reloading.Unlock()
	f.Now = time.Now().UTC()
	f.Store = d.storeFacts(ctx, &s)
	f.Settings = settingsFacts(&s, source)
	f.Disks = diskFacts(ctx, &s)
	f.Nodes = d.nodeFacts()
	f.Files = fileFacts(&s, source)
	if s.Listen.Certificate != "" {
		f.Cert = certificateFacts(s.Listen.Certificate)
	}
	if s.Notify.Mail.Server != "" {
		f.Mail = mailFacts(ctx, s.Notify.Mail.Server)
	}
	if f.Backup, err = d.lastAudit(ctx, journal.AuditBackup); err != nil {
		return f, err
	}
	return f, d.eventFacts(ctx, &f)
}

// lastAudit returns when something was last done; zero: never.
func (d *Daemon) lastAudit(ctx context.Context, action journal.AuditAction) (time.Time, error) {
	list, err := d.store.Audit(ctx, journal.AuditFilter{Action: action, Limit: 1})
	if err != nil || len(list) == 0 {
		return time.Time{}, err
	}
	return list[0].At, nil
}

// recentEvents is how many of the latest events are looked through for alarms.
const recentEvents = 2000

// eventFacts reads the latest events, and the first.
func (d *Daemon) eventFacts(ctx context.Context, f *doctor.Facts) error {
	events, err := d.store.Events(ctx, journal.EventFilter{Latest: true, Limit: recentEvents})
	for i := range events {
		e := &events[i]
		if e.At.After(f.LastEvent) {
			f.LastEvent = e.At
		}
		if e.Kind == journal.EventAlarm && f.Now.Sub(e.At) < 24*time.Hour {
			f.Alarms = append(f.Alarms, doctor.Alarm{At: e.At, Text: e.TextFor("")})
		}
	}
	if err != nil {
		return err
	}
	first, err := d.store.Events(ctx, journal.EventFilter{Limit: 1})
	for i := range first {
		f.Since = first[i].At
	}
	return err
}

func (d *Daemon) storeFacts(ctx context.Context, s *settings.Settings) doctor.Store {
	f := doctor.Store{Path: s.Database(), Broken: d.loop.Requests.Snapshot().Broken}
	f.Bytes, f.WAL = fileSize(f.Path), fileSize(f.Path+"-wal")
	checking, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	switch err := d.store.Check(checking); {
	case checking.Err() != nil:
		f.Unchecked = checkTime
	case err != nil:
		f.Fault = err.Error()
	}
	return f
}

func fileSize(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}

// settingsFacts compares the settings in effect with the file.
func settingsFacts(s *settings.Settings, source *Source) (f doctor.Settings) {
	if source == nil {
		return f
	}
	f.File = source.Name
	file, err := source.Read()
	if err != nil {
		f.Fault = err.Error()
		return f
	}
	changes, err := settings.Diff(s, &file)
	if err != nil {
		f.Fault = err.Error()
	}
	for _, c := range changes {
		if c.Class == settings.Restart {
			f.Restart++
		} else {
			f.Pending++
		}
	}
	return f
}

// diskFacts measures the file systems in which something grows.
func diskFacts(ctx context.Context, s *settings.Settings) (list []doctor.Disk) {
	dirs := []doctor.Disk{{Name: "database", Path: s.State}}
	if s.Driver == driverLibvirt {
		dirs = append(dirs, doctor.Disk{Name: "images", Path: s.Libvirt.ImageDir}, doctor.Disk{Name: "consoles", Path: s.Libvirt.ConsoleDir}, doctor.Disk{Name: "seeds and disks", Path: s.Libvirt.SeedDir})
	}
	for _, disk := range dirs {
		if disk.Path == "" {
			continue
		}
		stat, err := within(ctx, func() (unix.Statfs_t, error) {
			var stat unix.Statfs_t
			return stat, unix.Statfs(disk.Path, &stat)
		})
		if err != nil {
			disk.Error = err.Error()
		} else {
			block := uint64(stat.Bsize) //nolint:gosec // bytes; not all systems have the same type
			disk.Free, disk.Total = stat.Bavail*block, stat.Blocks*block
		}
		list = append(list, disk)
	}
	return list
}

// within returns what a call returns, or an error if it takes too long: a shared file system may hang.
func within[T any](ctx context.Context, call func() (T, error)) (result T, err error) {
	type answer struct {
		value T
		err   error
	}
	done := make(chan answer, 1)
	go func() {
		value, err := call()
		done <- answer{value, err}
	}()
	select {
	case a := <-done:
		return a.value, a.err
	case <-time.After(probeTime):
		return result, fmt.Errorf("no answer within %s", probeTime)
	case <-ctx.Done():
		return result, ctx.Err()
	}
}

func (d *Daemon) nodeFacts() (list []doctor.Node) {
	for _, n := range d.loop.Requests.Snapshot().Nodes {
		f := doctor.Node{
			ID: n.ID, State: n.State, Silent: n.Silent, Problem: n.Problem, Warnings: n.Warnings, Capacity: n.Capacity, Used: n.Used, Demand: n.Demand, Software: n.Software,
		}
		if len(n.Platforms) > 0 {
			f.Processor = n.Platforms[0].CPUModel
		}
		list = append(list, f)
	}
	return list
}

// fileFacts looks at files that hold secrets or must not be changed by others.
func fileFacts(s *settings.Settings, source *Source) (list []doctor.File) {
	look := func(name, path string, secret bool) {
		if path == "" {
			return
		}
		f := doctor.File{Name: name, Path: path, Secret: secret}
		info, err := os.Stat(path)
		if err != nil {
			f.Error = err.Error()
		} else {
			f.Mode = info.Mode()
		}
		list = append(list, f)
	}
	if source != nil {
		look("settings", source.Name, false)
	}
	look("state", s.State, false)
	look("database", s.Database(), true)
	look("socket directory", filepath.Dir(s.Listen.Socket), false)
	look("listen.certificate", s.Listen.Certificate, false)
	look("listen.key", s.Listen.Key, true)
	look("energy.prices", s.Energy.Prices, false)
	look("notify.mail.password_file", s.Notify.Mail.PasswordFile, true)
	look("notify.webhooks.secret_file", s.Notify.Webhooks.SecretFile, true)
	for i := range s.Switching.Nodes {
		entry := &s.Switching.Nodes[i]
		for _, id := range entry.Switched() {
			n := entry.For(id)
			look(fmt.Sprintf("power.nodes[%d].password_file", i), n.PasswordFile, true)
		}
	}
	return list
}

// certificateFacts reads the certificate of the API.
func certificateFacts(path string) *doctor.Certificate {
	f := &doctor.Certificate{Path: path}
	data, err := os.ReadFile(path)
	if err == nil {
		block, _ := pem.Decode(data)
		if block == nil {
			err = cluster.Fault("listen.certificate", "no PEM file")
		} else {
			var parsed *x509.Certificate
			if parsed, err = x509.ParseCertificate(block.Bytes); err == nil {
				f.Until = parsed.NotAfter
			}
		}
	}
	if err != nil {
		f.Error = err.Error()
	}
	return f
}

// mailFacts connects to the mail server, and sends nothing.
func mailFacts(ctx context.Context, server string) *doctor.Mail {
	f := &doctor.Mail{Server: server}
	dialer := net.Dialer{Timeout: probeTime}
	conn, err := dialer.DialContext(ctx, "tcp", server)
	if err == nil {
		err = conn.Close()
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		f.Error = err.Error()
	}
	return f
}
