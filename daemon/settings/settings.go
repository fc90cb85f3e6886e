// Package settings reads and validates the settings of the daemon: one YAML file over
// embedded defaults. The file is optional. Each error names the file, line, key and value,
// and what is valid.
package settings

import (
	_ "embed"
	"fmt"
	"os"

	"vjob/cluster"
	"vjob/internal/document"
	"vjob/queue/pool"
)

// Reference is the file of default settings, with a comment on every key.
//
//go:embed default.yaml
var Reference string

// Settings are the settings of the daemon.
type Settings struct {
	State    string   `json:"state"`
	Listen   Listen   `json:"listen"`
	Accounts Accounts `json:"accounts"`
	Log      Log      `json:"log"`
	Policy   Policy   `json:"policy"`
	Order
	Pools     []pool.PoolStatement `json:"pools"`
	Reserving Reserving            `json:"reservations"`
	Timing    Timing               `json:"timing"`
	Driver    string               `json:"driver"` // simulated, libvirt
	Simulated Simulated            `json:"simulated"`
	Libvirt   Libvirt              `json:"libvirt"`
	Nodes     []Node               `json:"nodes"`
	Network   Network              `json:"network"`
	Durations Durations            `json:"durations"`
	Energy    Energy               `json:"energy"`
	Rules     document.Passage     `json:"rules"` // a script, or a list
	Images    []Image              `json:"images"`
	Limits    Limits               `json:"limits"`
	Rights    Rights               `json:"rights"`
	Retention Retention            `json:"retention"`
	Switching Switching            `json:"power"`
	Balance   Balance              `json:"balance"`
	Approval  Automation           `json:"automation"`
	OAR       OAR                  `json:"oar"`
	Notify    Notify               `json:"notify"`
	Output    Output               `json:"output"`
}

// Listen are the socket and address of the API.
type Listen struct {
	Socket      string `json:"socket"`
	Address     string `json:"address"`
	Certificate string `json:"certificate"`
	Key         string `json:"key"`
	Group       string `json:"group"`
	Mode        string `json:"mode"`  // octal
	Users       string `json:"users"` // any, listed
}

// Log is the format and level of the log.
type Log struct {
	Format string `json:"format"` // text, json
	Level  string `json:"level"`  // debug, info, warn, error
}

// Reserving are the settings of advance reservations.
type Reserving struct {
	Horizon Duration `json:"horizon"`
	Margin  Duration `json:"margin"`
}

// Timing are the intervals of the loop.
type Timing struct {
	Tick    Duration `json:"tick"`
	Rest    Duration `json:"rest"`
	Backoff Duration `json:"backoff"`
	Plan    Duration `json:"plan"`
	Entitle Duration `json:"entitle"` // the longest time between two divisions among pools
}

// Libvirt are the settings of the libvirt driver; the hosts are in Settings.Nodes.
type Libvirt struct {
	Cluster          string `json:"cluster"`
	ImageDir         string `json:"image_dir"`
	ConsoleDir       string `json:"console_dir"`
	SeedDir          string `json:"seed_dir"`
	DomainType       string `json:"domain_type"`
	MachineType      string `json:"machine_type"`
	CPUModel         string `json:"cpu_model"`
	Emulator         string `json:"emulator"`
	TranslationCache Size   `json:"translation_cache"`
	Bridge           string `json:"bridge"`
	NetworkFilter    string `json:"network_filter"`
	PortIsolation    string `json:"port_isolation"` // auto, on, off
	Lease            Lease  `json:"lease"`
	UnsafeMigration  bool   `json:"unsafe_migration"`
	MigrationTLS     string `json:"migration_tls"` // auto, on, off
	MigrationMiBps   int    `json:"migration_mibps"`
	SaveMiBps        int    `json:"save_mibps"`
	RestoreMiBps     int    `json:"restore_mibps"`
}

// Lease is the lease of virtlockd that VMs hold; empty: VMs hold no lease.
type Lease struct {
	Lockspace string `json:"lockspace"`
	Path      string `json:"path"`
}

// Node is one node, or a range of equal nodes.
type Node struct {
	Name       string            `json:"name"` // n1, or n[1-8]
	CPU        CPU               `json:"cpu"`
	Memory     Size              `json:"memory"`
	Labels     map[string]string `json:"labels"`
	NIC        Rate              `json:"nic"`
	PowerModel string            `json:"power_model"` // of energy.models; "": by its label, or the one of all nodes
	URI        string            `json:"uri"`
	PeerURI    string            `json:"peer_uri"`
	MigrateURI string            `json:"migrate_uri"`
}

