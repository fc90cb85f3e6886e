// Package repacking reproduces the tables of Fabien Hermenier, Sophie Demassey and Xavier Lorca,
// "Bin Repacking Scheduling in Virtualized Datacenters" (CP 2011).
//
// [Sample] draws the problems of section 5. The planner of package repack/solve is the successor
// of the paper's constraint program.
package repacking
