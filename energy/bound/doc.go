// Package bound bounds the value of every allocation: LPBOUND of the paper (§3.3), in which
// jobs and nodes are divisible, and the stronger bound in which nodes are whole and only jobs
// are divisible.
//
// No solver of linear programs is needed. If all is divisible, only sums count: the CPU that
// all jobs get, and the sums of their rigid needs. So the program has one row for each
// resource, and its dual is maximised one price after another: for fixed prices of the rigid
// resources, nodes are taken in the order of the price of their CPU.
package bound
