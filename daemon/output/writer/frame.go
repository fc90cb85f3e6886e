package writer

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
)

// MaxPiece is the most bytes that one request reads or appends.
const MaxPiece = 64 << 10

// maxFrame bounds a request and an answer, in bytes; text is written as base64.
const maxFrame = 4 * MaxPiece

// verb is what a request asks for.
type verb string

const (
	look   verb = "look"   // make the file if it is missing, and tell its size
	read   verb = "read"   // read a piece of at most Length bytes at At
	extend verb = "append" // append Data at At, if that is its end
	cut    verb = "cut"    // shorten the file to At
	keep   verb = "sync"   // bring it to the disk
)

// request is one operation on a file.
type request struct {
	Verb   verb   `json:"verb"`
	Name   string `json:"name"`
	At     int64  `json:"at,omitempty"`
	Length int    `json:"length,omitempty"`
	Data   []byte `json:"data,omitempty"`
}

// answer is its result.
type answer struct {
	Size  int64  `json:"size,omitempty"`
	Data  []byte `json:"data,omitempty"`
	Fault string `json:"fault,omitempty"` // "" after a success
}

// send writes a message, which begins with its length.
func send(w io.Writer, message any) error {
	text, err := json.Marshal(message)
	if err != nil {
		return err
	}
	frame := binary.BigEndian.AppendUint32(make([]byte, 0, 4+len(text)), uint32(len(text))) //nolint:gosec // it is bounded
	_, err = w.Write(append(frame, text...))
	return err
}

// receive reads a message.
func receive(r io.Reader, message any) error {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return err
	}
	length := binary.BigEndian.Uint32(head[:])
	if length > maxFrame {
		return fmt.Errorf("a message of %d bytes", length)
	}
	text := make([]byte, length)
	if _, err := io.ReadFull(r, text); err != nil {
		return err
	}
	return json.Unmarshal(text, message)
}
