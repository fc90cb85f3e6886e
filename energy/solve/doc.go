// Package solve finds allocations for the problems of package energy: the proved optimum for
// small clusters; otherwise a good allocation in milliseconds, improved until the search is
// stopped.
//
// For a fixed yield and number of nodes, power is a sum over nodes, so moving a job changes
// only two terms. The search is simulated annealing over such moves; a node may be overloaded
// meanwhile, at a penalty. An outer search varies the yield and the number of nodes. Bounds
// with whole nodes tell which of these can still improve on the best allocation; the others
// are skipped.
package solve
