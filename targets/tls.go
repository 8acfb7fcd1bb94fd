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

func (r *reviewer) socket() {
	if n := len(r.target.Socket); n > longestSocket {
		r.complain("/socket", "the path of a socket has at most %d bytes, and this one has %d", longestSocket, n)
	}
	if r.target.Socket != "" && r.target.Process != nil {
		r.complain("/socket", "a process is reached at the port of base_url; leave socket out, or start the target yourself")
	}
}

// tls reads the files and says what is wrong with them.
func (r *reviewer) tls() {
	t := r.target.TLS
	if t == nil {
		return
	}
	if !strings.HasPrefix(strings.ToLower(r.target.BaseURL), "https:") {
		r.complain("/tls", "base_url is not https, so there is no TLS to speak")
	}
	if text := r.file("/tls/ca", t.CA); text != nil {
		t.Authorities = x509.NewCertPool()
		if !t.Authorities.AppendCertsFromPEM(text) {
			r.complain("/tls/ca", "%s holds no certificate in PEM", r.doc.Shown("/tls/ca"))
		}
	}
	switch {
	case t.Certificate == "" && t.Key != "":
		r.complain("/tls", "a key needs the certificate that it belongs to")
	case t.Certificate != "" && t.Key == "":
		r.complain("/tls", "a certificate needs its key")
	case t.Certificate != "":
		r.certificate(t)
	}
}

// certificate reads what is shown to the target. It repeats nothing of what is in the key.
func (r *reviewer) certificate(t *TLS) {
	const certificate, key = "/tls/certificate", "/tls/key"
	shown, secret := r.file(certificate, t.Certificate), r.file(key, t.Key)
	if shown == nil || secret == nil {
		return
	}
	pair, err := tls.X509KeyPair(shown, secret)
	switch {
	case err == nil:
		t.Own = []tls.Certificate{pair}
	case bytes.Contains(secret, []byte("ENCRYPTED")):
		r.complain(key, "%s is locked with a password; take it away (openssl pkey -in FILE -out UNLOCKED)", r.doc.Shown(key))
	case !bytes.Contains(shown, []byte("-----BEGIN CERTIFICATE-----")):
		r.complain(certificate, "%s holds no certificate in PEM", r.doc.Shown(certificate))
	case !bytes.Contains(secret, []byte("PRIVATE KEY-----")):
		r.complain(key, "%s holds no private key in PEM", r.doc.Shown(key))
	case strings.Contains(err.Error(), "does not match"):
		r.complain(key, "%s is not the key of the certificate %s", r.doc.Shown(key), r.doc.Shown(certificate))
	default:
		r.complain("/tls", "certificate and key cannot be read as PEM")
	}
}

// largestPEM bounds a file of certificates: all authorities of a system take a quarter of it.
const largestPEM = 1 << 20

// file reads a file that the target file names at path; nil: it names none, or there is none.
func (r *reviewer) file(path, name string) []byte {
	if name == "" {
		return nil
	}
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		r.complain(path, "there is no file %s (paths are relative to this file)", r.doc.Shown(path))
		return nil
	case err != nil || !info.Mode().IsRegular() || info.Size() > largestPEM:
		r.complain(path, "%s is no file that can be read, of 1 MiB at most", r.doc.Shown(path))
		return nil
	}
	text, err := os.ReadFile(name)
	if err != nil {
		r.complain(path, "the file %s cannot be read", r.doc.Shown(path))
		return nil
	}
	return text
}
