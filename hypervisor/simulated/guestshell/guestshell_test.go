package guestshell_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"vjob/cluster"
	"vjob/hypervisor/simulated/guestshell"
)

// told formats a program: the output of each step and how long it lasts, then the exit code.
func told(p *cluster.Program) string {
	var b strings.Builder
	for _, s := range p.Steps {
		b.WriteString(s.Output)
		if s.Duration > 0 {
			fmt.Fprintf(&b, "<%s>", s.Duration)
		}
	}
	return fmt.Sprintf("%s=%d", b.String(), p.Exit)
}

// interpret runs a script on two and a half processors.
func interpret(script string) *guestshell.Work {
	return guestshell.Interpret(&cluster.Payload{
		Command: []string{"sh", "-c", script, "name", "one", "two words"}, Env: map[string]string{"A": "alpha", "EMPTY": ""},
	}, 2500, "vjob-7-1")
}

const hint = "; give it work with --steps 2m@1, or sleep 60\n"

func TestScripts(t *testing.T) {
	for script, want := range map[string]string{
		// Lists and exit statuses.
		"echo a; sleep 5; exit 3":           "a\n<5s>=3",
		"echo a\necho b":                    "a\nb\n=0",
		"":                                  "=0",
		"exit 300":                          "=44",
		"false":                             "=1",
		"false; exit":                       "=1",
		"exit x":                            "sh: exit: x: not a number\n=2",
		"! false":                           "=0",
		"true && echo yes || echo no":       "yes\n=0",
		"false && echo yes || echo no":      "no\n=0",
		"false || false && echo x; echo $?": "1\n=0",
		"{ echo a; echo b; }; (echo c; exit 4); echo $?": "a\nb\nc\n4\n=0",
		"x=1; (x=2; echo $x); echo $x":                   "2\n1\n=0",
		strings.Repeat("true && ", 200) + "echo long":    "long\n=0",
		// Conditions and loops.
		"if false; then echo a; elif true; then echo b; else echo c; fi":        "b\n=0",
		"if false; then echo a; else echo c; fi":                                "c\n=0",
		"if false; then echo a; fi; echo $?":                                    "0\n=0",
		"for i in 1 2 3; do echo $i; sleep 1; done":                             "1\n<1s>2\n<1s>3\n<1s>=0",
		"for i; do echo \"$i\"; done":                                           "one\ntwo words\n=0",
		"for i in {3..1} {4..5}; do echo -n $i; done":                           "32145=0",
		"for ((i = 0; i < 3; i++)); do echo -n $i; done":                        "012=0",
		"i=0; while [ $i -lt 3 ]; do i=$((i + 1)); sleep 2; done; echo $i":      "<6s>3\n=0",
		"i=3; until [ $i -eq 0 ]; do echo $i; i=$((i-1)); done":                 "3\n2\n1\n=0",
		"for i in 1 2 3; do if [ $i = 2 ]; then continue; fi; echo $i; done":    "1\n3\n=0",
		"for i in 1 2; do for j in 1 2; do break 2; done; echo x; done; echo y": "y\n=0",
		"for i in 1 2; do for j in 1 2; do continue 2; done; echo x; done":      "=0",
		"case abc in x) echo x;; a*|y) echo y;; *) echo z;; esac":               "y\n=0",
		"case 'a*' in 'a?') echo no;; \"a*\") echo yes;; esac":                  "yes\n=0",
		"case b in [!a-c]) echo no;; [a-c]) echo yes;; esac":                    "yes\n=0",
		"case aXbXc in *X?) echo yes;; esac":                                    "yes\n=0",
		"f() { echo $1 $#; return 5; }; f x y; echo $? $1":                      "x 2\n5 one\n=0",
		// Variables and words.
		"echo $A ${A} ${B:-none} ${EMPTY:-empty} ${EMPTY-unset} ${A:+set} ${#A}": "alpha alpha none empty set 5\n=0",
		"echo ${B:=new} $B": "new new\n=0",
		"echo ${B?missing}": "sh: B: missing\n=2",
		`x='a  b'; echo $x; echo "$x"; echo "$#" "$2" $0`:                    "a b\na  b\n2 two words name\n=0",
		`for i in "$@" "$*"; do echo "<$i>"; done`:                           "<one>\n<two words>\n<one two words>\n=0",
		`for i in $@ '' "" $EMPTY; do echo -n "<$i>"; done`:                  "<one><two><words><><>=0",
		`echo "a\$b\\" 'c\' d\ e $'f\tg'`:                                    "a$b\\ c\\ d e f\tg\n=0",
		"echo $((1 + 2 * 3)) $(( (7 - 1) / 4 % 5 )) $((1 < 2 ? 10 : 20))":    "7 1 10\n=0",
		"i=5; echo $((i++)) $((i += 2)) $((-i)) $((2 ** 10)) $((0x10 << 2))": "5 8 -8 1024 64\n=0",
		"echo $((1 / 0)); echo after":                                        "sh: arithmetic: division by 0\n=2",
		"echo $(seq 3) `echo b`":                                             "1 2 3 b\n=0",
		"x=$(false); echo $?; x=$(exit 7; echo no) y=1; echo $?":             "1\n7\n=0",
		"B=1 sh -c 'echo $B'; echo x$B":                                      "1\nx\n=0",
		"C=1; sh -c 'echo [$C]'; export C; sh -c 'echo [$C]'":                "[]\n[1]\n=0",
		"export D=2 E; E=3; env F=4 sh -c 'echo $D$E$F'; unset D; echo [$D]": "234\n[]\n=0",
		"x=a; x+=b; echo $x; false; echo $? $?":                              "ab\n1 1\n=0",
		"set -- p q r; shift; echo $1 $#; shift 5; echo $?":                  "q 2\nsh: shift: fewer arguments\n1\n=0",
		"echo ~ ~/x '~'; cd /tmp; cd a/../b; pwd":                            "/root /root/x ~\n/tmp/b\n=0",
		// Commands.
		"echo -n a; echo -e 'b\\tc'; echo -E 'd\\n'; echo -x":                         "ab\tc\nd\\n\n-x\n=0",
		`printf '%s-%03d|%5.2f|%x%%\n' a 7 3.14159 255 b 8; printf 'x\101\n'`:         "a-007| 3.14|ff%\nb-008| 0.00|0%\nxA\n=0",
		"printf '%d\\n' z; echo $?; printf '%q' a":                                    "printf: z: not an integer\n0\n1\nprintf: %q: invalid format\n=1",
		"seq 2 4; seq 5 -2 1; seq a":                                                  "2\n3\n4\n5\n3\n1\nseq: a: not an integer\n=1",
		"hostname; nproc; :; test a = a && [ -n x ] && echo ok":                       "vjob-7-1\n3\nok\n=0",
		"[ 1 -lt 2 -a ! x = y ] && [ ! -f /etc/passwd ] && echo ok; [ a -eq 1 ]":      "ok\nsh: test: a: integer expected\n=2",
		"[ '(' x ')' ] && [ ! ] && [ -n ] && echo ok; [ -z '' -o x = y ]; echo $?; [": "ok\n0\nsh: [: missing ]\n=2",
		"sleep 1.5; sleep 2m 1s; sleep 1h":                                            "<1h2m2.5s>=0",
		"sleep x; echo $?; sleep -1":                                                  "sleep: invalid time interval 'x'\n1\nsleep: invalid time interval '-1'\n=1",
		"echo a; sleep infinity; echo never":                                          "a\n<87600h0m0s>=0",
		"exec sh -c 'echo b; exit 2'; echo never":                                     "b\n=2",
		"exec 2>/dev/null; ./none; echo $?":                                           "127\n=0",
		"bash -ec 'false; echo never'; echo $?; /usr/bin/env true; eval 'echo $A' ok": "1\nalpha ok\n=0",
		"echo a; poweroff; echo never":                                                "a\n=-1",
		// Options.
		"set -e; false; echo never":                                      "=1",
		"set -e; if false; then :; fi; false || true; ! true; echo here": "here\n=0",
		"set -eu; echo $NONE; echo never":                                "sh: NONE: parameter not set\n=2",
		"set -x; x=1; echo $x >/dev/null":                                "+ echo 1\n=0",
		"set -o pipefail; set -o errexit; (exit 3); echo never":          "=3",
		// Redirections.
		"echo a >/dev/null; ./x 2>/dev/null; echo b >&2; echo c 2>&1 >/dev/null; echo d": "b\nd\n=0",
		"{ echo a; ./x; } >/dev/null 2>&1; x=$(./y 2>&1); echo ${#x}":                    "91\n=0",
		// What a guest does not understand.
		"./run.sh --fast":                          "sh: ./run.sh: a simulated guest has no such command" + hint + "=127",
		"date; echo $?":                            "sh: date: a simulated guest has no such command" + hint + "127\n=0",
		"echo a | cat":                             "sh: a pipe (|): not supported by a simulated guest" + hint + "=127",
		"sleep 5 & wait":                           "sh: a command in the background (&): not supported by a simulated guest" + hint + "=0",
		"echo a >out.txt":                          "sh: redirection >out.txt: not supported by a simulated guest" + hint + "=127",
		"x=(1 2); echo never":                      "sh: array x: not supported by a simulated guest" + hint + "=127",
		"echo ${A%a}; echo never":                  "sh: an expansion of A: not supported by a simulated guest" + hint + "=127",
		"[[ a = a ]]; echo $?":                     "sh: [[: not supported by a simulated guest" + hint + "127\n=0",
		"sh run.sh":                                "sh: run.sh: a simulated guest has no such script" + hint + "=127",
		"echo before; if":                          "sh: 1:14: \"if\" must be followed by a statement list\n=2",
		"printf '\\377\\376'":                      "\uFFFD=0",
		"echo $RANDOM$SECONDS; echo $$; return; x": "\n1\n=0",
	} {
		w := interpret(script)
		if got := told(w.Program); got != want {
			t.Errorf("%s\n got %q\nwant %q", script, got, want)
		}
		for i, s := range w.Program.Steps {
			if s.CPU != 2500 || len(s.After) > 0 {
				t.Errorf("%s: step %d: %+v", script, i, s)
			}
		}
	}
}

