// Package solve finds allocations for the problems of package energy: the proved optimum for
// small clusters; otherwise a good allocation in milliseconds, improved until the search is
// stopped.
//
// For a fixed yield and number of nodes, power is a sum over nodes, so moving a job changes
// only two terms. The search is simulated annealing over such moves; a node may be overloaded
// meanwhile, at a penalty. An outer search varies the yield and the number of nodes. Bounds
// with whole nodes tell which of these can still improve on the best allocation; the others
// are skipped.
//
// The bounds are LPBOUND of the paper (§3.3), in which jobs and nodes are divisible ([LPBound]), and the stronger bound in
// which nodes are whole and only jobs are divisible ([LBHBound]). No solver of linear programs is needed: if all is
// divisible, only sums count, the CPU that all jobs get and the sums of their rigid needs. So the program has one row for
// each resource, and its dual is maximised one price after another: for fixed prices of the rigid resources, nodes are
// taken in the order of the price of their CPU.
package solve
