// Package script is the language in which administrators and users state
// placement rules (Bin Repacking Scheduling in Virtualized Datacenters, 2011,
// §3.2 and figure 2):
//
//	$T1 = VM[1..5];
//	$T2 = VM[6..15];
//	for $t in $T[1..2] {
//	    continuous spread($t);
//	}
//	soft(5) lonely($T1 + $T2);
//	ban($ALL_VMS, N101);
//
// [Parse] makes a [File] of a text, [Format] a text of a file. [Compile] resolves the
// names and runs the loops, which leaves a [Program]: a list of calls of the rules in
// the catalogue of package rule. [Check] reports all that is wrong with a script.
//
// Scripts are not trusted: work and memory stay within the limits of this package.
// docs/reference/rules.md has the language on one page.
package script