func TestPayloads(t *testing.T) {
	script := func(text string) cluster.Payload { return cluster.Payload{Script: text} }
	for name, c := range map[string]struct {
		payload cluster.Payload
		want    string
		faults  []string
	}{
		"words":       {cluster.Payload{Command: []string{"echo", "a  b", "$HOME"}}, "a  b $HOME\n=0", nil},
		"sleep":       {cluster.Payload{Command: []string{"/bin/sleep", "60"}}, "<1m0s>=0", nil},
		"exit":        {cluster.Payload{Command: []string{"exit", "3"}}, "=3", nil},
		"unknown":     {cluster.Payload{Command: []string{"./run.sh"}}, "sh: ./run.sh: a simulated guest has no such command" + hint + "=127", []string{"./run.sh is not found and ends with 127"}},
		"script":      {script("#!/bin/sh\necho a\nexit 2\n"), "a\n=2", nil},
		"no line":     {script("echo a"), "a\n=0", nil},
		"options":     {script("#!/bin/bash -e\nfalse\necho a"), "=1", nil},
		"env":         {script("#!/usr/bin/env -S bash -eu\nfalse"), "=1", nil},
		"returns":     {script("#!/bin/sh\r\necho a"), "a\n=0", nil},
		"python":      {script("#!/usr/bin/python3\nprint(1)\n"), "sh: /usr/bin/python3: a simulated guest has no such interpreter" + hint + "=127", []string{"/usr/bin/python3 is not found and ends with 127"}},
		"env python":  {script("#!/usr/bin/env python3\n"), "sh: python3: a simulated guest has no such interpreter" + hint + "=127", []string{"python3 is not found and ends with 127"}},
		"environment": {cluster.Payload{Command: []string{"sh", "-c", "echo $VJOB_RANK"}, Env: map[string]string{"VJOB_RANK": "4"}}, "4\n=0", nil},
		"syntax":      {script("if"), "sh: 1:1: \"if\" must be followed by a statement list\n=2", []string{"the shell stops at 1:1: \"if\" must be followed by a statement list, with 2"}},
		"pipe":        {script("a | b\na | b\nc &"), "", []string{"a pipe (|): not supported, ends with 127", "a command in the background (&): not supported, ends with 127"}},
	} {
		w := guestshell.Interpret(&c.payload, cluster.CPU, "vjob-1-0")
		if got := told(w.Program); c.want != "" && got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
		if !slices.Equal(w.Faults, c.faults) {
			t.Errorf("%s: faults %q, want %q", name, w.Faults, c.faults)
		}
		if !w.Program.Independent || w.Program.Lockstep {
			t.Errorf("%s: %+v", name, w.Program)
		}
	}
	if w := guestshell.Interpret(&cluster.Payload{Image: "x"}, cluster.CPU, "h"); w != nil {
		t.Errorf("no command: %+v", w)
	}
}

