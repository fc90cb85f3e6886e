package doctor

import (
	"io/fs"
	"time"

	"vjob/cluster"
)

// Facts are what the checks judge. Errors are texts, "" without one.
type Facts struct {
	Now       time.Time
	Store     Store
	Settings  Settings
	Disks     []Disk
	Nodes     []Node
	Files     []File
	Backup    time.Time // the last one; zero: none in the audit list
	Since     time.Time // the first event in the database; zero: none
	Cert      *Certificate
	Mail      *Mail
	LastEvent time.Time // the latest in the database; zero: none
	Alarms    []Alarm   // of the last day
}

// Store is the database.
type Store struct {
	Path  string
	Fault string // of the integrity check
	// Unchecked is after how long the integrity check was given up; 0: it ended.
	Unchecked time.Duration
	Broken    string // why the scheduler cannot read or write it
	Bytes     int64
	WAL       int64 // bytes of the write-ahead log
}

// Settings are the settings in effect, against those in the file.
type Settings struct {
	File    string // "": the embedded defaults
	Fault   string // of the file
	Pending int    // changes that a reload would apply
	Restart int    // changes that need a restart
}

// Disk is a directory in which something grows.
type Disk struct {
	Name        string // database, images, consoles …
	Path        string
	Free, Total uint64 // bytes
	Error       string
}

// Node is a node of the cluster.
type Node struct {
	ID           cluster.NodeID
	State        cluster.NodeState
	Silent       bool
	Problem      string
	Warnings     []string
	Capacity     cluster.Resources
	Used, Demand cluster.Resources
	Processor    string // the CPU model; "" if unknown
	Software     string // versions of the hypervisor; "" if unknown
}

// File is a file that must be readable by few.
type File struct {
	Name   string // of the setting, or what it is
	Path   string
	Mode   fs.FileMode
	Secret bool // it holds a password or a key
	Error  string
}

// Certificate is that of the API.
type Certificate struct {
	Path  string
	Until time.Time
	Error string
}

// Mail is the mail server.
type Mail struct {
	Server string
	Error  string // of a connection to it
}

// Alarm is an alarm for administrators.
type Alarm struct {
	At   time.Time
	Text string
}
