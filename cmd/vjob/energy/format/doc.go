// Package format reads and writes easched/1 files: instances of the problems of package
// energy, and allocations. Files may be compressed by gzip.
//
// It is strict: what it does not know, or cannot be meant, is an error that names the
// place, the value and what would be right. It refuses to know how allocations are found.
package format
