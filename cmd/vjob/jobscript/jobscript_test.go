package jobscript_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"vjob/cmd/vjob/jobscript"
)

// flags are some of vjob submit.
type flags struct{}

func (flags) Lookup(word string) (string, bool, bool) {
	switch word {
	case "--vms", "--name", "--walltime", "--env", "--cpu":
		return word[2:], true, true
	case "-q", "--queue":
		return "queue", true, true
	case "--hold", "--spread":
		return word[2:], false, true
	}
	return "", false, false
}

func read(t *testing.T, head string) (jobscript.Script, []string) {
	t.Helper()
	s, err := jobscript.Read("run.sh", "#!/bin/sh\n"+head+"\necho hello\n#VJOB --nothing\n", flags{})
	if err != nil {
		t.Fatal(err)
	}
	list := make([]string, len(s.Directives))
	for i, d := range s.Directives {
		list[i] = fmt.Sprintf("%d %s=%s", d.Line, d.Flag, d.Value)
	}
	return s, list
}

func TestNative(t *testing.T) {
	s, got := read(t, "# a comment\n\n#VJOB --vms 4 --name=sim -q night # four\n  #VJOB\t--hold --env 'MODE=fast now'\n#VJOBS --vms 9\n#VJOB")
	want := []string{"4 vms=4", "4 name=sim", "4 queue=night", "5 hold=true", "5 env=MODE=fast now"}
	if !slices.Equal(got, want) || s.First || len(s.Warnings) > 0 {
		t.Errorf("%q, want %q; %+v", got, want, s)
	}
}

// What #VJOB lines say of the size holds over that of a job of Slurm.
func TestNativeSizeHolds(t *testing.T) {
	for head, want := range map[string][]string{
		"#VJOB --vms 2\n#SBATCH --nodes=4 -c 3": {"2 vms=2", "1 cpu=3"},
		"#SBATCH --time=10:00\n#VJOB --vms=2":   {"2 walltime=0:10:00", "3 vms=2", "1 cpu=1"},
	} {
		if _, got := read(t, head); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", head, got, want)
		}
	}
}

func TestSlurm(t *testing.T) {
	s, got := read(t, strings.Join([]string{
		"#SBATCH -J sim --nodes=4 --ntasks-per-node 8", "#SBATCH -c2 --mem=16G -t 2-12:30", "#SBATCH --array=1-16%4 -p night --account=climate",
		"#SBATCH --dependency=afterok:7:8,afterany:9,aftercorr:12", "#SBATCH --begin=now+2hours --export=NONE,A=1,B=2", "#SBATCH --hold --mail-user=ann@example.org --mail-type=END",
		"#SBATCH -o out.%j --gres=gpu:1",
	}, "\n"))
	want := []string{
		"2 name=sim", "3 walltime=60:30:00", "4 array=16%4", "4 queue=night", "4 project=climate", "5 after=ok:7", "5 after=ok:8", "5 after=any:9", "5 after=ok:12[i]",
		"6 not-before=+7200s", "6 env=A=1", "6 env=B=2", "7 hold=true", "7 notify=mail:ann@example.org", "8 output=out.%j", "1 vms=4", "1 cpu=16", "1 mem=16384MiB",
	}
	if !slices.Equal(got, want) || !s.First {
		t.Errorf("%q\nwant\n%q; %+v", got, want, s.First)
	}
	if warnings := []string{"run.sh:8: --gres: not supported, ignored"}; !slices.Equal(s.Warnings, warnings) {
		t.Errorf("%q, want %q", s.Warnings, warnings)
	}
	if !strings.HasPrefix(s.Text, "#!/bin/sh\nexport SLURM_JOB_ID=\"$VJOB_ID\"") {
		t.Errorf("no variables: %q", s.Text)
	}
}

// Names of files that cannot be names here become others, or a warning.
func TestOutputFiles(t *testing.T) {
	for text, c := range map[string]struct{ directive, warning string }{
		"#SBATCH -o slurm-%j.out":           {"2 output=slurm-%j.out", ""},
		"#SBATCH -o slurm-%A_%a.%t":         {"2 output=slurm-%A_%a.%r", ""},
		"#SBATCH -e slurm-%J.err":           {"2 error=slurm-%j.err", ""},
		"#SBATCH -o logs/run.out":           {"2 output=logs/run-%j.out", "output: logs/run.out becomes logs/run-%j.out, each vjob has a file of its own"},
		"#SBATCH -o /scratch/%j":            {"", "output: /scratch/%j is absolute: leave out the first /, the file is made below your folder of the output directory; ignored, vjob logs prints the output"},
		"#SBATCH -o %N-%j":                  {"", "output: %N-%j has %N: want"},
		"#OAR -O OAR.%jobname%.%jobid%.out": {"2 output=OAR.%x.%j.out", ""},
		"#OAR -E run.err":                   {"2 error=run-%j.err", "error: run.err becomes run-%j.err"},
	} {
		s, got := read(t, text)
		if c.directive != "" && !slices.Contains(got, c.directive) || c.directive == "" && strings.Contains(strings.Join(got, " "), "output=") {
			t.Errorf("%s: %q", text, got)
		}
		if len(s.Warnings) != min(len(c.warning), 1) || c.warning != "" && !strings.Contains(s.Warnings[0], c.warning) {
			t.Errorf("%s: %q, want %q", text, s.Warnings, c.warning)
		}
	}
}

