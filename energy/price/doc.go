// Package price is what energy costs over time, in money or in carbon: a series of steps
// that is read from CSV, what an energy costs in it, and the start within a slack at which
// something costs least.
//
// It is pure: the time is an argument. It refuses to know vjobs, and who pays.
package price
