package execute

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/gang"
	"vjob/ctxswitch/journal"
)

// silentAlarm is how long a node does not answer before that is an alarm: a libvirtd that restarts is none.
const silentAlarm = time.Minute

// Conditions returns what needs an administrator at present, in order. It costs as much as there is of it, however
// many vjobs there are.
func (e *Executor) Conditions() (list []journal.Condition) {
	list = append(list, e.nodes.conditions()...)
	if e.store.problem != "" {
		list = append(list, journal.Condition{Kind: journal.AlarmImageStore, Text: e.store.problem})
	}
	for at, u := range e.unknown.copies {
		list = append(list, journal.Condition{
			Kind: journal.AlarmUnknownCopy, VM: at.vm.String(), Node: at.node,
			Text: fmt.Sprintf("node %s has a copy of %s, which belongs to no live vjob: it is %s", at.node, at.vm, u.seen),
		})
	}
	for _, o := range e.engine.calls.ops {
		if o.told {
			list = append(list, journal.Condition{
				Kind: journal.AlarmCall, VJob: o.call.VM.VJob, VM: o.call.VM.String(), Node: o.call.Node,
				Text: fmt.Sprintf("%s of %s on %s takes long: it began at %s", o.call.Verb, o.call.VM, o.call.Node, o.began.UTC().Format(time.DateTime)),
			})
		}
	}
	for id := range e.alarmed {
		found := e.gangs.conditions(id)
		if len(found) == 0 {
			delete(e.alarmed, id)
		}
		list = append(list, found...)
	}
	for _, rec := range e.gangs.kept {
		list = append(list, keptImages(rec)...)
	}
	slices.SortFunc(list, func(a, b journal.Condition) int { return a.Compare(&b) })
	return list
}

// missed reports whether the node is in service and has not answered for long enough for an alarm.
func (n *node) missed(now time.Time) bool {
	return n.silent() && n.tried && (n.State == cluster.Online || n.State == cluster.Draining) && now.Sub(n.seenSince) >= silentAlarm
}

// alarmSilent raises an alarm once for each node that does not answer for a while.
func (ns *nodes) alarmSilent() {
	for _, id := range slices.Sorted(maps.Keys(ns.silent)) {
		n := ns.silent[id]
		if n.alarmed || !n.missed(ns.now) {
			continue
		}
		n.alarmed = true
		ns.event(journal.Event{
			Kind: journal.EventAlarm, Node: id,
			Text: fmt.Sprintf("node %s does not answer since %s, and its vjobs are left alone: %s", id, n.seenSince.UTC().Format(time.DateTime), n.problem),
		})
	}
}

// conditions are the nodes in service that have not answered for a while.
func (ns *nodes) conditions() (list []journal.Condition) {
	for id, n := range ns.silent {
		if n.alarmed && n.missed(ns.now) {
			list = append(list, journal.Condition{
				Kind: journal.AlarmNodeSilent, Node: id,
				Text: fmt.Sprintf("node %s does not answer since %s: %s", id, n.seenSince.UTC().Format(time.DateTime), n.problem),
			})
		}
	}
	return list
}

// conditions are those of one vjob, at most one of each kind.
func (gs *gangs) conditions(id cluster.VJobID) (list []journal.Condition) {
	p, live := gs.live[id]
	if !live {
		return nil
	}
	texts := map[journal.AlarmKind][]string{}
	add := func(kind journal.AlarmKind, text string) {
		if !slices.Contains(texts[kind], text) {
			texts[kind] = append(texts[kind], text)
		}
	}
	for _, text := range slices.Sorted(maps.Keys(p.phase.alarms)) {
		kind := p.phase.alarms[text]
		settled := kind == journal.AlarmCPULimit && !slices.ContainsFunc(p.members, func(m memberState) bool { return m.tuning.tries > 0 })
		if !settled && !strings.HasPrefix(text, "lost: ") { // a loss lasts longer than its phase: see below
			add(kind, text)
		}
	}
	if held := p.job.Hold.Fields(); p.job.Held && held.Kind == "" && held.Text != "" { // by the protocol, not by a user
		add(journal.AlarmGang, held.Text)
	}
	if cause := p.rec.Cause; cause.Is(cluster.CauseLost) && (p.rec.Phase == gang.Clearing || p.rec.Phase == gang.Absent) {
		add(journal.AlarmLost, "lost: "+cause.Text)
	}
	if p.missing != "" {
		add(journal.AlarmImageMissing, p.missing)
	}
	for kind, of := range texts {
		list = append(list, journal.Condition{Kind: kind, VJob: id, Text: fmt.Sprintf("vjob %s: %s", id, strings.Join(of, "; "))})
	}
	return append(list, keptImages(p.rec)...)
}

// keptImages is the condition of a vjob with images that are newer than the database.
func keptImages(rec *gang.Record) []journal.Condition {
	for _, k := range rec.Kept {
		if k.Newer {
			return []journal.Condition{{Kind: journal.AlarmImageKept, VJob: rec.VJob, Text: fmt.Sprintf("vjob %s: images are kept: %s", rec.VJob, k.Cause)}}
		}
	}
	return nil
}
