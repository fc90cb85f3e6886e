// Package format reads and writes easched/1 files: instances of the problems of package
// energy, and allocations. Files may be compressed by gzip.
//
// It is strict: unknown keys and invalid values are errors, which name the place, the value
// and what is valid.
package format
