// Package scenarios_test runs scripted simulations: the real core, gangs, executor and
// planner over the simulated cluster, in virtual time. Each script testdata/NAME.txt describes
// one scenario. Its log is compared byte for byte with NAME.golden (go test ./tests/scenarios
// -update writes it), so that a review shows every change of behaviour. The checkers of
// tests/sim check every run.
//
// # Scripts
//
// A script is read line by line; "#" begins a comment. Its first line is
//
//	row N: title               row of the scenarios in docs/RELIABILITY.md, or
//	row -: title               a scenario without a row
//
// The cluster and the settings come first:
//
//	cluster NODE 2cpu 2GiB [pool=NAME]
//	pool NAME 4GiB             the size of a file system for images; "shared" is the
//	                           default pool of nodes
//	option NAME=VALUE …        policy=fcfs|firstfit, suspend=disk|auto|memory, locks=yes,
//	                           live=yes, down=10s (how long a killed scheduler is away),
//	                           losses=3, start=17:50 (by the clock)
//	setting YAML               a line of the daemon's settings on policies, the order of
//	                           vjobs, pools or node power
//	excuse I4 …                invariants that the script itself breaks by manual calls
//
// Then actions and expectations follow, each at the end of the previous one:
//
//	submit VJOB vms=2 [cpu=1] [mem=512MiB] [work=5m] [prio=N] [wall=10m]
//	       [spread=yes] [on=n1+n2] [hold=yes] [key=K] [owner=ann] [queue=Q]
//	       [project=P] [deadline=6h] [pool=P] [shares=high] [reservation=0.5] [limit=2]
//	       work is the length of each guest's only step, or STEP+STEP with STEP
//	       2m or 2m*0.5cpu
//	suspend|resume|hold|release|delete VJOB
//	pools set NAME [parent=P] [reservation=2] [limit=4] [shares=high]
//	pools delete NAME
//	pools move VJOB POOL
//	online|drain|off|down NODE
//	crash                      the scheduler is killed (kill -9)
//	crash before|after VERB [#N]    the same, at the N-th such call from here on
//	fail|lose commit of VJOB PHASE  the commit that takes the gang into the phase
//	                           fails, or is written and loses its reply
//	fault KIND NODE [for 40s]  a fault of the node: power-loss, freeze, …
//	fault KIND VM              guest-crashed, guest-panicked, image-rot
//	fault KIND next VERB [of VM] [on NODE]    an armed one: call-lost, call-silent,
//	                           call-fails, call-slow, save-full, migrate-cut, …
//	mend KIND NODE
//	manually VERB VM on NODE   an administrator's call: pause, unpause, destroy, or restore of
//	                           the image that the record names
//	refused ACTION             the action must be refused
//	run 2m                     time passes
//	at 10s: ACTION             time passes until 10 s after the beginning
//	until CONDITION            time passes until it holds, at most an hour
//	when CONDITION: ACTION     the same, then the action at once
//	expect CONDITION           it must hold now
//	within 5s: CONDITION       it must hold within this time
//
// Conditions:
//
//	VJOB is WORD               a state (running, suspended, …), held, or a phase
//	                           of the gang (pausing, saving, restoring, …)
//	VJOB runs on n1,n2         its running copies, in rank order
//	VJOB says "TEXT"           the reason shown to its owner contains the text
//	VJOB has N copies|images|losses
//	VM is running|paused|dead|gone|saving|restoring|outgoing
//	VM cap 0.5                 the most CPU that it may use; 0 is no limit
//	VM ran 90s                 the guest's own clock, at least
//	NODE is silent|heard|online|draining|offline|down
//	NODE holds N               copies on the node, in any state
//	calls VERB [of VJOB|VM] N  the number of calls
//	plan N is done|failed|dropped|running
//	event|alarm "TEXT"         an event or alarm contains the text
//	no event|alarm "TEXT"      no event or alarm contains the text
//	vjobs N                    the number of vjobs in the store
//
// A scenario continues for 20 s after the last line; then every gang in a stable phase must be
// whole (I7, I14), unless a node still has a fault. An error of a script names its line.
package scenarios_test
