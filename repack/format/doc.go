// Package format reads and writes problems and plans as files: brsp-instance/1
// and brsp-plan/1, plain or compressed by gzip. docs/reference/plan-files.md shows them.
//
// People and other programs write these files, so every error has a place (line,
// column and path of the value), the fault, and what would be right. Files are read
// as a stream by a scanner of our own: encoding/json knows no places, takes keys in
// any case and lets the last of two equal keys win. Numbers are bounded so that no
// sum over an instance overflows.
package format
