// Package notify says who is told what of a vjob: which event is worth telling under
// which tag, what the message says, and when a message that could not be delivered is
// tried again.
//
// It refuses to know how messages travel.
package notify
