// Package admission applies the rules of an administrator to jobs that users submit as in OAR: default
// values, limits, the choice of a queue, and refusals with a message.
//
//	# jobs of the group physics go to a queue of their own, for two days at most
//	- when: {groups: [physics], queues: [default]}
//	  set: {queue: physics}
//	- when: {queues: [physics], walltime_over: "48:0:0"}
//	  refuse: "no more than two days in {queue}, {user}"
//
// [Compile] checks the rules when they are loaded. [Policy.Admit] applies them in order; each rule sees
// the changes of those before it. [Default] has OAR's own rules. Rules know neither queues nor nodes:
// the caller checks that they exist.
package admission
