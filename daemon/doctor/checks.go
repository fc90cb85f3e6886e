package doctor

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"vjob/cluster"
)

// Limits of the checks.
const (
	largeWAL      = 256 << 20 // bytes: checkpoints do not get through
	futureEvent   = 2 * time.Minute
	oldBackup     = 8 * 24 * time.Hour
	youngInstall  = 24 * time.Hour // without a back-up
	soonExpired   = 21 * 24 * time.Hour
	nearlyExpired = 3 * 24 * time.Hour
	// Parts of a disk that are free.
	lowDisk, fullDisk = 0.15, 0.05
)

func checkStore(f *Facts) []Finding {
	s := &f.Store
	found := Finding{Check: "store", Level: Green, Text: fmt.Sprintf("%s is sound: %s, write-ahead log %s", s.Path, size(s.Bytes), size(s.WAL))}
	switch {
	case s.Broken != "":
		found.Level, found.Text, found.Next = Red, "the scheduler cannot use the database: "+s.Broken, "df -h "+s.Path+"; then docs/how-to/recover-the-daemon.md"
	case s.Fault != "":
		found.Level, found.Text, found.Next = Red, s.Path+" is damaged: "+s.Fault, "vjob admin backup FILE; then docs/how-to/back-up-and-restore.md"
	case s.Unchecked > 0:
		found.Level, found.Text = Yellow, fmt.Sprintf("%s is too large to be checked within %s (%s)", s.Path, s.Unchecked, size(s.Bytes))
		found.Next = "vjob admin backup FILE && sqlite3 FILE 'PRAGMA integrity_check'"
	case s.WAL > largeWAL:
		found.Level, found.Text, found.Next = Yellow, fmt.Sprintf("the write-ahead log of %s is large: %s", s.Path, size(s.WAL)), "systemctl restart vjobd"
	}
	return []Finding{found}
}

func checkSettings(f *Facts) []Finding {
	s := &f.Settings
	found := Finding{Check: "settings", Level: Green, Text: s.File + " is in effect"}
	switch {
	case s.File == "":
		found.Text = "the embedded defaults are in effect"
	case s.Fault != "":
		found.Level, found.Text, found.Next = Red, "the daemon could not start again: "+s.Fault, "vjobd --settings "+s.File+" --check-settings"
	case s.Pending > 0:
		found.Level, found.Text, found.Next = Yellow, fmt.Sprintf("%s has changes that are not in effect: %d", s.File, s.Pending+s.Restart), "vjob admin reload --check"
	case s.Restart > 0:
		found.Level, found.Text, found.Next = Yellow, fmt.Sprintf("%s has changes that need a restart: %d", s.File, s.Restart), "systemctl restart vjobd"
	}
	return []Finding{found}
}

func checkDisks(f *Facts) (list []Finding) {
	for _, d := range f.Disks {
		found := Finding{Check: "disk", Level: Green, Text: fmt.Sprintf("%s: %s of %s free in %s", d.Name, size(int64(d.Free)), size(int64(d.Total)), d.Path)} //nolint:gosec // bytes of a disk
		free := float64(d.Free) / max(float64(d.Total), 1)
		switch {
		case d.Error != "":
			found.Level, found.Text, found.Next = Red, d.Name+": "+d.Error, "ls -ld "+d.Path
		case free < fullDisk:
			found.Level, found.Next = Red, "du -xh --max-depth=1 "+d.Path
		case free < lowDisk:
			found.Level, found.Next = Yellow, "du -xh --max-depth=1 "+d.Path
		}
		list = append(list, found)
	}
	return list
}

// checkClock compares the clock with the latest event: a clock that was set back delays deadlines and mixes the log up.
func checkClock(f *Facts) []Finding {
	found := Finding{Check: "clock", Level: Green, Text: "the clock is after the latest event"}
	if ahead := f.LastEvent.Sub(f.Now); ahead > futureEvent {
		found.Level, found.Next = Red, "timedatectl"
		found.Text = fmt.Sprintf("the latest event is %s in the future: the clock was set back", ahead.Round(time.Second))
	}
	return []Finding{found}
}

func checkNodes(f *Facts) (list []Finding) {
	healthy := 0
	for i := range f.Nodes {
		n := &f.Nodes[i]
		switch {
		case n.Silent && n.Problem == "" && n.State == cluster.Online:
			list = append(list, Finding{"nodes", Yellow, fmt.Sprintf("%s has not answered since the start", n.ID), "vjob admin doctor, in half a minute"})
		case n.Silent && n.State != cluster.Offline && n.State != cluster.Down:
			list = append(list, Finding{"nodes", Red, fmt.Sprintf("%s does not answer: %s", n.ID, n.Problem), "vjob nodes show " + string(n.ID) + "; then docs/how-to/recover-a-dead-node.md"})
		case n.State == cluster.Down:
			list = append(list, Finding{"nodes", Yellow, fmt.Sprintf("%s is down", n.ID), "repair it, then vjob nodes online " + string(n.ID)})
		case n.Problem != "" && n.State != cluster.Offline:
			list = append(list, Finding{"nodes", Yellow, fmt.Sprintf("%s: %s", n.ID, n.Problem), "vjob nodes show " + string(n.ID)})
		case len(n.Warnings) > 0:
			list = append(list, Finding{"nodes", Yellow, fmt.Sprintf("%s: %s", n.ID, strings.Join(n.Warnings, "; ")), "vjob nodes show " + string(n.ID)})
		default:
			healthy++
		}
	}
	if healthy > 0 {
		list = append(list, Finding{"nodes", Green, fmt.Sprintf("%d of %d nodes are well", healthy, len(f.Nodes)), ""})
	}
	return list
}

