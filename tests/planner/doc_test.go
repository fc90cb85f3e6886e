// Package planner_test measures the planner on files of a bin repacking benchmark and on
// generated problems, and compares it with other planners:
//
//	go test ./tests/planner -run Table -v -table
//
// VJOB_BRSP is the folder of the instance files; by default the few in testdata are used.
// `make bench-planner` is the same.
package planner_test
