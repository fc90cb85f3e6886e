// Package submission says what vjob a job of OAR is: it reads the options of oarsub,
// follows the rules of admission, and turns resources, types, dates and names into
// VMs, placement rules and terms.
//
// It refuses to know how a vjob is stored and who asks over which way.
package submission
