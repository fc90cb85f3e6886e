// Package oar has the vocabulary that vjob shares with OAR: job states and types, dates and
// walltimes, the JSON of OAR's REST API, and the errors of OAR's commands.
//
// An [Error] begins with the line that OAR prints and scripts look for. Then it shows where the
// fault is, and it has the exit code of OAR's command:
//
//	# Error: cannot recognize the resource description: nodes=two
//	-l:1:7: "two" is no count: want a number, ALL, BEST or BESTHALF
//	    1 | nodes=two
//	      |       ^^^
//
// Dates have the form [YYYY-MM-DD ]hh:mm[:ss] in a time zone, walltimes h[:m[:s]]. Both follow
// OAR, with its quirks; readings that a user may not expect come with a warning.
package oar
