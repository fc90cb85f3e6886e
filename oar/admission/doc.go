// Package admission is the rules by which an administrator decides about jobs that
// users submit as in OAR: defaults, limits, the way to a queue, and refusals with a
// message. They are data:
//
//	# jobs of the group physics go to a queue of their own, for two days at most
//	- when: {groups: [physics], queues: [default]}
//	  set: {queue: physics}
//	- when: {queues: [physics], walltime_over: "48:0:0"}
//	  refuse: "no more than two days in {queue}, {user}"
//
// [Compile] checks them when they are loaded; [Policy.Admit] follows them in their
// order, each on what those before it have set. [Default] is what OAR has by itself.
//
// It refuses to know which queues and nodes there are.
package admission
