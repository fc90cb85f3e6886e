// Package price gives the cost of energy over time, in money or carbon: a series of steps read
// from CSV, the cost of an amount of energy, and the start within a slack at which a load
// costs least.
//
// It is pure: the time is an argument.
package price
