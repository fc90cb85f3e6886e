// Package property parses and evaluates conditions on the properties of nodes, after -p and between {
// and } of a request. They are a subset of SQL:
//
//	cluster = 'azur' AND (mem >= 64 OR NOT gpu IS NULL)
//	host LIKE 'n%' AND switch IN ('sw1', 'sw2') AND mem BETWEEN 32 AND 128
//
// [Parse] parses a condition, [Expr.Matches] evaluates it for a node. Conditions never reach a
// database. As in SQL, a comparison with a missing property is neither true nor false.
package property
