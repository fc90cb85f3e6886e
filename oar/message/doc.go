// Package message is how the commands that speak OAR's language tell what is wrong
// with what was typed: the line that OAR prints and scripts look for, then the place
// with a caret, and the exit code of OAR's commands:
//
//	# Error: cannot recognize the resource description: nodes=two
//	-l:1:7: "two" is no count: want a number, ALL, BEST or BESTHALF
//	    1 | nodes=two
//	      |       ^^^
//
// It refuses to know what is typed.
package message
