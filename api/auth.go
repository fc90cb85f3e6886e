package api

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/user"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"vjob/cluster"
	"vjob/journal"
)

// secretPrefix makes tokens easy to find where they should not be.
const secretPrefix = "vjob_"

// secretLength is that of the prefix and 256 bits.
var secretLength = len(secretPrefix) + base64.RawURLEncoding.EncodedLen(32)

// NewSecret makes a bearer token of 256 random bits.
func NewSecret() string {
	var b [32]byte
	rand.Read(b[:]) // never fails
	return secretPrefix + base64.RawURLEncoding.EncodeToString(b[:])
}

// HashSecret is what is kept of a bearer token.
func HashSecret(secret string) [sha256.Size]byte { return sha256.Sum256([]byte(secret)) }

// peerKey is where the context of a connection keeps its peer's user id.
type peerKey struct{}

// withPeer notes who is at the other end of a unix socket, as the kernel says.
// It is the ConnContext of the HTTP server.
func withPeer(ctx context.Context, conn net.Conn) context.Context {
	socket, ok := conn.(*net.UnixConn)
	if !ok {
		return ctx
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return ctx
	}
	var cred *unix.Ucred
	control := raw.Control(func(fd uintptr) {
		cred, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	})
	if control != nil || err != nil {
		return ctx
	}
	return context.WithValue(ctx, peerKey{}, newPeer(cred.Uid, uint32(os.Getuid()), loginName))
}

// newPeer is the subject of a local user: root and the daemon's own user are
// administrators.
func newPeer(uid, own uint32, login func(uint32) string) Subject {
	peer := Subject{Name: login(uid), Role: journal.RoleUser, Via: "socket"}
	if uid == 0 || uid == own {
		peer.Role = journal.RoleAdmin
	}
	return peer
}

// loginName is the name of a local user, or uid-N when it has none that could be
// an account's.
func loginName(uid uint32) string {
	id := strconv.FormatUint(uint64(uid), 10)
	u, err := user.LookupId(id)
	if err != nil || cluster.CheckName("name", u.Username) != nil {
		return "uid-" + id
	}
	return u.Username
}

// authenticate finds out who makes the request. A request without credentials
// has the zero subject; one with wrong credentials fails, whoever else it might
// be.
func (s *Server) authenticate(r *http.Request) (Subject, error) {
	if values := r.Header.Values("Authorization"); len(values) > 0 {
		if len(values) > 1 {
			return Subject{}, errNobody
		}
		return s.bearer(r.Context(), values[0])
	}
	peer, ok := r.Context().Value(peerKey{}).(Subject)
	if !ok || peer.Role == journal.RoleAdmin {
		return peer, nil
	}
	// An administrator may have given the local user a role.
	account, err := s.accounts.User(r.Context(), peer.Name)
	switch {
	case err == nil:
		peer.Role = account.Role
	case !errors.Is(err, cluster.ErrNotFound):
		return Subject{}, fmt.Errorf("look up %s: %w", peer.Name, err)
	}
	return peer, nil
}

// bearer is the subject of a token. Whatever is wrong with the token, the error
// is the same.
func (s *Server) bearer(ctx context.Context, header string) (Subject, error) {
	scheme, secret, _ := strings.Cut(header, " ")
	if !strings.EqualFold(scheme, "bearer") || len(secret) != secretLength || !strings.HasPrefix(secret, secretPrefix) {
		return Subject{}, errNobody
	}
	account, err := s.accounts.UserByToken(ctx, HashSecret(secret), s.now())
	if errors.Is(err, cluster.ErrNotFound) || errors.Is(err, cluster.ErrUnauthenticated) {
		return Subject{}, errNobody
	}
	if err != nil {
		return Subject{}, fmt.Errorf("look up a token: %w", err)
	}
	return Subject{Name: account.Name, Role: account.Role, Via: "token"}, nil
}
