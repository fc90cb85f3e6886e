package oar_test

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"vjob/tests/golden"
)

// elsewhere are the submissions that other tests check, or that differ on purpose.
var elsewhere = map[string]string{
	"c04": byLine, "c13": byLine, "c31": byLine, "c40": byLine, "c41": byLine, "c46": byLine, "c47": byLine, "c59": byLine, "c67": byLine, "c70": byLine,
	"c79": byLine, "c80": byLine, "c82": byLine, "c83": byLine, "c85": byLine, "c86": byLine, "c88": byLine, "c104": byLine,
	"c44": "judged by TestParameterFiles",
	"c73": "judged by TestBadScript",
	"c98": "differs: OAR says R=64 for BESTHALF, which counts all nodes, and we give half of the free ones",
	"c58": "differs: no program of a user runs on the server",
}

const byLine = "judged by TestCommandLines"

// family is a kind of cases.
type family struct {
	name   string
	ids    []string
	reason string // why the cases wait or differ, or the test that checks them; "": checked here
}

// verdict returns the state of the cases.
func (f *family) verdict() string {
	return cmp.Or(f.reason, "judged") // a reason begins with judged, differs or waits
}

// families returns all cases of the file.
func families(t *testing.T) []family {
	t.Helper()
	c := load(t)
	of := func(list []numbered, keep func(id string) bool) (ids []string) {
		for _, x := range list {
			if keep(x.ID) {
				ids = append(ids, x.ID)
			}
		}
		return ids
	}
	var requests, judged, reservations []string
	for _, x := range c.Requests {
		requests = append(requests, x.ID)
	}
	byReason := map[string][]string{}
	for _, x := range c.Submissions {
		if reason, waits := elsewhere[x.ID]; waits {
			byReason[reason] = append(byReason[reason], x.ID)
		} else {
			judged = append(judged, x.ID)
		}
	}
	for _, x := range c.Reservations {
		reservations = append(reservations, x.ID)
	}
	own := func(id string) bool { return id == "ad14" }
	list := []family{
		{"requests", requests, ""},
		{"submissions: exit code, rules, size, walltime, queue, types, properties", judged, ""},
		{"reservations: dates and walltimes", reservations, ""},
		{"admission rules", of(c.Admission, func(id string) bool { return !own(id) }), ""},
		{"options in a script", []string{"scan_script_oar3"}, ""},
		{"size of a request", []string{"2nd", "3rd", "4th"}, ""},
	}
	for _, reason := range slices.Sorted(maps.Keys(byReason)) {
		list = append(list, family{"submissions", byReason[reason], reason})
	}
	list = append(list, groupByReason("commands", c.Commands, skippedCommands, "judged by TestCommands")...)
	list = append(list, groupByReason("REST", c.API, skippedCalls, "judged by TestREST")...)
	var schedules []numbered
	for _, x := range c.Scheduled {
		schedules = append(schedules, numbered{x.ID})
	}
	list = append(list, groupByReason("schedules of OAR 2", schedules, skippedSchedules, "judged by TestSchedules")...)
	list = append(list, groupByReason("schedules of OAR 3", c.Tests, skippedScenarios, "judged by TestPlayed")...)
	list = append(list, groupByReason("state changes", c.Machine, skippedStates, "judged by TestStates")...)
	list = append(list, groupByReason("energy", c.Energy, skippedPower, "judged")...)
	return append(list,
		family{"admission rules", of(c.Admission, own), "differs: OAR adds type='default' to each group; vjob has no resources but nodes"},
		family{"size of a request", []string{"1st"}, "differs: asks for certain cpus of a node; a VM has no such choice, and it is refused"},
		family{"log of states", []string{"state_log_oar2_measured"}, "judged by TestStateLog"},
		family{"upstream tests", of(c.Upstream, func(id string) bool { return id <= "r002" }), "judged by TestUpstream, and the file of nodes by TestVariables of oar/launch"},
		family{"upstream tests", []string{"r003", "r004"}, "judged by TestLateReservation"},
		family{"upstream tests", []string{"r005"}, "differs: of the site that was dumped only the count of jobs is known; long queues are judged in scheduler"},
	)
}

// skippedPower are the cases of OAR's node power daemon that do not apply, with the reason.
var skippedPower = map[string]string{
	"g01": pausesByCount, "g02": pausesByCount, "g04": keepalive, "g05": keepalive, "g07": keepalive,
	"g08": "judged in sim/simclock: a node that is wanted is asked to come up, and TestAdministratorsOverridePowerManagement",
	"g10": "judged in energy/power/driver: each node has commands of its own, which are given nothing on their input",
	"g00": "differs: what may be switched stands in the settings; power management asks each time whether it pays",
	"g13": "judged by TestANodeThatDoesNotComeBack of sim/simclock: it is asked three times, and then left alone",
	"g11": "judged by TestANodeThatDoesNotComeBack of sim/simclock: a command over its time is an alarm, and the node is stuck",
}

const (
	pausesByCount = "differs: how long a node may take is one time for all (power.limits), whatever their number"
	keepalive     = "differs: what stays on beside the demand is spare_nodes and spare_share; settings that cannot be read are refused with their line"
)

// groupByReason groups cases of one kind by reason. Cases without a reason are judged.
func groupByReason(name string, list []numbered, reasons map[string]string, judged string) (families []family) {
	ids := map[string][]string{}
	for _, x := range list {
		reason, why := reasons[x.ID]
		if !why {
			reason = judged
		}
		ids[reason] = append(ids[reason], x.ID)
	}
	for _, reason := range slices.Sorted(maps.Keys(ids)) {
		families = append(families, family{name, ids[reason], reason})
	}
	return families
}

const (
	begin = "<!-- cases: written by go test ./tests/oar -update -->\n"
	end   = "<!-- end of cases -->\n"
)

// Each case is judged or has a reason. The guide shows both.
func TestWaiting(t *testing.T) {
	known := map[string]bool{}
	for _, c := range load(t).Submissions {
		known[c.ID] = true
	}
	for id := range elsewhere {
		if !known[id] {
			t.Errorf("%s is judged elsewhere, and there is no such case", id)
		}
	}
	var b strings.Builder
	b.WriteString("| cases | number | | which |\n| --- | ---: | --- | --- |\n")
	for _, f := range families(t) {
		verdict := f.verdict()
		if verdict != "judged" {
			t.Logf("%s, %d: %s: %s", f.name, len(f.ids), verdict, strings.Join(f.ids, " "))
		}
		if len(f.ids) == 0 {
			t.Errorf("%s: there are no such cases", f.name)
		}
		which := strings.Join(f.ids, " ")
		if len(f.ids) > 12 {
			which = f.ids[0] + " … " + f.ids[len(f.ids)-1]
		}
		fmt.Fprintf(&b, "| %s | %d | %s | %s |\n", f.name, len(f.ids), verdict, which)
	}
	golden.Passage(t, "../../docs/reference/oar-compatibility.md", begin, end, b.String())
}
