// Package date reads the times that users of OAR write: walltimes, moments, and the
// start and end of a reservation. The present and the zone are arguments.
//
// A time that does not exist, such as February 30 or an hour that is skipped when
// the clocks go forward, is refused; one that comes twice means the first, with a
// warning.
package date
