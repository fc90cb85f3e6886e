// Package format reads and writes problems and plans as files: brsp-instance/1
// and brsp-plan/1, plain or compressed by gzip. docs/user-guide.md shows them.
//
// Files are written by people and by other programs, so whatever is wrong with one
// is told with its place: line and column, the path of the value, what it is and
// what would be right. A file is read as a stream by a scanner of our own:
// encoding/json knows no places, takes keys in any case and lets the last of two
// equal keys win. Numbers are bounded so that no sum over an instance overflows.
//
// The package refuses to know how plans are made, and what their figures are.
package format
