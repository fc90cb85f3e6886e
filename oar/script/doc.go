// Package script finds the options that a script of OAR has in its #OAR lines, for
// oarsub -S:
//
//	#!/bin/sh
//	#OAR -l nodes=4/core=2,walltime=1:0:0
//	#OAR --project=climate
//
// [Scan] reads them, [Merge] puts them below the options of the command line. The
// same table of options serves both. It refuses to know what the options mean.
package script
