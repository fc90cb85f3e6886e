package scenarios_test

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/gang"
	"vjob/ctxswitch/journal"
	"vjob/hypervisor"
	"vjob/hypervisor/simulated"
)

// logbook is the log of a scenario: one line for each event, after its time. Calls and
// low-level changes are indented; vjobs have their names in the script.
type logbook struct {
	text  strings.Builder
	now   func() time.Duration
	names map[cluster.VJobID]string
}

// String returns the log.
func (l *logbook) String() string { return l.text.String() }

func (l *logbook) head(text string) { l.plain(text) }

func (l *logbook) plain(text string) { l.text.WriteString(text + "\n") }

// say writes one line with the current time.
func (l *logbook) say(format string, args ...any) {
	at := l.now()
	text := l.named(fmt.Sprintf(format, args...))
	fmt.Fprintf(&l.text, "%02d:%06.3f %s\n", int(at.Minutes()), (at % time.Minute).Seconds(), text)
}

var (
	vjobNumber = regexp.MustCompile(`\bvjob (\d+)\b`)
	vmNumber   = regexp.MustCompile(`\b(\d+)\.(\d+)\b( [GTM]iB| CPU)?`)
)

// named replaces numbers of vjobs and VMs by their names in the script.
func (l *logbook) named(text string) string {
	for _, id := range slices.Sorted(maps.Keys(l.names)) {
		name, number := l.names[id], id.String()
		text = vjobNumber.ReplaceAllStringFunc(text, func(s string) string {
			if s == "vjob "+number {
				return "vjob " + name
			}
			return s
		})
		text = vmNumber.ReplaceAllStringFunc(text, func(s string) string {
			if rest, ok := strings.CutPrefix(s, number+"."); ok && !strings.Contains(s, " ") {
				return name + "." + rest
			}
			return s
		})
	}
	return text
}

// describe returns a call as text.
func describe(c hypervisor.Call) string {
	text := fmt.Sprintf("%d: %s %s on %s", c.Op, c.Verb, c.VM, c.Node)
	switch c.Verb {
	case hypervisor.Migrate:
		return text + " to " + string(c.To)
	case hypervisor.Restore, hypervisor.Revoke:
		return fmt.Sprintf("%s, image %s, attempt %d", text, c.Image, c.Attempt)
	case hypervisor.Save, hypervisor.Seal, hypervisor.Discard:
		return fmt.Sprintf("%s, image %s", text, c.Image)
	default:
		return text
	}
}

// step writes the content of a committed step.
func (l *logbook) step(step journal.Step, before map[cluster.VJobID]gang.Record) {
	for _, r := range step.Results {
		if r.Error != "" {
			l.say("   call %d failed: %s", r.Op, r.Error)
		}
	}
	for _, rec := range step.Gangs {
		if b := before[rec.VJob]; b.Phase != rec.Phase || b.Then != rec.Then {
			before[rec.VJob] = rec
			l.say("gang of vjob %s: %s%s, %s", rec.VJob, rec.Phase, then(rec.Then), rec.Cause)
		}
	}
	for _, e := range step.Events {
		l.say("%s: %s", e.Kind, e.TextFor(""))
	}
	for _, p := range step.Plans {
		for _, a := range p.Plan.Actions {
			l.say("   plan %d, action %d: %s %s %s>%s after %v", p.ID, a.ID, a.Kind, a.VM, a.From, a.To, a.After)
		}
	}
}

func then(t gang.Then) string {
	if t == gang.ThenNothing {
		return ""
	}
	return " (then " + t.String() + ")"
}

// change writes a change of a node.
func (l *logbook) change(c simulated.Change) {
	if c.Kind == simulated.FaultBegan || c.Kind == simulated.FaultEnded {
		l.say("!! %s: %s, %s", c.Node, c.Fault, c.Kind)
		return
	}
	text := fmt.Sprintf("      %s %s on %s", c.VM, c.Kind, c.Node)
	switch c.Kind {
	case simulated.Migrated, simulated.MigrateBegun, simulated.Split:
		text += " to " + string(c.To)
	case simulated.Ended:
		text += ": " + c.Cause.String()
	case simulated.SaveBegun, simulated.Saved, simulated.Sealed, simulated.Discarded,
		simulated.RestoreBegun, simulated.Restored, simulated.Revoked, simulated.ImageDamaged:
		text += ", image " + c.Image.String()
	default: // nothing to add
	}
	l.say("%s", text)
}
