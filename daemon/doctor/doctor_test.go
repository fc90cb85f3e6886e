package doctor_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/daemon/doctor"
)

var now = time.Date(2026, time.March, 1, 12, 0, 0, 0, time.UTC)

// healthy are the facts of an installation in which all is well.
func healthy() doctor.Facts {
	node := func(id cluster.NodeID) doctor.Node {
		return doctor.Node{ID: id, Capacity: cluster.Resources{CPU: 4000, Memory: 8192}, Processor: "Skylake-Server", Software: "libvirt 9.0.0, QEMU 7.2.0"}
	}
	return doctor.Facts{
		Now: now, Since: now.AddDate(0, -1, 0), Backup: now.Add(-24 * time.Hour), LastEvent: now,
		Store:    doctor.Store{Path: "/var/lib/vjob/vjob.db", Bytes: 10 << 20, WAL: 1 << 20},
		Settings: doctor.Settings{File: "/etc/vjob/vjobd.yaml"},
		Disks:    []doctor.Disk{{Name: "images", Path: "/srv/images", Free: 50 << 30, Total: 100 << 30}},
		Nodes:    []doctor.Node{node("n1"), node("n2")},
		Files:    []doctor.File{{Name: "listen.key", Path: "/etc/vjob/key.pem", Mode: 0o640, Secret: true}, {Name: "settings", Path: "/etc/vjob/vjobd.yaml", Mode: 0o644}},
		Cert:     &doctor.Certificate{Path: "/etc/vjob/cert.pem", Until: now.AddDate(0, 3, 0)},
		Mail:     &doctor.Mail{Server: "mail:25"},
	}
}

// Where all is well each finding is green, and has no next step.
func TestHealthy(t *testing.T) {
	f := healthy()
	list := doctor.Examine(&f)
	if doctor.Worst(list) != doctor.Green || len(list) < 11 {
		t.Errorf("%d findings, the worst is %s: %+v", len(list), doctor.Worst(list), list)
	}
	for _, found := range list {
		if found.Level != doctor.Green || found.Next != "" || found.Text == "" {
			t.Errorf("%+v", found)
		}
	}
}

