package targets

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/doubletap-harness/doubletap/internal/files"
)

// TLS says how an https target is spoken to. Its files are in PEM; Load reads them, and what is in the
// private key goes nowhere but into handshakes.
type TLS struct {
	CA          string `yaml:"ca"`          // authorities that are trusted; empty: those of the system
	Certificate string `yaml:"certificate"` // that is shown to the target; empty: none
	Key         string `yaml:"key"`
	ServerName  string `yaml:"server_name"` // empty: the host of base_url

	Authorities *x509.CertPool    `yaml:"-"` // what CA holds; nil: those of the system
	Own         []tls.Certificate `yaml:"-"` // what Certificate and Key hold
}

// Config returns what the files say, as a configuration of the caller's own. Server name and protocols are
// the caller's to set. Nil is the system's usual.
func (t *TLS) Config() *tls.Config {
	if t == nil {
		return &tls.Config{}
	}
	return &tls.Config{RootCAs: t.Authorities, Certificates: t.Own}
}

// longestSocket is how many bytes the path of a Unix domain socket may have on Linux.
const longestSocket = 107

// locate makes the paths of a target file, which are relative to its folder, relative to the process's.
func (t *Target) locate(folder string) {
	paths := []*string{&t.Socket}
	if t.TLS != nil {
		paths = append(paths, &t.TLS.CA, &t.TLS.Certificate, &t.TLS.Key)
	}
	for _, path := range paths {
		if *path != "" && !filepath.IsAbs(*path) {
			*path = filepath.Join(folder, *path)
		}
	}
}

// socket looks at the path of a Unix domain socket. A longer one cannot be connected to.
func (v *validator) socket() {
	if n := len(v.target.Socket); n > longestSocket {
		v.addMistake("/socket", "the path of a socket has at most %d bytes, and this one has %d", longestSocket, n)
	}
	if v.target.Socket != "" && v.target.Process != nil {
		v.addMistake("/socket", "a process is reached at the port of base_url; leave socket out, or start the target yourself")
	}
}

// tls reads the files and says what is wrong with them.
func (v *validator) tls() {
	t := v.target.TLS
	if t == nil {
		return
	}
	if !strings.HasPrefix(strings.ToLower(v.target.BaseURL), "https:") {
		v.addMistake("/tls", "base_url is not https, so there is no TLS to speak")
	}
	if text := v.file("/tls/ca", t.CA); text != nil {
		t.Authorities = x509.NewCertPool()
		if !t.Authorities.AppendCertsFromPEM(text) {
			v.addMistake("/tls/ca", "%s holds no certificate in PEM", v.doc.Shown("/tls/ca"))
		}
	}
	switch {
	case t.Certificate == "" && t.Key != "":
		v.addMistake("/tls", "a key needs the certificate that it belongs to")
	case t.Certificate != "" && t.Key == "":
		v.addMistake("/tls", "a certificate needs its key")
	case t.Certificate != "":
		v.certificate(t)
	}
}

// certificate reads what is shown to the target. It repeats nothing of what is in the key.
func (v *validator) certificate(t *TLS) {
	const certificate, key = "/tls/certificate", "/tls/key"
	shown, secret := v.file(certificate, t.Certificate), v.file(key, t.Key)
	if shown == nil || secret == nil {
		return
	}
	pair, err := tls.X509KeyPair(shown, secret)
	switch {
	case err == nil:
		t.Own = []tls.Certificate{pair}
	case bytes.Contains(secret, []byte("ENCRYPTED")):
		v.addMistake(key, "%s is locked with a password; take it away (openssl pkey -in FILE -out UNLOCKED)", v.doc.Shown(key))
	case !bytes.Contains(shown, []byte("-----BEGIN CERTIFICATE-----")):
		v.addMistake(certificate, "%s holds no certificate in PEM", v.doc.Shown(certificate))
	case !bytes.Contains(secret, []byte("PRIVATE KEY-----")):
		v.addMistake(key, "%s holds no private key in PEM", v.doc.Shown(key))
	case strings.Contains(err.Error(), "does not match"):
		v.addMistake(key, "%s is not the key of the certificate %s", v.doc.Shown(key), v.doc.Shown(certificate))
	default:
		v.addMistake("/tls", "certificate and key cannot be read as PEM")
	}
}

// largestPEM bounds a file of certificates: all authorities of a system take a quarter of it.
const largestPEM = 1 << 20

// file reads a file that the target file names at path; nil: it names none, or there is none.
func (v *validator) file(path, name string) []byte {
	if name == "" {
		return nil
	}
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		v.addMistake(path, "there is no file %s (paths are relative to this file)", v.doc.Shown(path))
		return nil
	case err != nil || !info.Mode().IsRegular() || info.Size() > largestPEM:
		v.addMistake(path, "%s is no file that can be read, of 1 MiB at most", v.doc.Shown(path))
		return nil
	}
	text, err := files.Read(name, largestPEM)
	if err != nil {
		v.addMistake(path, "the file %s cannot be read", v.doc.Shown(path))
		return nil
	}
	return text
}
