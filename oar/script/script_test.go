package script_test

import (
	"slices"
	"strings"
	"testing"

	"vjob/oar"
	"vjob/oar/script"
)

const head = "#!/bin/sh\n"

func scanner(t *testing.T, text string) (script.Options, []oar.Warning) {
	t.Helper()
	o, w, err := script.Scan("job.sh", text)
	if err != nil {
		t.Fatal(err)
	}
	return o, w
}

func TestForms(t *testing.T) {
	for line, want := range map[string]script.Option{
		"#OAR -l nodes=1,walltime=2":             {"resource", "nodes=1,walltime=2", 2},
		"#OAR -lnodes=1":                         {"resource", "nodes=1", 2},
		"#OAR --resource nodes=1":                {"resource", "nodes=1", 2},
		"#OAR --resource=nodes=1":                {"resource", "nodes=1", 2},
		"#OAR \t--resource \t nodes=1  ":         {"resource", "nodes=1", 2},
		"#OAR -p cluster = 'gdx'":                {"property", "cluster = 'gdx'", 2},
		"#OAR -p 'a' = 'b'":                      {"property", "'a' = 'b'", 2},
		"#OAR -p \"cluster = 'gdx'\"":            {"property", "cluster = 'gdx'", 2},
		"#OAR -n 'my job'":                       {"name", "my job", 2},
		"#OAR --hold":                            {"hold", "", 2},
		"#OAR -k":                                {"use-job-key", "", 2},
		"#OAR -a 12":                             {"anterior", "12", 2},
		"#OAR --array 10":                        {"array", "10", 2},
		"#OAR --array-param-file p.txt":          {"array-param-file", "p.txt", 2},
		"#OAR --stagein-md5sum f":                {"stagein-md5sum", "f", 2}, // OAR reads --stagein "-md5sum f"
		"#OAR -t timesharing=user,*":             {"type", "timesharing=user,*", 2},
		"#OAR --notify [END,ERROR]mail:a@b.c":    {"notify", "[END,ERROR]mail:a@b.c", 2},
		"#OAR -O out.%jobid%\r":                  {"stdout", "out.%jobid%", 2},
		"#OAR --import-job-key-inline-priv  key": {"import-job-key-inline-priv", "key", 2},
	} {
		o, w := scanner(t, head+line+"\necho\n")
		if len(w) > 0 || !slices.Equal(o, script.Options{want}) {
			t.Errorf("%q: %v %v, want %v", line, o, w, want)
		}
	}
}

func TestLinesThatAreNoOptions(t *testing.T) {
	o, w := scanner(t, head+"#OARSUB -l nodes=1\n# OAR -l nodes=1\n  #OAR -l nodes=1\n#OAR\n#OAR \n#oar -l nodes=1\n")
	if len(o) > 0 || len(w) > 0 {
		t.Errorf("%v %v", o, w)
	}
}

// OAR is silent about lines that are ignored, such as the first.
func TestWhatDoesNotCountIsTold(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"echo\n#OAR -n a\n#OAR -n b\n", "job.sh:2:6: warning: no option of this script counts, because its first line does not begin with #\n    2 | #OAR -n a\n      |      ^^^^"},
		{"\n#OAR -n a\n", "job.sh:2:6: warning: no option of this script counts"},
		{"#OAR -n a\n", "job.sh:1:6: warning: the first line is not looked at: this option does not count"},
	} {
		o, w := scanner(t, c.text)
		if len(o) > 0 || len(w) != 1 || !strings.HasPrefix(w[0].String(), c.want) {
			t.Errorf("%q: %v %v", c.text, o, w)
		}
	}
	o, w := scanner(t, "#OAR -n first\n#OAR -n second\n#OAR -q a\n#OAR -q b\n#OAR -t x\n#OAR -t y\n")
	name, _ := o.Value("name")
	queue, _ := o.Value("queue")
	if name != "second" || queue != "b" || len(w) != 2 || !strings.Contains(w[1].Text, "--queue stands on line 3 too; this one counts") {
		t.Errorf("%v %v", o, w)
	}
}

