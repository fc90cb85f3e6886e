// Package solve finds a plan for a bin repacking scheduling problem, with a lower bound
// that tells how far the plan may be from the best one.
//
// [Solve] first repairs: only what must move may move, which gives a plan in
// milliseconds. Then it improves the plan until the time is up. The same instance,
// seed and number of iterations give the same plan.
//
// A portfolio (portfolio.go) runs searches side by side. A search (improve.go) repairs a
// first placement and improves it by large neighbourhood search:
//
//   - repair.go and insert.go give VMs a first place; dedicate.go chooses nodes for rules
//     that want some of their own; rulerepair.go moves VMs away until no rule is broken;
//     anneal.go packs where no single VM fits anywhere; start.go and initial.go begin with
//     the placement of an admission test, or of the caller
//   - patterns.go places VMs of a few sizes by patterns of what nodes hold, from package pattern
//   - full.go places the VMs of clusters in which hardly any room is left, by package fill
//   - exactly.go has small problems solved exactly
//   - score.go compares schedules, explain.go says in words why there is no plan
//
// What a search works with is in packages of its own below repack/internal: the prepared
// problem, bounds and infeasibility proofs, the placement, and the schedule of its actions.
package solve