// Work beyond a bound ends with 126 and the name of the bound.
func TestBounds(t *testing.T) {
	for script, want := range map[string]string{
		"while :; do :; done":                                                      "10,000 commands",
		"f() { f; }; f":                                                            "64 levels of nesting",
		"f() { f | f; f && f; }; f":                                                "",
		"while :; do echo 0123456789; done":                                        "16 KiB of output",
		"while :; do echo x; sleep 1; done":                                        "1000 pauses between outputs",
		"x=0123456789abcdef; while :; do x=$x$x; done":                             "4 KiB in a word",
		"x=0123456789abcdef; while :; do x+=$x; done":                              "4 KiB in a variable",
		"seq 1 100000000000 >/dev/null":                                            "1024 KiB of words in all",
		"x=$(seq 1000000)":                                                         "4 KiB in a word",
		"for i in {1..999999999}; do :; done":                                      "1024 KiB of words in all",
		strings.Repeat("(", 10_000):                                                "64 levels of nesting",
		strings.Repeat("{ ", 100) + strings.Repeat("}", 100):                       "",
		strings.Repeat("if true; then ", 70) + "echo" + strings.Repeat("; fi", 70): "64 levels of nesting",
		"echo $((" + strings.Repeat("1+", 200) + "1))":                             "64 levels of nesting",
		strings.Repeat("# a comment\n", 2000):                                      "16 KiB of script",
		"x='sh -c \"$x\"'; export x; sh -c \"$x\"":                                 "64 levels of nesting",
		"printf '%9999d%9999d%9999d' 1 2 3":                                        "16 KiB of output",
	} {
		w := interpret(script)
		if want == "" {
			continue
		}
		last := ""
		for _, s := range w.Program.Steps {
			last += s.Output
		}
		if !strings.HasSuffix(last, "sh: a simulated guest has at most "+want+"\n") || w.Program.Exit != 126 {
			t.Errorf("%.80s: exit %d, …%q, want the bound %q", script, w.Program.Exit, last[max(0, len(last)-80):], want)
		}
		if fault := "it needs more than " + want + " and ends with 126"; !slices.Contains(w.Faults, fault) {
			t.Errorf("%.80s: faults %q, want %q", script, w.Faults, fault)
		}
	}
}

