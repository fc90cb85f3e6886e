package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// result is what became of one mutant: a line of the file of results.
type result struct {
	Mutant string `json:"mutant"`
	Place  string `json:"place"`
	Digest string `json:"digest"`          // of the tests that were run
	Suite  string `json:"suite,omitempty"` // the package that noticed; empty: none did
	By     string `json:"by,omitempty"`    // the test that failed first
}

// results is the file of results. Each line is written as soon as it is known, and the
// last one of a mutant counts.
type results struct {
	file *os.File
	last map[string]result
}

func openResults(path string) (*results, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		return nil, err
	}
	r := &results{last: map[string]result{}}
	if err := r.read(path); err != nil {
		return nil, err
	}
	var err error
	r.file, err = os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	return r, err
}

func (r *results) read(path string) error {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	defer file.Close() //nolint:errcheck // it was only read
	for d := json.NewDecoder(bufio.NewReader(file)); ; {
		var one result
		if err := d.Decode(&one); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("%s: %w: remove the file to begin again", path, err)
		}
		r.last[one.Mutant] = one
	}
}

func (r *results) add(one result) error {
	r.last[one.Mutant] = one
	e := json.NewEncoder(r.file)
	e.SetEscapeHTML(false)
	return e.Encode(one)
}
