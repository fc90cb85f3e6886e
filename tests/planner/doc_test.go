// Package planner_test measures the planner on files of the bin repacking bench and
// on problems that it makes itself, and compares it with what others found:
//
//	go test ./tests/planner -run Table -v -table
//
// looks at the instances below the folder that VJOB_BRSP names, or without one at
// the few beside this file; `make bench-planner` is the same.
package planner_test