func TestErrors(t *testing.T) {
	_, _, err := script.Scan("./bad.sh", head+"#OAR --bogus 12\n#OAR -I\n#OAR -l nodes=1\n")
	const want = `/!\ Not able to scan file line: #OAR --bogus 12.
./bad.sh:2:6: --bogus is no option for a script
    2 | #OAR --bogus 12
      |      ^^^^^^^^^^
/!\ Not able to scan file line: #OAR -I.
./bad.sh:3:6: -I is no option for a script
    3 | #OAR -I
      |      ^^
[ERROR] 2 error(s) encountered while parsing the file ./bad.sh.`
	if code, _ := oar.ExitOf(err); code != oar.ExitScript || err.Error() != want {
		t.Errorf("exit %d\n%v", code, err)
	}
	for line, want := range map[string]string{
		"#OAR --resourc nodes=1":               "--resourc is no option for a script; did you mean --resource?",
		"#OAR --hold now":                      "--hold takes no value",
		"#OAR --hold=":                         "--hold takes no value",
		"#OAR -l":                              "--resource takes a value",
		"#OAR --name=":                         "--name takes a value",
		"#OAR -a twelve":                       `--anterior takes a number, and this is "twelve"`,
		"#OAR --array -2":                      "--array takes a number",
		"#OAR --array 99999999999999999999":    "--array takes a number",
		"#OAR nodes=1":                         "want an option such as -l nodes=2",
		"#OAR -":                               "want an option",
		"#OAR -é":                              "-é is no option",
		"#OAR -\xff":                           "is no option",
		"#OAR --" + strings.Repeat("x", 1<<18): "is no option",
	} {
		_, _, err := script.Scan("job.sh", head+line)
		if err == nil || !strings.Contains(err.Error(), want) || len(err.Error()) > 1500 {
			t.Errorf("%.40q: %v, want %s", line, err, want)
		}
	}
}

func TestLimits(t *testing.T) {
	for want, text := range map[string]string{
		"job.sh: the script has 1048577 bytes; 1048576 are allowed": strings.Repeat("x", 1<<20+1),
		"job.sh: the script has a byte 0: want a text":              head + "\x00ELF",
		"there are more than 1000 options":                          head + strings.Repeat("#OAR -t a\n", 1001),
		"[ERROR] 50000 error(s) encountered":                        head + strings.Repeat("#OAR --bogus\n", 50000),
	} {
		_, _, err := script.Scan("job.sh", text)
		if code, _ := oar.ExitOf(err); code != oar.ExitScript || !strings.Contains(err.Error(), want) || len(err.Error()) > 20000 {
			t.Errorf("%.300v, want %s", err, want)
		}
	}
}

func TestMerge(t *testing.T) {
	command := script.Options{{"resource", "nodes=1", 0}, {"name", "cmdline", 0}, {"hold", "", 0}}
	inScript := script.Options{
		{"resource", "nodes=2", 2}, {"name", "demo", 3}, {"type", "besteffort", 4}, {"queue", "q", 5}, {"hold", "", 6}, {"property", "a=1", 7}, {"property", "b=2", 8},
	}
	all, ignored := script.Merge(command, inScript)
	want := script.Options{
		{"resource", "nodes=1", 0},
		{"name", "cmdline", 0},
		{"hold", "", 0},
		{"resource", "nodes=2", 2},
		{"type", "besteffort", 4},
		{"queue", "q", 5},
		{"property", "a=1", 7},
		{"property", "b=2", 8},
	}
	if !slices.Equal(all, want) {
		t.Errorf("%v", all)
	}
	if len(ignored) != 1 || ignored[0] != "# Warning: ignore script value for name parameter: demo; another value was given on the command line." {
		t.Errorf("%q", ignored)
	}
	if got := all.Values("resource"); !slices.Equal(got, []string{"nodes=1", "nodes=2"}) {
		t.Error(got)
	}
	if len(command) != 3 {
		t.Error("the command line has changed")
	}
}

func FuzzScan(f *testing.F) {
	f.Add("#!/bin/sh\n#OAR -l nodes=1\n#OAR --name='x y'\n#OAR -k\n#OAR --bogus\n")
	f.Add("#OAR -n a\r\n\xff\n#OAR -")
	f.Fuzz(func(t *testing.T, text string) {
		o, w, err := script.Scan("fuzz", text)
		if err != nil {
			if code, ok := oar.ExitOf(err); !ok || code != oar.ExitScript {
				t.Errorf("%q: %v", text, err)
			}
			return
		}
		lines := strings.Count(text, "\n") + 1
		for _, x := range o {
			if x.Name == "" || x.Line < 2 || x.Line > lines {
				t.Errorf("%q: %+v", text, x)
			}
		}
		for _, x := range w {
			if x.Position.Line < 1 || x.Position.Line > lines {
				t.Errorf("%q: %+v", text, x)
			}
		}
	})
}