// A loop that only sleeps is one step, however often it turns.
func TestSleepsMerge(t *testing.T) {
	w := interpret("i=0; while [ $i -lt 2000 ]; do sleep 60; i=$((i+1)); done; echo done")
	if p := w.Program; len(p.Steps) != 2 || p.Steps[0].Duration != 2000*time.Minute || p.Steps[1].Output != "done\n" {
		t.Errorf("%+v", p)
	}
}

// check interprets a script twice: the programs are equal and within the bounds.
func check(t *testing.T, script string) {
	t.Helper()
	p := cluster.Payload{Script: script, Env: map[string]string{"x": "1"}}
	w := guestshell.Interpret(&p, cluster.CPU, "vjob-1-0")
	if again := guestshell.Interpret(&p, cluster.CPU, "vjob-1-0"); !reflect.DeepEqual(w, again) {
		t.Fatalf("two programs:\n%+v\n%+v", w, again)
	}
	if w == nil {
		return
	}
	out, total := 0, time.Duration(0)
	for i, s := range w.Program.Steps {
		out += len(s.Output)
		total += s.Duration
		if s.Duration < 0 || !utf8.ValidString(s.Output) {
			t.Errorf("step %d: %+v", i, s)
		}
	}
	// Invalid bytes become U+FFFD, which has three; the message of a bound follows the output.
	if out > 3*16<<10+200 || total > guestshell.Forever || len(w.Program.Steps) > 1000 || len(w.Faults) > 6 {
		t.Errorf("%d bytes of output, %s, %d steps, %d faults", out, total, len(w.Program.Steps), len(w.Faults))
	}
	if e := w.Program.Exit; e < cluster.ExitUntold || e > 255 {
		t.Errorf("exit %d", e)
	}
}