// checkCapacity finds nodes with VMs that want more CPU than there is.
func checkCapacity(f *Facts) []Finding {
	var crowded []string
	for i := range f.Nodes {
		if n := &f.Nodes[i]; n.Demand.CPU > n.Capacity.CPU {
			crowded = append(crowded, string(n.ID))
		}
	}
	if len(crowded) == 0 {
		return nil
	}
	return []Finding{{"nodes", Yellow, "VMs want more CPU than there is on " + some(crowded), "vjob balance"}}
}

// checkProcessors finds nodes with other CPU models: VMs that boot with all features of one do not move to the other.
func checkProcessors(f *Facts) []Finding {
	return different(f, "processors", func(n *Node) string { return n.Processor }, "docs/reference/libvirt.md: cpu_model")
}

// checkSoftware finds nodes with other versions of the hypervisor.
func checkSoftware(f *Facts) []Finding {
	return different(f, "versions", func(n *Node) string { return n.Software }, "upgrade the nodes one after the other: docs/how-to/upgrade.md")
}

// different returns a warning if a property differs between nodes, as far as it is known.
func different(f *Facts, check string, of func(*Node) string, next string) []Finding {
	names := map[string][]string{}
	var order []string
	for i := range f.Nodes {
		if v := of(&f.Nodes[i]); v != "" {
			if names[v] == nil {
				order = append(order, v)
			}
			names[v] = append(names[v], string(f.Nodes[i].ID))
		}
	}
	slices.Sort(order)
	switch len(order) {
	case 0:
		return nil
	case 1:
		return []Finding{{check, Green, order[0] + " on all nodes", ""}}
	}
	parts := make([]string, len(order))
	for i, v := range order {
		parts[i] = v + " on " + some(names[v])
	}
	return []Finding{{check, Yellow, "the nodes differ: " + strings.Join(parts, "; "), next}}
}

func checkFiles(f *Facts) (list []Finding) {
	sound := 0
	for _, file := range f.Files {
		switch open := file.Mode.Perm(); {
		case file.Error != "":
			list = append(list, Finding{"files", Red, file.Name + ": " + file.Error, "ls -l " + file.Path})
		case open&0o002 != 0:
			list = append(list, Finding{"files", Red, fmt.Sprintf("%s: all users may write %s (%04o)", file.Name, file.Path, open), "chmod o-w " + file.Path})
		case file.Secret && open&0o004 != 0:
			list = append(list, Finding{"files", Red, fmt.Sprintf("%s: all users may read the secret in %s (%04o)", file.Name, file.Path, open), "chmod o-r " + file.Path})
		default:
			sound++
		}
	}
	if sound > 0 {
		list = append(list, Finding{"files", Green, fmt.Sprintf("%d files and directories have the right permissions", sound), ""})
	}
	return list
}

func checkBackup(f *Facts) []Finding {
	const next = "vjob admin backup /path/vjob-$(date +%F).db"
	switch age := f.Now.Sub(f.Backup); {
	case f.Backup.IsZero() && (f.Since.IsZero() || f.Now.Sub(f.Since) < youngInstall):
		return []Finding{{"backup", Green, "no back-up yet; the installation is younger than a day", ""}}
	case f.Backup.IsZero():
		return []Finding{{"backup", Yellow, "no back-up has been made", next}}
	case age > oldBackup:
		return []Finding{{"backup", Yellow, fmt.Sprintf("the last back-up is %d days old", int(age.Hours()/24)), next}}
	default:
		return []Finding{{"backup", Green, "the last back-up is of " + f.Backup.UTC().Format(time.DateTime), ""}}
	}
}

func checkCertificate(f *Facts) []Finding {
	c := f.Cert
	if c == nil {
		return nil
	}
	found := Finding{Check: "certificate", Level: Green, Text: c.Path + " is valid until " + c.Until.UTC().Format(time.DateOnly)}
	left := c.Until.Sub(f.Now)
	switch {
	case c.Error != "":
		found.Level, found.Text, found.Next = Red, c.Path+": "+c.Error, "openssl x509 -noout -text -in "+c.Path
	case left <= 0:
		found.Level, found.Text, found.Next = Red, c.Path+" has expired on "+c.Until.UTC().Format(time.DateOnly), "renew it: docs/how-to/set-up-tls.md"
	case left < nearlyExpired:
		found.Level, found.Next = Red, "renew it: docs/how-to/set-up-tls.md"
	case left < soonExpired:
		found.Level, found.Next = Yellow, "renew it: docs/how-to/set-up-tls.md"
	}
	return []Finding{found}
}

func checkMail(f *Facts) []Finding {
	m := f.Mail
	switch {
	case m == nil:
		return nil
	case m.Error != "":
		return []Finding{{"mail", Yellow, "the mail server does not answer: " + m.Error, "nc -vz " + strings.ReplaceAll(m.Server, ":", " ")}}
	}
	return []Finding{{"mail", Green, m.Server + " answers", ""}}
}

func checkAlarms(f *Facts) []Finding {
	if len(f.Alarms) == 0 {
		return []Finding{{"alarms", Green, "none in the last day", ""}}
	}
	last := f.Alarms[len(f.Alarms)-1]
	text := fmt.Sprintf("%d in the last day, the latest at %s: %s", len(f.Alarms), last.At.UTC().Format(time.DateTime), last.Text)
	return []Finding{{"alarms", Yellow, text, "vjob events, and docs/reference/alarms.md"}}
}

// size writes a number of bytes.
func size(n int64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%d KiB", (n+1023)/1024)
}
