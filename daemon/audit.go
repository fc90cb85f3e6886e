package daemon

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"strings"
	"time"

	"vjob/ctxswitch/journal"
)

// auditStart records the start of the daemon in the audit list, and whether the settings have
// changed since the previous start. It stores the digest of the settings, not their text.
func (d *Daemon) auditStart(ctx context.Context) error {
	text, err := d.settings.YAML()
	if err != nil {
		return err
	}
	digest := fmt.Sprintf("%x", sha256.Sum256(text))
	before, err := d.store.Audit(ctx, journal.AuditFilter{Action: journal.AuditStart, Limit: 1})
	if err != nil {
		return err
	}
	change := "settings changed"
	switch {
	case len(before) == 0:
		change = "settings: the first ones"
	case strings.HasSuffix(before[0].Text, digest):
		change = "settings as before"
	}
	return d.store.WriteAudit(ctx, journal.Audit{
		At: time.Now().UTC(), From: fmt.Sprintf("uid %d", os.Getuid()), Action: journal.AuditStart, Text: change + ", sha256 " + digest,
	})
}
