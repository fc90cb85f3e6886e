package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"vjob/cluster"
	"vjob/cmd/program"
	"vjob/oar"
)

// sshOptions are the letters of ssh, with a colon after those that take a value.
const sshOptions = "1246aAb:B:c:CD:e:E:fF:gGi:I:J:kKl:L:m:MnNo:O:p:P:qQ:R:sS:tTvVw:W:xXyY"

// The exit codes of oarsh.
const (
	exitShellJob   = 5 // the job or the host
	exitShellNoJob = 6 // no job is named
	exitShellUsage = 7
)

// unreachable is the exit code of ssh if it cannot connect.
const unreachable = 255

// shellLine is a command line of oarsh: [options] [user@]host [options] [command].
type shellLine struct {
	options    []string // of ssh, as given
	user, host string
	command    []string
}

// parseShellLine reads a command line as ssh does.
func parseShellLine(line []string) (s shellLine, err error) {
	if line, err = s.readOptions(line); err != nil {
		return s, err
	}
	if len(line) == 0 || line[0] == "" {
		return s, exitError(exitShellUsage, "oarsh: cannot retrieve host\nusage: oarsh [OPTIONS OF SSH] [USER@]HOST [COMMAND]; hosts are in $OAR_NODEFILE, or in the list of oarprint host -j JOB")
	}
	s.host = line[0]
	if at := strings.LastIndexByte(s.host, '@'); at >= 0 {
		s.user, s.host = s.host[:at], s.host[at+1:]
	}
	s.command, err = s.readOptions(line[1:])
	return s, err
}

// readOptions takes the options off with which a line begins.
func (s *shellLine) readOptions(line []string) (rest []string, err error) {
	for len(line) > 0 && strings.HasPrefix(line[0], "-") && line[0] != "-" {
		word := line[0]
		line = line[1:]
		if word == "--" {
			break
		}
		s.options = append(s.options, word)
		for i, letter := range word[1:] {
			at := strings.IndexRune(sshOptions, letter)
			if at < 0 || letter == ':' {
				return nil, exitError(exitShellUsage, "oarsh: unknown option -%c", letter)
			}
			if at+1 == len(sshOptions) || sshOptions[at+1] != ':' {
				continue
			}
			if i+2 > len(word)-1 { // the value is the next word
				if len(line) == 0 {
					return nil, exitError(exitShellUsage, "oarsh: option -%c requires a value", letter)
				}
				s.options, line = append(s.options, line[0]), line[1:]
			}
			break
		}
	}
	return line, nil
}

// shell is oarsh: ssh to a VM of a job.
func shell(ctx context.Context, r *commandRun) error {
	if len(r.line) == 1 && (r.line[0] == "--help" || r.line[0] == "-h") {
		r.usage()
		return nil
	}
	s, err := parseShellLine(r.line)
	if err != nil {
		return err
	}
	guest, err := r.guest(ctx, s.host)
	if err != nil {
		return err
	}
	guest.User = s.user
	code, err := r.Exec(ctx, s.words(guest, r.Getenv(program.CommandVariable)))
	if err != nil {
		return exitError(exitShellJob, "oarsh: %v", err)
	}
	if code == unreachable && guest.Job != "" {
		r.printError(fmt.Sprintf("oarsh: no connection with %s: its name must be resolvable here, and its image needs an SSH server with your key. oarsub -C %s and vjob console %s connect by the console.", guest.Name, guest.Job, guest.Job))
	}
	r.exit = code
	return nil
}

// words returns the command that connects: that of VJOB_CONNECT, or else ssh. A VM has a name that no other VM ever
// has, so the key of a new name is accepted.
func (s *shellLine) words(guest program.Guest, connect string) []string {
	words := guest.Fill(connect)
	if len(words) > 0 {
		return slices.Concat(words[:1], s.options, words[1:], s.command)
	}
	to := guest.Name
	if guest.User != "" {
		to = guest.User + "@" + to
	}
	return slices.Concat([]string{"ssh"}, s.options, []string{"-o", "StrictHostKeyChecking=accept-new", "--", to}, s.command)
}

// guest returns the VM with a name: in a VM from the file of nodes, elsewhere from the daemon, where the name of a
// node stands for the first VM of the job there.
func (r *commandRun) guest(ctx context.Context, host string) (program.Guest, error) {
	if file := r.Getenv("OAR_NODEFILE"); file != "" {
		text, err := os.ReadFile(file)
		if err != nil {
			return program.Guest{}, exitError(exitShellJob, "oarsh: OAR_NODEFILE: %v", err)
		}
		return findGuest(host, program.Guest{}, strings.Fields(string(text)), nil)
	}
	job := r.environmentJob()
	if job == "" {
		return program.Guest{}, exitError(exitShellNoJob, "oarsh: Cannot connect. Please set a job id in your\noarsh: environment using the OAR_JOB_ID variable.")
	}
	id, ok := number(job)
	if !ok {
		return program.Guest{}, exitError(exitShellJob, "oarsh: Invalid job id: %s", job)
	}
	c, err := r.client()
	if err != nil {
		return program.Guest{}, err
	}
	detail, err := c.VJob(ctx, id)
	switch {
	case errors.Is(err, cluster.ErrNotFound), errors.Is(err, cluster.ErrForbidden):
		return program.Guest{}, exitError(exitShellJob, "oarsh: Permission denied, seems like job %d is not yours.", id)
	case err != nil:
		return program.Guest{}, err
	}
	names, nodes := make([]string, len(detail.VMs)), make([]string, len(detail.VMs))
	running := false
	for i, vm := range detail.VMs {
		names[i], nodes[i] = cluster.GuestName(cluster.VMID{VJob: cluster.VJobID(id), Rank: i}), vm.Node
		running = running || vm.Node != ""
	}
	if !running {
		return program.Guest{}, exitError(exitShellJob, "oarsh: job %d has no VM that runs: oarstat -s -j %d shows its state.", id, id)
	}
	return findGuest(host, program.Guest{Job: job}, names, nodes)
}

// findGuest completes a guest by its name, with or without a domain, or by its node.
func findGuest(host string, g program.Guest, names, nodes []string) (program.Guest, error) {
	short, _, _ := strings.Cut(host, ".")
	for i, name := range names {
		node := ""
		if nodes != nil {
			node = nodes[i]
		}
		if host == name || short == name || host == node {
			g.Name, g.Node = name, node
			if short == name {
				g.Name = host
			}
			return g, nil
		}
	}
	return g, exitError(exitShellJob, "oarsh: %s is no VM of the job: want one of %s", oar.Printable(host), cluster.Shortened(strings.Join(slices.Compact(names), ", "), 200))
}

// copyFiles is oarcp: scp that connects by oarsh.
func copyFiles(ctx context.Context, r *commandRun) error {
	if len(r.line) == 0 || len(r.line) == 1 && (r.line[0] == "--help" || r.line[0] == "-h") {
		r.usage()
		return nil
	}
	path, err := r.Companion("oarsh")
	if err != nil {
		return exitError(1, "oarcp: %v", err)
	}
	r.exit, err = r.Exec(ctx, slices.Concat([]string{"scp", "-S", path}, r.line))
	if err != nil {
		return exitError(1, "oarcp: %v", err)
	}
	return nil
}
