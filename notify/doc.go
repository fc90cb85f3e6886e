// Package notify defines the notifications of a vjob: their addresses, the events that they
// report and under which tag, their texts, and the pauses between delivery attempts. Package
// delivery sends them.
package notify
