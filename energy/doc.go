// Package energy models the power of nodes and the CPU share of jobs, and states the three
// problems of "Energy-Aware Service Allocation" (Borgetto, Casanova, Da Costa, Pierson), in
// short "the paper": the most yield under a power budget, the least power at a guaranteed
// yield, or a weighted trade of the two.
//
// A job here is one VM of vjob. Its memory and other rigid needs must be met; its CPU share
// may be less than it needs, and the yield is that fraction.
//
// This package checks allocations; the packages below it search for them and bound them.
package energy
