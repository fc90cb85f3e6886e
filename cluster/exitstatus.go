package cluster

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// ExitStatus is how the work of a guest, or of a vjob, ended. The zero value: it has not ended by itself.
type ExitStatus uint16

const (
	// UnknownExit is the status of a guest that shut itself down without telling one.
	UnknownExit ExitStatus = 1
	// exited is the status 0; the others follow.
	exited ExitStatus = 2
	// maxSignal is the largest signal that an exit status shows: Linux has signals 1 to 64.
	maxSignal = 64
)

// Exited is the status that a shell gives as $?, from 0 to 255.
func Exited(value int) ExitStatus { return exited + ExitStatus(value) }

// IsZero reports whether the work has not ended by itself.
func (s ExitStatus) IsZero() bool { return s == 0 }

// Known reports whether the status was told.
func (s ExitStatus) Known() bool { return s >= exited }

// Value is the status as a shell gives it: the code, or 128 and the signal; -1 if it is not known.
func (s ExitStatus) Value() int {
	if !s.Known() {
		return -1
	}
	return int(s - exited)
}

// Code is the exit code; 0 unless the work ended by itself with a known status.
func (s ExitStatus) Code() int {
	if !s.Known() || s.Signal() > 0 {
		return 0
	}
	return s.Value()
}

// Signal is the signal that ended the work, or 0. As shells do, it takes 129 to 192 for signals 1 to 64.
func (s ExitStatus) Signal() int {
	if signal := s.Value() - 128; signal > 0 && signal <= maxSignal {
		return signal
	}
	return 0
}

// String is "3:0", code and signal, as Slurm writes it; "unknown", or "" for work that has not ended.
func (s ExitStatus) String() string {
	switch {
	case s.Known():
		return fmt.Sprintf("%d:%d", s.Code(), s.Signal())
	case s == UnknownExit:
		return "unknown"
	}
	return ""
}

// ParseExitStatus reads what [ExitStatus.String] writes.
func ParseExitStatus(text string) (ExitStatus, error) {
	switch text {
	case "":
		return 0, nil
	case UnknownExit.String():
		return UnknownExit, nil
	}
	left, right, _ := strings.Cut(text, ":")
	code, err := strconv.ParseUint(left, 10, 8)
	signal, err2 := strconv.ParseUint(right, 10, 8)
	if err != nil || err2 != nil || code > 0 && signal > 0 || signal > maxSignal {
		return 0, BadField("exit_status", text, "code:signal such as 3:0, or unknown")
	}
	if signal > 0 {
		code = 128 + signal
	}
	return Exited(int(code)), nil
}

// MarshalText writes the text.
func (s ExitStatus) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads the text.
func (s *ExitStatus) UnmarshalText(b []byte) (err error) {
	*s, err = ParseExitStatus(string(b))
	return err
}

// Success is which VMs of a vjob must succeed for the vjob to succeed.
type Success uint8

// The rules.
const (
	AllSucceed   Success = iota // every VM: the status of the vjob is the largest; of a led vjob only the first
	FirstSucceed                // the first VM: its status is that of the vjob
	AnySucceeds                 // one VM suffices
)

var successes = names[Success]{AllSucceed: "all", FirstSucceed: "first", AnySucceeds: "any"}

// String is the lower-case name.
func (s Success) String() string { return successes.text(s) }

// MarshalText writes the name.
func (s Success) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads the name.
func (s *Success) UnmarshalText(b []byte) (err error) {
	*s, err = successes.parse("success", string(b))
	return err
}

// Result is the exit status of a vjob and the rank of the VM that it is taken from, given those of its VMs in
// rank order, and whether the vjob has succeeded. VMs that have not ended by themselves do not count, and for a vjob that
// ends with its first VM only that one: which others have ended before is a matter of chance.
//
// A VM without a known status has succeeded if it was given no command and no script: its image says what it
// does. Otherwise it has failed, since the command may have been interrupted.
func (j *VJob) Result(exits []ExitStatus) (status ExitStatus, rank int, succeeded bool) {
	if (j.Success == FirstSucceed || j.LeaderEnds) && len(exits) > 0 && !exits[0].IsZero() {
		return exits[0], 0, j.severity(0, exits[0]) == 0
	}
	best := -1
	for i, s := range exits {
		if s.IsZero() {
			continue
		}
		worse := best >= 0 && j.severity(i, s) > j.severity(best, exits[best])
		better := best >= 0 && j.severity(i, s) < j.severity(best, exits[best])
		if best < 0 || worse && j.Success != AnySucceeds || better && j.Success == AnySucceeds {
			best = i
		}
	}
	if best < 0 {
		return 0, 0, true
	}
	return exits[best], best, j.severity(best, exits[best]) == 0
}

// severity orders statuses: 0 is success, an unknown status is the least failure.
func (j *VJob) severity(rank int, s ExitStatus) int {
	if s.Known() {
		return s.Value() * 2
	}
	if p := j.VMs[rank].Work(); len(p.Command) > 0 || p.Script != "" {
		return 1
	}
	return 0
}

// ExitAgain is the exit status by which an idempotent vjob asks to be submitted again, as in OAR.
const ExitAgain = 99

// ExitMark precedes the exit status of its work on the console of a guest: "vjob: exit code 3".
const ExitMark = "vjob: exit code "

// OutputMark is the line before the output of the work of a guest on its console.
const OutputMark = "vjob: output"

// ReadExit returns the last exit status on a console; [UnknownExit] without one.
func ReadExit(console []byte) ExitStatus {
	at := bytes.LastIndex(console, []byte(ExitMark))
	if at < 0 {
		return UnknownExit
	}
	line, _, _ := bytes.Cut(console[at+len(ExitMark):], []byte("\n"))
	value, err := strconv.Atoi(string(bytes.TrimSpace(line)))
	if err != nil || value < 0 || value > 255 {
		return UnknownExit
	}
	return Exited(value)
}