// Image is one image of the catalogue.
type Image struct {
	ID          string `json:"id"`
	Kind        string `json:"kind"` // simulated, kernel, disk
	Description string `json:"description"`
	Default     bool   `json:"default"`
	Kernel      string `json:"kernel"`
	Initrd      string `json:"initrd"`
	Arguments   string `json:"arguments"`
	Disk        string `json:"disk"`
	Format      string `json:"format"`
	// Users and Groups may boot it; both empty: all users.
	Users  []string `json:"users"`
	Groups []string `json:"groups"`
}

// Limits limit requests to the daemon, and actions on nodes.
type Limits struct {
	VMsPerVJob         int      `json:"vms_per_vjob"`
	VJobsPerArray      int      `json:"vjobs_per_array"`
	VMsPerSubmission   int      `json:"vms_per_submission"`
	VJobsPerUser       int      `json:"vjobs_per_user"` // that have not ended; 0 is no limit
	VMsPerUser         int      `json:"vms_per_user"`   // of those; 0 is no limit
	SubmissionSize     Size     `json:"submission_size"`
	TransfersPerNode   int      `json:"transfers_per_node"`
	RequestsPerSecond  float64  `json:"requests_per_second"`
	Requests           int      `json:"requests"`
	RequestsPerCaller  int      `json:"requests_per_caller"`
	Streams            int      `json:"streams"`
	StreamsPerCaller   int      `json:"streams_per_caller"`
	Forecasts          int      `json:"forecasts"`
	ForecastsPerCaller int      `json:"forecasts_per_caller"`
	Connections        int      `json:"connections"`
	ConnectionsPerPeer int      `json:"connections_per_peer"`
	MaxSkew            Duration `json:"max_skew"`
	Tries              int      `json:"tries"`
	Requeues           int      `json:"requeues"`
	Attempts           int      `json:"attempts"`
	StopGrace          Duration `json:"stop_grace"`
	ImageMargin        Size     `json:"image_margin"`
	StoreLag           Duration `json:"store_lag"`
	Slack              float64  `json:"slack"`
}

// Rights lists the users, by name or each, with rights at the expense of others. Administrators
// have all rights.
type Rights struct {
	RaisePriority []string `json:"raise_priority"`
	WholeNodes    []string `json:"whole_nodes"`
}

// Retention is how long history and unused files are kept.
type Retention struct {
	Consoles Duration `json:"consoles"`
	// Lost is how long images of lost vjobs are kept; 0 is for ever.
	Lost   Duration `json:"lost_images"`
	Events Age      `json:"events"`
	Plans  Age      `json:"plans"`
	VJobs  Age      `json:"vjobs"`
	Audit  Age      `json:"audit"`
}

// Default returns the default settings with the paths of the current user.
func Default(getenv func(string) string) (Settings, error) {
	return parse("default.yaml", nil, getenv)
}

// Read reads a settings file over the defaults. With path "" it returns the defaults.
func Read(path string, getenv func(string) string) (Settings, error) {
	if path == "" {
		return Default(getenv)
	}
	data, err := document.Read(path)
	if err != nil {
		return Settings{}, err
	}
	return parse(path, data, getenv)
}

// parse decodes the defaults, then the file over them, and checks the result.
func parse(name string, data []byte, getenv func(string) string) (Settings, error) {
	var s Settings
	if _, err := document.Decode("default.yaml", []byte(Reference), &s); err != nil {
		return Settings{}, fmt.Errorf("embedded settings: %w", err)
	}
	doc, err := document.Decode(name, data, &s)
	if err != nil {
		return Settings{}, err
	}
	s.fillPaths(getenv, os.Getuid() == 0)
	if err := s.Validate(); err != nil {
		return Settings{}, doc.Locate(err)
	}
	return s, nil
}

// ClusterNodes lists the nodes, with ranges expanded, in the order of the file.
func (s *Settings) ClusterNodes() []cluster.Node {
	var list []cluster.Node
	for _, n := range s.Nodes {
		for _, name := range ExpandRange(n.Name) {
			list = append(list, cluster.Node{
				ID:       cluster.NodeID(name),
				Capacity: cluster.Resources{CPU: n.CPU.MilliCPU, Memory: n.Memory.MiB},
				Labels:   n.Labels,
			})
		}
	}
	return list
}

// DefaultImage returns the id of the default image, or "".
func (s *Settings) DefaultImage() string {
	for _, i := range s.Images {
		if i.Default {
			return i.ID
		}
	}
	return ""
}
