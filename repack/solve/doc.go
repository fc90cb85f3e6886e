// Package solve finds the cheapest plan it can for a bin repacking scheduling
// problem, with a lower bound that tells how far it may be from the best.
//
// First it repairs: only what must move is free to move, and a plan is there in
// milliseconds. Then it improves until it is told to stop, widening the search by
// itself. The same instance, seed and number of iterations give the same plan.
//
// It is one package since all of it works on two things: a model (model.go), the instance
// prepared and never changed, and a state (state.go), a placement in the making with its
// sums. They have rooms of their own here, by files; read the first of each, the others
// when they are called.
//
// The search: [Solve] (solve.go) has searches side by side (party.go), each of which
// repairs a first placement (repair.go) and improves it (improve.go).
//
//   - what it knows: model.go, with the rules posted on it by board.go, and nodeset.go
//   - a placement: state.go; what nodes it would switch: power.go; what waits in it,
//     guessed a thousand times faster than by a schedule: lag.go, on links jam.go
//   - the first one: repair.go, and where that is too much for a node evict.go, insert.go,
//     fill.go where memory is nearly used up, anneal.go where nothing else helps, mend.go
//     where rules are broken
//   - better ones: improve.go takes a neighbourhood away and puts it back; dedicate.go
//     chooses nodes for rules that want some for themselves; initial.go begins with a given one
//
// Time: schedule.go carries a placement out and score.go judges that.
//
//   - what there is to do: task.go; who does it together: crew.go
//   - what may start: admission.go asks for room (room.go, shrink.go), links (traffic.go,
//     network.go), nodes that are switched (switch.go) and rules (eyes.go); ends.go says
//     what ends next
//   - circles are broken by detour.go
//   - the plan: order.go and its files (order_*.go) say what waits for what, write.go
//     writes it down
//
// Proofs: how good a plan can be, and that there is none.
//
//   - bound.go: nodes; bound_order.go: who waits for whom; bound_room.go: how many are on
//     their way at once; bound_link.go: links
//   - disproof.go: no placement; exhaust.go: nothing that small problems can come to;
//     explain.go says in words what was in the way
//
// A [Test] (trial.go) only asks whether one gang more finds places, for queues: it has no
// time and no cost. Its files are trial_*.go; trial_seat.go and trial_effort.go are its
// heart, and trial_start.go is how a search begins with what a trial has found.
package solve
