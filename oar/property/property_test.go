package property_test

import (
	"strings"
	"testing"

	"vjob/oar"
	"vjob/oar/property"
)

// node has a few properties, but no gpu.
func node(name string) (string, bool) {
	v, ok := map[string]string{
		"host": "n1.example", "cluster": "azur", "mem": "64", "memcore": "1.5", "besteffort": "YES", "drain": "NO", "quoted": "it's", "tag": "",
	}[name]
	return v, ok
}

func TestMatches(t *testing.T) {
	for text, want := range map[string]bool{
		"":                            true,
		"cluster = 'azur'":            true,
		"cluster='azur'":              true,
		"cluster = \"azur\"":          true,
		"'azur' = cluster":            true,
		"cluster = 'Azur'":            false,
		"cluster <> 'gdx'":            true,
		"cluster != 'azur'":           false,
		"mem = 64":                    true,
		"mem = 64.0":                  true,
		"mem = '64'":                  true,
		"mem > 9":                     true, // as numbers: as texts '64' < '9'
		"mem > '9'":                   true,
		"mem >= 64 AND mem <= 64":     true,
		"mem < 64 OR mem > 64":        false,
		"mem > -1":                    true,
		"memcore > 1.25":              true,
		"cluster > 1":                 false, // no number
		"NOT cluster > 1":             false,
		"cluster > 'apex'":            true, // as texts
		"host = cluster":              false,
		"host LIKE 'n%'":              true,
		"host like '%.example'":       true,
		"host LIKE 'n_.example'":      true,
		"host LIKE 'n%z'":             false,
		"host NOT LIKE 'helios.%'":    true,
		"not host like 'n1%'":         false,
		"host LIKE '%e%e%'":           true,
		"host LIKE '%'":               true,
		"host LIKE ''":                false,
		"tag LIKE ''":                 true,
		`host LIKE 'n1\.%'`:           true,
		`cluster LIKE '\_zur'`:        false,
		"mem IN (32, 64)":             true,
		"cluster IN ('gdx')":          false,
		"cluster NOT IN ('gdx')":      true,
		"mem BETWEEN 64 AND 128":      true,
		"mem NOT BETWEEN 1 AND 63":    true,
		"mem BETWEEN 65 AND 1":        false,
		"quoted = 'it''s'":            true,
		"besteffort":                  true,
		"drain":                       false,
		"NOT drain":                   true,
		"tag":                         false,
		"gpu":                         false,
		"NOT gpu":                     false, // unknown
		"gpu = 'YES'":                 false,
		"gpu <> 'YES'":                false,
		"NOT (gpu = 'YES')":           false,
		"gpu IS NULL":                 true,
		"gpu IS NOT NULL":             false,
		"cluster is not null":         true,
		"gpu = 1 OR mem = 64":         true,
		"gpu = 1 AND mem = 64":        false,
		"NOT (gpu = 1 AND mem = 1)":   true, // one of them is known to be false
		"gpu NOT IN ('a')":            false,
		"gpu NOT BETWEEN 1 AND 2":     false,
		"gpu NOT LIKE 'a'":            false,
		"mem=1 OR mem=2 AND mem=3":    false,
		"mem=64 OR mem=2 AND mem=3":   true, // AND binds tighter
		"(mem=64 OR mem=2) AND mem=3": false,
		"NOT mem=1 AND mem=64":        true, // NOT binds tightest
		"NOT NOT mem=64":              true,
		"mem=64 & cluster='azur'":     true,
		"mem=1 | cluster='azur'":      true,
	} {
		f, err := property.Parse("-p", text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := f.Matches(node); got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
}

func TestRefused(t *testing.T) {
	for text, want := range map[string]string{
		"cluster = 'azur' AND":            "-p:1:21: the condition ends here: want the name of a property",
		"cluster = ":                      "-p:1:11: the condition ends here: want a number, a text in quotes",
		"cluster = 'azur":                 "-p:1:11: the quote is open: want ' at the end",
		"cluster = azur'":                 "the quote is open",
		"cluster == 'a'":                  `-p:1:10: "=" stands here`,
		"(cluster = 'a'":                  "want AND, OR or the ) of this (",
		"cluster = 'a')":                  `-p:1:14: ")" stands here: want AND, OR or the end`,
		"1 = 1":                           "-p:1:1: this compares no property of a node",
		"'a' = 'a'":                       "this compares no property",
		"1":                               "1 is no condition",
		"'a' IS NULL":                     "'a' is no condition",
		"NOT":                             "the condition ends here",
		"cluster IS 'a'":                  "want NULL or NOT NULL behind IS",
		"cluster NOT = 'a'":               "want LIKE, IN or BETWEEN behind NOT",
		"cluster LIKE azur":               "azur is a name: want a pattern in quotes",
		"cluster LIKE 1":                  "a pattern stands in quotes",
		"cluster IN 'a'":                  "want ( and a list of values",
		"cluster IN ()":                   `")" stands here: want a number or a text in quotes`,
		"cluster IN ('a' 'b')":            "want a , or the ) of the list",
		"mem BETWEEN 1 OR 2":              "want AND and the upper limit",
		"mem > 1; DELETE FROM jobs":       `";" means nothing in a condition`,
		"cluster = 'a' /* x */":           `"/" means nothing`,
		"host ~ 'n.*'":                    `"~" means nothing`,
		"and = 1":                         `"and" stands here: want the name of a property`,
		"mem = 1e3":                       `"e3" stands here`,
		"cluster = 'a'\x00":               "means nothing",
		"\"; rm":                          "the quote is open",
		strings.Repeat("x", 1<<16+1):      "the condition has 65537 bytes; 65536 are allowed",
		strings.Repeat("(", 65) + "a":     "more than 64 deep",
		strings.Repeat("NOT ", 65) + "a":  "more than 64 deep",
		"a" + strings.Repeat("&a", 1000):  "more than 1000 conditions",
		"été = 1":                         `"é" means nothing`,
		"cluster = 'a' OR OR cluster='b'": `"OR" stands here: want the name of a property`,
	} {
		_, err := property.Parse("-p", text)
		if code, _ := oar.ExitOf(err); err == nil || code != oar.ExitResources || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "# Bad resource request (ERROR: ") {
			t.Errorf("%.60q: %v\nwant %s", text, err, want)
		}
	}
}

// Expressions at the limits parse.
func TestLimitsAreReached(t *testing.T) {
	for _, text := range []string{
		strings.Repeat("(", 64) + "a" + strings.Repeat(")", 64),
		strings.Repeat("(a) & ", 70) + "a",
		strings.Repeat("NOT a & ", 70) + "a",
		"a" + strings.Repeat(" OR a", 999),
	} {
		if _, err := property.Parse("-p", text); err != nil {
			t.Errorf("%.40q: %v", text, err)
		}
	}
}

func TestCheckKnowsTheProperties(t *testing.T) {
	names := []string{"cluster", "switch", "mem"}
	for text, want := range map[string]string{
		"":                                  "",
		"cluster = 'azur' OR MEM > 3":       "",
		"cluster = azur":                    "no node has the property azur; a text stands in quotes: 'azur'",
		"clutser = 'azur'":                  "-p:1:1: no node has the property clutser; did you mean cluster?",
		"mem IN (1) AND NOT swich LIKE 'a'": "did you mean switch?",
		"lic BETWEEN 1 AND 2":               "no node has the property lic",
		"mem = 1 OR lic IS NULL":            "no node has the property lic",
		"gpu":                               "no node has the property gpu",
	} {
		f, err := property.Parse("-p", text)
		if err != nil {
			t.Fatal(err)
		}
		err = f.Check(names)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
