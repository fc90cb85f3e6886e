package script_test

import (
	"testing"

	"vjob/repack/script"
)

func TestFormat(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"spaces", "$a=VM[1..5,7]  ;spread( $a );", "$a = VM[1..5,7];\nspread($a);\n"},
		{"loops", "for $t in $T[1..3]{spread($t);for $u in {}{}}", "for $t in $T[1..3] {\n    spread($t);\n    for $u in {} {\n    }\n}\n"},
		{"parentheses", "$a = ((b) + (c * d)) - (e - f) - ((g));", "$a = b + c & d - (e - f) - g;\n"},
		{"parentheses that matter", "$a = (b + c) & d / (e / 2);", "$a = (b + c) & d / (e / 2);\n"},
		{"quotes", `spread({"VM1", 'a b', "c.d", "e-f", '"', "5..6"});`, `spread({VM1, "a b", c.d, e-f, "\"", "5..6"});` + "\n"},
		{"modifiers", "soft( 5 )  continuous spread(VM1);", "continuous soft(5) spread(VM1);\n"},
		{"names of arguments", "capacity(nodes = $r , max=100);", "capacity(nodes=$r, max=100);\n"},
		{"parts", `spread("web-"[01..12]"-db");`, `spread(web-[01..12]"-db");` + "\n"},
		{"parts that are empty", `spread(""VM[1..2]"");`, "spread(VM[1..2]);\n"},
		{
			"comments",
			"\n\n// head\n\n\n# of a\n$a = b; # behind a\n\nspread( # within\n$a);\nfor $x in $a { // opens\n\n# last\n\n} # behind\n\n# end\n\n",
			"# head\n\n# of a\n$a = b; # behind a\n\n# within\nspread($a);\nfor $x in $a {\n    # opens\n\n    # last\n} # behind\n\n# end\n",
		},
		{"nothing", " \n\n", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, problems := script.Parse("test", c.text)
			if len(problems) > 0 {
				t.Fatal(problems)
			}
			got := script.Format(f)
			if got != c.want {
				t.Errorf("got:\n%s\nwant:\n%s", got, c.want)
			}
			f, _ = script.Parse("again", got)
			if again := script.Format(f); again != got {
				t.Errorf("formatted again:\n%s", again)
			}
		})
	}
}
