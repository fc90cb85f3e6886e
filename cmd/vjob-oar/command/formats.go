package command

import "vjob/oar/getopt"

// formats are the options for output that programs read.
var formats = []getopt.Option{
	{Name: "json", Letter: "J", Meaning: "print JSON"},
	{Name: "yaml", Letter: "Y", Meaning: "print YAML"},
	{Name: "dumper", Letter: "D", Meaning: "print a value of Perl"},
	{Name: "xml", Letter: "X"},
}

func with(options ...getopt.Option) []getopt.Option { return append(options, formats...) }
