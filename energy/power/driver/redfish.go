package driver

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path"
	"slices"
	"strings"

	"vjob/cluster"
	"vjob/energy/power"
)

// RedfishSettings are the settings of a [Redfish] driver.
type RedfishSettings struct {
	URL  string // of the service, without /redfish/v1, such as https://bmc-n1
	User string
	// PasswordFile has the password on its only line.
	PasswordFile string
	// System is the path of the computer system; "" is the only one that there is.
	System string
	// Session logs in and out for every request, as some controllers demand; else each
	// one carries the password.
	Session bool
	// Cut takes the power away; else the node is asked to shut down.
	Cut bool
	// CA is a PEM file with the authority of the controller's certificate; "" are
	// those of the system. Insecure believes any certificate.
	CA       string
	Insecure bool
}

// Redfish switches a node through the Redfish service of its management controller (DMTF DSP0266), with basic
// authentication or a session.
type Redfish struct {
	settings RedfishSettings
	base     *url.URL
	client   *http.Client
}

var _ power.Driver = (*Redfish)(nil)

// NewRedfish checks the settings. The error names the field.
func NewRedfish(s RedfishSettings) (*Redfish, error) {
	base, err := s.base()
	if err != nil {
		return nil, err
	}
	switch {
	case s.User == "":
		return nil, cluster.BadField("user", s.User, "the name of a user of the controller")
	case s.System != "" && (path.Clean(s.System) != s.System || !strings.HasPrefix(s.System, "/redfish/v1/")):
		return nil, cluster.BadField("system", s.System, `a path such as "/redfish/v1/Systems/1"`)
	}
	if err := checkPasswordFile(s.PasswordFile); err != nil {
		return nil, cluster.BadField("password_file", s.PasswordFile, "a file with the password: "+err.Error())
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: s.Insecure}
	if s.CA != "" {
		pem, err := os.ReadFile(s.CA)
		pool := x509.NewCertPool()
		if err != nil || !pool.AppendCertsFromPEM(pem) {
			return nil, cluster.BadField("ca", s.CA, "a PEM file with certificates")
		}
		config.RootCAs = pool
	}
	return &Redfish{settings: s, base: base, client: &http.Client{
		Transport: &http.Transport{TLSClientConfig: config, DisableKeepAlives: true, MaxResponseHeaderBytes: 64 << 10},
		// A redirect could carry the password elsewhere.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

// base is the address of the service. The error never shows a password.
func (s *RedfishSettings) base() (*url.URL, error) {
	base, err := url.Parse(s.URL)
	switch {
	case err == nil && base.User != nil:
		return nil, cluster.Fault("url", "%q has a user or a password, which are settings of their own", base.Redacted())
	case err != nil || base.Host == "" || base.RawQuery != "" || base.Scheme != "https" && base.Scheme != "http":
		return nil, cluster.BadField("url", s.URL, `the address of the service, such as "https://bmc-n1"`)
	case base.Scheme == "http" && !loopback(base.Hostname()):
		return nil, cluster.BadField("url", s.URL, "https: the password would go over the network as it is")
	case base.Path != "" && base.Path != "/":
		return nil, cluster.Fault("url", "%q has a path; the setting system says which system is meant", s.URL)
	}
	return base, nil
}

func loopback(host string) bool {
	return host == "localhost" || host == "::1" || strings.HasPrefix(host, "127.")
}

// On starts the node.
func (d *Redfish) On(ctx context.Context) error { return d.reset(ctx, power.On, "On", "ForceOn") }

// Off asks the node to shut down, or takes its power away.
func (d *Redfish) Off(ctx context.Context) error {
	if d.settings.Cut {
		return d.reset(ctx, power.Off, "ForceOff")
	}
	return d.reset(ctx, power.Off, "GracefulShutdown", "ForceOff")
}

// State asks for the power state of the system.
func (d *Redfish) State(ctx context.Context) (s power.State, err error) {
	err = d.converse(ctx, func(t *conversation) error {
		system, err := t.system()
		s = system.state()
		return err
	})
	return s, err
}

// reset asks for the first of the types that the system knows, unless it is in the
// state that is wanted: services may refuse what changes nothing.
func (d *Redfish) reset(ctx context.Context, goal power.State, types ...string) error {
	return d.converse(ctx, func(t *conversation) error {
		system, err := t.system()
		if err != nil {
			return err
		}
		action := system.Actions.Reset
		if action.Target == "" {
			return fmt.Errorf("%s has no action to switch it: %w", t.at, power.ErrRefused)
		}
		kind := types[0] // of a service that does not say which ones it knows
		if known := action.Types; len(known) > 0 {
			i := slices.IndexFunc(types, func(kind string) bool { return slices.Contains(known, kind) })
			if i < 0 {
				return fmt.Errorf("%s can be reset by %s only, and not by %s: %w",
					t.at, strings.Join(known, ", "), strings.Join(types, " or "), power.ErrRefused)
			}
			kind = types[i]
		}
		if system.state() == goal && system.PowerState != "PoweringOff" {
			return nil
		}
		return t.do(http.MethodPost, action.Target, map[string]string{"ResetType": kind}, nil)
	})
}

// system is what is read of a ComputerSystem.
type system struct {
	PowerState string
	Actions    struct {
		Reset struct {
			Target string   `json:"target"`
			Types  []string `json:"ResetType@Redfish.AllowableValues"`
		} `json:"#ComputerSystem.Reset"`
	}
}

// state counts a system that is on its way off as on: it may run until it is there.
func (s *system) state() power.State {
	switch s.PowerState {
	case "On", "PoweringOn", "PoweringOff", "Paused":
		return power.On
	case "Off":
		return power.Off
	default:
		return power.Unknown
	}
}
