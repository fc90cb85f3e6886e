package script

import "vjob/repack/rule"

// CompileWith is [Compile] with another catalogue, so that tests stay as they are
// when rules come.
func CompileWith(name, text string, names Names, kinds []rule.Kind) (*Program, error) {
	return compile(name, text, names, kinds)
}

// CompileFileWith is [File.Compile] with a catalogue.
func CompileFileWith(f *File, names Names, kinds []rule.Kind) (*Program, error) {
	return evaluate(f, names, kinds, newReport(f.src))
}