// The VMs of a job of Slurm, from what it says about nodes and tasks.
func TestSlurmSizes(t *testing.T) {
	for text, want := range map[string]string{
		"-n 6": "6 1", "-n 6 -c 2": "6 2", "-N 3": "3 1", "-N 3 -n 7": "3 3", "-N 3 -n 6 -c 4": "3 8", "-n 10 --ntasks-per-node=4": "3 4", "-J x": "1 1", "-N 2 --mem-per-cpu=500 -c 4": "2 4 2000MiB",
	} {
		s, _ := read(t, "#SBATCH "+text)
		sizes := map[string]string{}
		for _, d := range s.Directives {
			sizes[d.Flag] = d.Value
		}
		if got := strings.TrimSpace(sizes["vms"] + " " + sizes["cpu"] + " " + sizes["mem"]); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

func TestSlurmTimes(t *testing.T) {
	for text, want := range map[string]string{
		"90": "1:30:00", "90:30": "1:30:30", "1:30:00": "1:30:00", "2-0": "48:00:00", "1-2:3": "26:03:00", "1-2:3:4": "26:03:04",
	} {
		if _, got := read(t, "#SBATCH -t "+text); got[0] != "2 walltime="+want {
			t.Errorf("%s: %s, want %s", text, got[0], want)
		}
	}
}

func TestOAR(t *testing.T) {
	s, got := read(t, "#OAR -l nodes=4/core=2,walltime=1:30:0 -n sim\n#OAR -q night -t besteffort --notify mail:ann@example.org -a 7\n#OAR -O out -p \"mem > 3\"")
	want := []string{"2 vms=4", "2 cpu=2", "2 walltime=1:30:00", "2 name=sim", "3 queue=night", "3 best-effort=true", "3 notify=mail:ann@example.org", "3 after=any:7", "4 output=out-%j"}
	if !slices.Equal(got, want) || !s.First {
		t.Errorf("%q, want %q; %t", got, want, s.First)
	}
	if len(s.Warnings) != 2 || !strings.HasPrefix(s.Warnings[1], "run.sh:4: --property: not supported here") {
		t.Errorf("%q", s.Warnings)
	}
}

// Errors name the script, the line, the option and what is wanted.
func TestErrors(t *testing.T) {
	for text, want := range map[string]string{
		"#VJOB 4":                    `run.sh:2: #VJOB: "4" is not a flag of vjob submit`,
		"#VJOB --vmz 4":              `run.sh:2: #VJOB: "--vmz" is not a flag of vjob submit`,
		"\n#VJOB --vms":              "run.sh:3: --vms: no value follows",
		"#VJOB --name 'x":            "run.sh:2: directive: --name 'x: a quote is not closed",
		"#SBATCH -N many":            `run.sh:2: --nodes: "many" is not a number from 1`,
		"#SBATCH --mem=0":            `run.sh:2: --mem: "0" is not a size`,
		"#SBATCH -t soon":            `run.sh:2: --time: "soon" is not a time`,
		"#SBATCH --array=1,5,9":      `run.sh:2: --array: "1,5,9" is not a range`,
		"#SBATCH -d singleton":       `run.sh:2: --dependency: "singleton" is not afterok`,
		"#SBATCH nodes":              `run.sh:2: directive: "nodes" is not an option`,
		"#OAR -l nodes=many":         "run.sh:2: -l: ",
		"#OAR -l /cluster=1/nodes=2": "want VMs of one size",
		"#OAR -l nodes=2+nodes=3":    "want VMs of one size",
		"#SBATCH -t 1-":              `run.sh:2: --time: "1-" is not a time`,
	} {
		_, err := jobscript.Read("run.sh", "#!/bin/sh\n"+text+"\n", flags{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, text := range []string{"#VJOB --vms 4", "#SBATCH -N2 -t1-2:3", "#OAR -l nodes=1/core=2", "#SBATCH --array=1-9%2 -d afterok:1:2"} {
		f.Add("#!/bin/sh\n" + text + "\n")
	}
	f.Fuzz(func(t *testing.T, text string) {
		if s, err := jobscript.Read("x", text, flags{}); err == nil && len(s.Directives) > 0 && !strings.Contains(text, "#") {
			t.Errorf("%q has directives %v", text, s.Directives)
		}
	})
}