// Random sequences of words that have a meaning somewhere reach combinations that tables do not.
func TestRandomScripts(t *testing.T) {
	words := strings.Fields(`if then else elif fi while until for i in do done case esac ;; ( ) { } ! && || ; ; ; & | echo $x "$@" $* ${x:-$y} ${y:=$x$x}
		${#x} $((x+=1)) $((1/0)) $(seq ` + "`echo" + ` x=$x$x x+=a y= sleep 1 1h infinity exit 3 return break continue 2 set -e -u -x -- shift eval exec env sh -c 'x=1; f' f() f
		printf %s-%d\\n %9999d test [ ] = -lt -a ( [[ >/dev/null 2>&1 >f << EOF {1..3} {9..1} * ? [a-z] ~ \ ' " # cd pwd unset export poweroff nproc`)
	const scripts = 3000
	for seed := range uint64(scripts) {
		rng := rand.New(rand.NewPCG(seed, 0))
		var b strings.Builder
		for range 1 + rng.IntN(60) {
			b.WriteString(words[rng.IntN(len(words))])
			b.WriteByte(" \n"[min(1, rng.IntN(6)/5)])
		}
		if script := b.String(); !t.Run("", func(t *testing.T) { check(t, script) }) {
			t.Fatalf("seed %d:\n%s", seed, script)
		}
	}
}

// FuzzInterpret checks that hostile scripts neither panic nor exceed the bounds, and that equal payloads have equal
// programs.
func FuzzInterpret(f *testing.F) {
	for _, seed := range []string{
		"echo a; sleep 5; exit 3", "x=aaaa; while :; do x=$x$x; done", strings.Repeat("$(", 3000), strings.Repeat("((", 3000),
		strings.Repeat("`\\`", 500), "f(){ f;f; }; f", "for i in {1..99999999}; do :; done", "echo ${a:-${b:-${c:-$(d)}}}",
		"\xff\xfe='\x80'; echo \xff", "case $x in " + strings.Repeat("*a", 900) + ") ;; esac", "printf '%9999s%9999.9999f' a 1",
		"cat <<a\n$(b\n", "sleep 1e308; sleep 99999999999d", "exit -9223372036854775808", "echo $((1<<-1)) $((-9223372036854775808 / -1))",
		"exec; exec sh -c 'f(){ :; }; f'; set -- $@ $@", "env f() { :; }", "[ ! ! ! ( ( a ) ) ]", "a=b c=d e", "! ! a", ">&2 <x", "set -eux; x= y",
		"x=$(x=$(x=$(seq 900)));seq $x", "break 2; while break 9; do :; done", "select x in a; do :; done", "a[1]=2; let x=1; time y; coproc z",
	} {
		f.Add(seed)
	}
	f.Fuzz(check)
}
