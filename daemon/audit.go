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

// auditStart notes in the audit list that the daemon starts, and whether its settings are
// others than at the start before. Settings hold no secrets, but their digest is enough.
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
	how := "settings changed"
	switch {
	case len(before) == 0:
		how = "settings: the first ones"
	case strings.HasSuffix(before[0].Text, digest):
		how = "settings as before"
	}
	return d.store.WriteAudit(ctx, journal.Audit{
		At: time.Now().UTC(), From: fmt.Sprintf("uid %d", os.Getuid()), Action: journal.AuditStart, Text: how + ", sha256 " + digest,
	})
}
