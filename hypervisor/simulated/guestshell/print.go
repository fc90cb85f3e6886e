package guestshell

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"vjob/internal/pattern"
)

// echo runs echo as bash does: with -n without a newline, with -e with escapes.
func echo(sh *shell, args []string) {
	newline, escapes, stop := "\n", false, false
	for len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' && strings.Trim(args[0][1:], "neE") == "" {
		for _, c := range args[0][1:] {
			switch c {
			case 'n':
				newline = ""
			default:
				escapes = c == 'e'
			}
		}
		args = args[1:]
	}
	text := strings.Join(args, " ")
	if escapes {
		text, stop = unescape(text, true)
	}
	if stop {
		newline = ""
	}
	sh.write(&sh.out, text+newline)
}

// seq prints integers: seq LAST, seq FIRST LAST, seq FIRST STEP LAST.
func seq(sh *shell, args []string) {
	numbers := []int64{}
	for _, arg := range args {
		n, err := strconv.ParseInt(arg, 10, 64)
		if err != nil {
			sh.complain("seq: %s: not an integer", shortened(arg))
			sh.status = 1
			return
		}
		numbers = append(numbers, n)
	}
	first, step, last := int64(1), int64(1), int64(0)
	switch len(numbers) {
	case 1:
		last = numbers[0]
	case 2:
		first, last = numbers[0], numbers[1]
	case 3:
		first, step, last = numbers[0], numbers[1], numbers[2]
	}
	if len(numbers) < 1 || len(numbers) > 3 || step == 0 {
		sh.complain("seq: needs LAST, FIRST LAST or FIRST STEP LAST")
		sh.status = 1
		return
	}
	for n := first; (step > 0 && n <= last || step < 0 && n >= last) && !sh.run.over; {
		sh.write(&sh.out, strconv.FormatInt(n, 10)+"\n")
		if step > 0 && n > math.MaxInt64-step || step < 0 && n < math.MinInt64-step {
			return
		}
		n += step
	}
}

// conversion is a conversion of printf with its flags, width and precision.
var conversion = pattern.New(`^%([-+ 0#]*)([0-9]{0,4})(\.[0-9]{0,4})?([a-zA-Z%])`)

// printf runs printf. The format is used again while arguments are left.
func printf(sh *shell, args []string) {
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	if len(args) == 0 {
		sh.complain("printf: missing format")
		sh.status = exitUsage
		return
	}
	format, rest := args[0], args[1:]
	for !sh.run.over {
		left, more := sh.format(format, rest)
		if !more || len(left) == 0 || len(left) == len(rest) {
			return
		}
		rest = left
	}
}

// format prints arguments once. It returns those that are left; more is false after \c or an error.
func (sh *shell) format(format string, args []string) (left []string, more bool) {
	var out strings.Builder
	defer func() { sh.write(&sh.out, out.String()) }()
	for format != "" && !sh.run.over && out.Len() <= maxOutput {
		sh.run.spend(1)
		at := strings.IndexAny(format, `%\`)
		if at < 0 {
			at = len(format)
		}
		out.WriteString(format[:at])
		if format = format[at:]; format == "" {
			break
		}
		if format[0] == '\\' {
			text, size, stop := unescapeOne(format, false)
			out.WriteString(text)
			if format = format[size:]; stop {
				return args, false
			}
			continue
		}
		c := conversion().FindStringSubmatch(format)
		if c == nil {
			return args, sh.badFormat(format)
		}
		format = format[len(c[0]):]
		if c[4] == "%" {
			out.WriteByte('%')
			continue
		}
		arg := ""
		if len(args) > 0 {
			arg, args = args[0], args[1:]
		}
		text, ok := sh.convert(c, arg)
		if !ok {
			return args, sh.badFormat(c[0])
		}
		out.WriteString(text)
	}
	return args, true
}

func (sh *shell) badFormat(text string) bool {
	sh.complain("printf: %s: invalid format", shortened(text))
	sh.status = 1
	return false
}

// convert formats one argument. What is not a number counts as 0, with an error.
func (sh *shell) convert(c []string, arg string) (text string, ok bool) {
	verb := "%" + c[1] + c[2] + c[3]
	switch c[4] {
	case "s":
		return fmt.Sprintf(verb+"s", arg), true
	case "b":
		text, _ := unescape(arg, true)
		return fmt.Sprintf(verb+"s", text), true
	case "c":
		return fmt.Sprintf("%"+c[1]+c[2]+"s", firstLetter(arg)), true
	case "d", "i", "u", "x", "X", "o":
		n, err := strconv.ParseInt(arg, 0, 64)
		if err != nil && arg != "" {
			sh.complain("printf: %s: not an integer", shortened(arg))
			sh.status = 1
		}
		if c[4] == "i" || c[4] == "u" {
			c[4] = "d"
		}
		return fmt.Sprintf(verb+c[4], n), true
	case "e", "E", "f", "F", "g", "G":
		x, err := strconv.ParseFloat(arg, 64)
		if err != nil && arg != "" {
			sh.complain("printf: %s: not a number", shortened(arg))
			sh.status = 1
		}
		return fmt.Sprintf(verb+c[4], x), true
	}
	return "", false
}

func firstLetter(text string) string {
	for _, c := range text {
		return string(c)
	}
	return ""
}

// unescape replaces escapes such as \n; stop is true after \c, which ends the text. zero: octal numbers begin with a 0, as
// for echo.
func unescape(text string, zero bool) (result string, stop bool) {
	var b strings.Builder
	for text != "" {
		at := strings.IndexByte(text, '\\')
		if at < 0 {
			at = len(text)
		}
		b.WriteString(text[:at])
		if text = text[at:]; text == "" {
			break
		}
		part, size, stop := unescapeOne(text, zero)
		b.WriteString(part)
		if stop {
			return b.String(), true
		}
		text = text[size:]
	}
	return b.String(), false
}

// escapes are those with one letter.
var escapes = map[byte]string{
	'n': "\n", 't': "\t", 'r': "\r", 'a': "\a", 'b': "\b", 'f': "\f", 'v': "\v", 'e': "\x1b", '\\': `\`, '"': `"`, '\'': `'`,
}

// unescapeOne returns the text of the escape at the beginning, and its length.
func unescapeOne(text string, zero bool) (result string, size int, stop bool) {
	if len(text) < 2 {
		return text, len(text), false
	}
	if text[1] == 'c' {
		return "", 2, true
	}
	if r, ok := escapes[text[1]]; ok {
		return r, 2, false
	}
	digits, most, base, from := "01234567", 3, 8, 1
	switch {
	case text[1] == 'x':
		digits, most, base, from = "0123456789abcdefABCDEF", 2, 16, 2
	case text[1] == '0' && zero:
		from = 2
	case text[1] < '0' || text[1] > '7' || zero:
		return text[:2], 2, false
	}
	end := from
	for end < len(text) && end < from+most && strings.IndexByte(digits, text[end]) >= 0 {
		end++
	}
	if end == from {
		if text[1] == '0' {
			return "\x00", 2, false
		}
		return text[:2], 2, false
	}
	n, _ := strconv.ParseUint(text[from:end], base, 16) // has digits only
	return string([]byte{byte(n)}), end, false
}
