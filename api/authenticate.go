package api

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"

	"vjob/cluster"
)

// secretPrefix makes leaked tokens easy to find.
const secretPrefix = "vjob_"

// secretLength is the length of the prefix and 256 bits, encoded.
var secretLength = len(secretPrefix) + base64.RawURLEncoding.EncodedLen(32)

// NewSecret makes a bearer token of 256 random bits.
func NewSecret() string {
	var b [32]byte
	rand.Read(b[:]) // never fails
	return secretPrefix + base64.RawURLEncoding.EncodeToString(b[:])
}

// HashSecret returns the stored hash of a bearer token.
func HashSecret(secret string) [sha256.Size]byte { return sha256.Sum256([]byte(secret)) }

// authenticate returns the caller of a request. It is the zero subject without credentials.
// Wrong credentials are an error, even on a connection with a known local user.
func (s *Server) authenticate(r *http.Request) (Subject, error) {
	if values := r.Header.Values("Authorization"); len(values) > 0 {
		if len(values) > 1 {
			return Subject{}, errUnauthenticated
		}
		return s.bearer(r, values[0])
	}
	if conn := connOf(r); conn != nil && conn.Peer.Local {
		return s.local(r.Context(), conn.Peer.UID)
	}
	return Subject{}, nil
}

// origin returns the origin of a request: the uid of a local user, or the network address.
func origin(r *http.Request) string {
	if conn := connOf(r); conn != nil && conn.Peer.Local {
		return fmt.Sprintf("uid %d", conn.Peer.UID)
	}
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}

// bearer returns the caller of a token. All errors for wrong tokens are the same.
func (s *Server) bearer(r *http.Request, header string) (Subject, error) {
	scheme, secret, _ := strings.Cut(header, " ")
	if !strings.EqualFold(scheme, "bearer") || len(secret) != secretLength || !strings.HasPrefix(secret, secretPrefix) {
		return Subject{}, errUnauthenticated
	}
	now := s.now()
	account, token, err := s.accounts.UserByToken(r.Context(), HashSecret(secret), now)
	if errors.Is(err, cluster.ErrNotFound) || errors.Is(err, cluster.ErrUnauthenticated) {
		return Subject{}, errUnauthenticated
	}
	if err != nil {
		return Subject{}, fmt.Errorf("look up a token: %w", err)
	}
	s.tokenUses.note(token, now.UTC())
	return Subject{Name: account.Name, Role: account.Role, Via: "token", From: origin(r)}, nil
}