// Each fault gives one finding of its level, with the next step, and leaves the others green.
func TestFaults(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*doctor.Facts)
		check  string
		level  doctor.Level
		text   string
	}{
		{"the store is damaged", func(f *doctor.Facts) { f.Store.Fault = "page 3" }, "store", doctor.Red, "damaged: page 3"},
		{"the store cannot be written", func(f *doctor.Facts) { f.Store.Broken = "disk full" }, "store", doctor.Red, "cannot use the database: disk full"},
		{"the store is too large", func(f *doctor.Facts) { f.Store.Unchecked = time.Minute }, "store", doctor.Yellow, "checked within 1m0s"},
		{"the write-ahead log is large", func(f *doctor.Facts) { f.Store.WAL = 1 << 30 }, "store", doctor.Yellow, "1.0 GiB"},
		{"the settings are wrong", func(f *doctor.Facts) { f.Settings.Fault = "line 3" }, "settings", doctor.Red, "line 3"},
		{"settings wait for a reload", func(f *doctor.Facts) { f.Settings.Pending = 2 }, "settings", doctor.Yellow, "not in effect: 2"},
		{"settings wait for a restart", func(f *doctor.Facts) { f.Settings.Restart = 1 }, "settings", doctor.Yellow, "need a restart: 1"},
		{"a disk is nearly full", func(f *doctor.Facts) { f.Disks[0].Free = 10 << 30 }, "disk", doctor.Yellow, "10.0 GiB of 100.0 GiB"},
		{"a disk is full", func(f *doctor.Facts) { f.Disks[0].Free = 0 }, "disk", doctor.Red, "0 KiB of"},
		{"a disk is gone", func(f *doctor.Facts) { f.Disks[0].Error = "not mounted" }, "disk", doctor.Red, "not mounted"},
		{"the clock was set back", func(f *doctor.Facts) { f.LastEvent = now.Add(time.Hour) }, "clock", doctor.Red, "1h0m0s in the future"},
		{"a node is silent", func(f *doctor.Facts) { f.Nodes[0].Silent, f.Nodes[0].Problem = true, "no route" }, "nodes", doctor.Red, "n1 does not answer: no route"},
		{"a node is new", func(f *doctor.Facts) { f.Nodes[0].Silent = true }, "nodes", doctor.Yellow, "n1 has not answered since the start"},
		{"a node is down", func(f *doctor.Facts) { f.Nodes[0].State, f.Nodes[0].Silent = cluster.Down, true }, "nodes", doctor.Yellow, "n1 is down"},
		{"a node has a warning", func(f *doctor.Facts) { f.Nodes[0].Warnings = []string{"not confined"} }, "nodes", doctor.Yellow, "not confined"},
		{"a node is crowded", func(f *doctor.Facts) { f.Nodes[1].Demand.CPU = 9000 }, "nodes", doctor.Yellow, "on n2"},
		{"processors differ", func(f *doctor.Facts) { f.Nodes[1].Processor = "EPYC" }, "processors", doctor.Yellow, "EPYC on n2; Skylake-Server on n1"},
		{"versions differ", func(f *doctor.Facts) { f.Nodes[1].Software = "libvirt 8.0.0" }, "versions", doctor.Yellow, "libvirt 8.0.0 on n2"},
		{"a secret is readable", func(f *doctor.Facts) { f.Files[0].Mode = 0o644 }, "files", doctor.Red, "read the secret in /etc/vjob/key.pem (0644)"},
		{"settings are writable", func(f *doctor.Facts) { f.Files[1].Mode = 0o666 }, "files", doctor.Red, "write /etc/vjob/vjobd.yaml"},
		{"a file is missing", func(f *doctor.Facts) { f.Files[1].Error = "no such file" }, "files", doctor.Red, "no such file"},
		{"no back-up", func(f *doctor.Facts) { f.Backup = time.Time{} }, "backup", doctor.Yellow, "no back-up has been made"},
		{"an old back-up", func(f *doctor.Facts) { f.Backup = now.AddDate(0, 0, -30) }, "backup", doctor.Yellow, "30 days"},
		{"the certificate expires soon", func(f *doctor.Facts) { f.Cert.Until = now.AddDate(0, 0, 10) }, "certificate", doctor.Yellow, "2026-03-11"},
		{"the certificate has expired", func(f *doctor.Facts) { f.Cert.Until = now.AddDate(0, 0, -1) }, "certificate", doctor.Red, "has expired on 2026-02-28"},
		{"the certificate is broken", func(f *doctor.Facts) { f.Cert.Error = "no PEM" }, "certificate", doctor.Red, "no PEM"},
		{"no mail server", func(f *doctor.Facts) { f.Mail.Error = "refused" }, "mail", doctor.Yellow, "refused"},
		{"an alarm", func(f *doctor.Facts) { f.Alarms = []doctor.Alarm{{At: now, Text: "look"}} }, "alarms", doctor.Yellow, "1 in the last day, the latest at 2026-03-01 12:00:00: look"},
	} {
		f := healthy()
		c.change(&f)
		list := slices.DeleteFunc(doctor.Examine(&f), func(found doctor.Finding) bool { return found.Level == doctor.Green })
		if len(list) != 1 || list[0].Check != c.check || list[0].Level != c.level || !strings.Contains(list[0].Text, c.text) || list[0].Next == "" {
			t.Errorf("%s: got %+v, want %s %s with %q and a next step", c.name, list, c.level, c.check, c.text)
		}
		if doctor.Worst(list) != c.level {
			t.Errorf("%s: the worst is %s", c.name, doctor.Worst(list))
		}
	}
}
