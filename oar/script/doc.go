// Package script reads the options of OAR's commands: from command lines, from #OAR lines of
// scripts, and from parameter files.
//
//	#!/bin/sh
//	#OAR -l nodes=4/core=2,walltime=1:0:0
//	#OAR --project=climate
//
// [ParseLine] reads a command line, [Scan] the #OAR lines of a script, for oarsub -S, and [Merge]
// adds the options of the script to those of the command line. [ParseParameters] reads the
// parameters of an array job, for oarsub --array-param-file.
package script
