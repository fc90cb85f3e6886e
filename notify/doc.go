// Package notify delivers notifications of vjobs by mail and by web hooks, at least once.
//
// An [Address] names a recipient and the events that it wants; [About] makes messages. A [Poster] reads the
// event log behind a cursor of its own, stores each message with its recipient, and attempts delivery for a day. After a
// crash it continues, and may repeat a message.
//
// Messages wait in queues, one for each owner and host (outbox.go, which is pure). Owners take turns, attempts and memory
// are bounded, and a circuit breaker closes a failing queue for a while, so that an unreachable host delays nothing else.
// Delivery never blocks the scheduler and runs no program of a user.
package notify
