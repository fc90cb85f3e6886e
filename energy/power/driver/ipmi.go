package driver

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	"vjob/cluster"
	"vjob/energy/power"
	"vjob/internal/pattern"
)

// IPMISettings are the settings of an [IPMI] driver.
type IPMISettings struct {
	Address string // of the controller: a name or an IP address, and :port if it is not 623
	User    string
	// PasswordFile has the password on its only line.
	PasswordFile string
	// Cut takes the power away; else the node is asked to shut down (ACPI).
	Cut bool
	// Cipher is the cipher suite, such as 17 or 3; 0: the controller is asked for the
	// best that it has.
	Cipher int
}

// IPMI switches a node through its baseboard management controller, by IPMI 2.0 over the network, with the program ipmitool.
type IPMI struct {
	argv []string
	off  string
}

var _ power.Driver = (*IPMI)(nil)

// ipmiName is what may stand for a host or a user, so that no part of it is an option.
var ipmiName = pattern.New(`^[A-Za-z0-9_:\[][A-Za-z0-9_.:%@\[\]-]*$`)

// mostName is its longest length.
const mostName = 254

func isIPMIName(text string) bool { return len(text) <= mostName && ipmiName().MatchString(text) }

// NewIPMI checks the settings. The error names the field.
func NewIPMI(s IPMISettings) (*IPMI, error) {
	host, port := s.Address, "623"
	if h, p, err := net.SplitHostPort(s.Address); err == nil {
		host, port = h, p
	}
	number, err := strconv.ParseUint(port, 10, 16)
	if !isIPMIName(host) || err != nil || number == 0 {
		return nil, cluster.BadField("address", s.Address, "the name or IP address of the controller, and :port if it is not 623")
	}
	if s.User != "" && !isIPMIName(s.User) {
		return nil, cluster.BadField("user", s.User, "the name of a user of the controller")
	}
	if s.Cipher < 0 || s.Cipher > 255 {
		return nil, cluster.BadField("cipher_suite", s.Cipher, "the number of a cipher suite, such as 17, or 0")
	}
	if err := checkPasswordFile(s.PasswordFile); err != nil {
		return nil, cluster.BadField("password_file", s.PasswordFile, "a file with the password: "+err.Error())
	}
	d := &IPMI{off: "soft"}
	if s.Cut {
		d.off = "off"
	}
	d.argv = []string{"ipmitool", "-I", "lanplus", "-H", host, "-p", port, "-U", s.User, "-f", s.PasswordFile, "-N", "2", "-R", "2"}
	if s.Cipher > 0 {
		d.argv = append(d.argv, "-C", strconv.Itoa(s.Cipher))
	}
	return d, nil
}

// On starts the node.
func (d *IPMI) On(ctx context.Context) error {
	_, err := d.chassis(ctx, "on")
	return err
}

// Off asks the node to shut down, or takes its power away.
func (d *IPMI) Off(ctx context.Context) error {
	_, err := d.chassis(ctx, d.off)
	if err != nil && strings.Contains(err.Error(), "not supported in present state") {
		return nil // a node that is off already cannot be asked to shut down
	}
	return err
}

// State asks whether the node has power.
func (d *IPMI) State(ctx context.Context) (power.State, error) {
	out, err := d.chassis(ctx, "status")
	switch {
	case err != nil:
		return power.Unknown, err
	case strings.Contains(out, "Chassis Power is on"):
		return power.On, nil
	case strings.Contains(out, "Chassis Power is off"):
		return power.Off, nil
	}
	return power.Unknown, fmt.Errorf("ipmitool printed %q, want the state of the chassis", strings.TrimSpace(out))
}

func (d *IPMI) chassis(ctx context.Context, what string) (string, error) {
	out, err := RunCommand(ctx, append(slices.Clone(d.argv), "chassis", "power", what))
	if err != nil {
		err = fmt.Errorf("%w%s", err, d.advice(ctx, err))
	}
	return out, err
}

// advice says what to check if no session could be opened, since the controller does not say
// why.
func (d *IPMI) advice(ctx context.Context, err error) string {
	silent := ctx.Err() != nil
	if !silent && !strings.Contains(err.Error(), "Unable to establish") {
		return ""
	}
	where := net.JoinHostPort(strings.Trim(d.argv[4], "[]"), d.argv[6])
	if silent {
		return "; does " + where + " answer IPMI over LAN?"
	}
	return "; does " + where + " answer IPMI over LAN, and are user, password_file and cipher_suite right?"
}
