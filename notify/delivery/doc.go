// Package delivery delivers notifications: it reads the log of events behind a cursor of
// its own, writes down whom it owes which message, and then sends mails and calls web
// addresses until each was taken, or for a day. After a crash it goes on where it
// stood, so that a message comes once at least, and twice at times.
//
// What waits stands in queues, one for each owner and host (outbox.go, which is pure). Owners
// take turns, attempts and memory are bounded, and a queue that only fails is closed for a
// while: a host that does not answer delays nothing else.
//
// It stands beside the loop and never in its way, and runs no program of a user. It
// refuses to know who is told what.
package delivery
