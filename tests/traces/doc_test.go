// Package traces_test replays real logs and compares the start of every job with
// what another simulator found, for every discipline. Two logs, cut short, are beside
// this file; whole ones are taken from the folder that VJOB_TRACES names, which
// holds expected.json, swf/NAME.swf.gz and starts/NAME.first5000.csv.gz.
//
//	make bench-replay VJOB_TRACES=DIR
//
// prints a table of all logs and disciplines with times and memory.
package traces_test
