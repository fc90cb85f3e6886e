// Package format reads and writes problems and plans as files: brsp-instance/1
// and brsp-plan/1, plain or compressed by gzip. docs/reference/plan-files.md shows them.
//
// People and other programs write these files, so every error has a place (line, column and path of the
// value), the fault, and the valid values. Files are read as a stream, token by token, with limits of their
// size; unknown and repeated keys are errors. Numbers are bounded so that no sum over an instance overflows.
package format
