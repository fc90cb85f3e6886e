// Package report is what the commands of OAR print about jobs, nodes and queues: the
// tables that people read and the formats that scripts parse.
//
// It refuses to know where the jobs come from, and what they are beside OAR's jobs.
package report
