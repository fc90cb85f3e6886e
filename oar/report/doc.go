// Package report formats jobs, nodes and queues as OAR's commands do: tables for users, and formats
// for scripts.
package report
