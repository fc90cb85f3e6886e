// Package energy says what it takes to run jobs on nodes: the power that nodes draw, the
// share of a processor that each job gets, and the three problems of "Energy-Aware
// Service Allocation" (Borgetto, Casanova, Da Costa, Pierson), in short "the paper": the
// most yield under a power budget, the least power at a guaranteed yield, or a trade of
// one for the other.
//
// A job is one VM to the rest of vjob. Its memory and other rigid needs are met or it
// does not run; its CPU share may be less than it needs, and the yield says by how much.
//
// It judges allocations and refuses to know how they are found: the packages below it
// search, bound, read and write.
package energy
