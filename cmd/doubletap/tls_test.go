package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/rundir"
)

// authority makes certificates. Its files are in a folder of their own: ca.pem, and for each certificate
// NAME.pem and NAME.key.
type authority struct {
	folder string
	cert   *x509.Certificate
	key    *ecdsa.PrivateKey
	serial int64
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{folder: t.TempDir()}
	a.cert, a.key = a.issue(t, "ca", &x509.Certificate{IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign})
	return a
}

// issue makes a certificate and writes it and its key.
func (a *authority) issue(t *testing.T, name string, c *x509.Certificate) (*x509.Certificate, *ecdsa.PrivateKey) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	a.serial++
	c.SerialNumber, c.Subject = big.NewInt(a.serial), pkix.Name{CommonName: name}
	c.NotBefore, c.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	parent, signer := a.cert, a.key
	if parent == nil {
		parent, signer = c, key
	}
	made, err := x509.CreateCertificate(rand.Reader, c, parent, &key.PublicKey, signer)
	require.NoError(t, err)
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	a.write(t, name+".pem", &pem.Block{Type: "CERTIFICATE", Bytes: made})
	a.write(t, name+".key", &pem.Block{Type: "PRIVATE KEY", Bytes: secret})
	cert, err := x509.ParseCertificate(made)
	require.NoError(t, err)
	return cert, key
}

func (a *authority) write(t *testing.T, name string, block *pem.Block) {
	require.NoError(t, os.WriteFile(filepath.Join(a.folder, name), pem.EncodeToMemory(block), 0o600))
}

// serves makes the certificate of a server with a name, which lets in only who has one of the authority.
func (a *authority) serves(t *testing.T, name string) *tls.Config {
	t.Helper()
	a.issue(t, "server", &x509.Certificate{DNSNames: []string{name}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}})
	pair, err := tls.LoadX509KeyPair(filepath.Join(a.folder, "server.pem"), filepath.Join(a.folder, "server.key"))
	require.NoError(t, err)
	pool := x509.NewCertPool()
	pool.AddCert(a.cert)
	return &tls.Config{Certificates: []tls.Certificate{pair}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: pool, NextProtos: []string{"h2", "http/1.1"}}
}

// locked is a shop behind TLS that lets in only who has a certificate, and counts who asked what.
type locked struct {
	*shop
	authority *authority
	folder    string // of the target file
	mu        sync.Mutex
	spoken    map[string]int // protocols
}

func newLocked(t *testing.T) *locked {
	l := &locked{shop: newShop(t, nil), authority: newAuthority(t), spoken: map[string]int{}}
	l.folder = l.authority.folder
	l.authority.issue(t, "client", &x509.Certificate{ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
	l.authority.issue(t, "other", &x509.Certificate{ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	var created atomic.Int64
	server := &http.Server{TLSConfig: l.authority.serves(t, "shop.internal"), ErrorLog: log.New(io.Discard, "", 0), Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		l.mu.Lock()
		l.spoken[r.Proto]++
		l.mu.Unlock()
		switch {
		case r.URL.Path == "/count":
			fmt.Fprintf(w, `{"n":%d}`, created.Load())
		case r.Method == http.MethodPost:
			created.Add(1)
			l.create(w, r)
		}
	})}
	go server.ServeTLS(listener, "", "")
	t.Cleanup(func() { server.Close() })
	l.url = "https://" + listener.Addr().String()
	return l
}

// trial makes a trial whose target file lies beside the certificates.
func (l *locked) trial(t *testing.T, tls string, args ...string) trial {
	x := l.shop.trial(t, args...)
	x.env["SHOP_URL"] = l.url
	x.folder = l.folder
	x.file = strings.Replace(x.file, "database:", "received: {path: /count, pointer: /n}\n"+tls+"\ndatabase:", 1)
	return x
}

const wholeTLS = "tls: {ca: ca.pem, certificate: client.pem, key: client.key, server_name: shop.internal}"

func TestATargetThatWantsACertificate(t *testing.T) {
	t.Parallel()
	for _, protocol := range []string{"http/1.1", "http/2"} {
		t.Run(protocol, func(t *testing.T) {
			t.Parallel()
			l := newLocked(t)
			x := l.trial(t, "protocol: "+protocol+"\n"+wholeTLS, append(lossy, "plain-create", "burst-same-key")...)
			got := x.run(t)
			require.Equal(t, exitPass, got.code, "%s", got)
			x.checked(t, got)
			require.Len(t, l.spoken, 1, "%v", l.spoken)
			secret, err := os.ReadFile(filepath.Join(l.folder, "client.key"))
			require.NoError(t, err)
			requireNowhere(t, x.reports, strings.Split(string(secret), "\n")[1])
		})
	}
}

func TestAFindingDoesNotTakeTheKeyAlong(t *testing.T) {
	t.Parallel()
	l := newLocked(t)
	_, err := l.db.Exec("drop table things; create table things (id integer primary key, key text, note text, body text)")
	require.NoError(t, err)
	x := l.trial(t, wholeTLS, "sequential-replay")
	x.file = strings.Replace(x.file, "${SHOP_TOKEN:-none}", "${SHOP_TOKEN}", 1)
	x.env["SHOP_TOKEN"] = "token-of-the-shop"
	got := x.run(t)
	require.Equal(t, exitFinding, got.code, "%s", got)
	finding := filepath.Join(onlyRun(t, x.reports), rundir.FindingsName, "F1")
	require.FileExists(t, filepath.Join(finding, rundir.TargetName))
	files, err := os.ReadDir(finding)
	require.NoError(t, err)
	for _, f := range files {
		require.NotContains(t, []string{".pem", ".key"}, filepath.Ext(f.Name()))
	}
	again := callWith(t.Context(), x.env, "replay", finding, "--target", filepath.Join(l.folder, "target.yaml"), "--reports", t.TempDir())
	require.Equal(t, exitFinding, again.code, "%s", again)
	text, err := os.ReadFile(exported(t, finding, "curl", x.env))
	require.NoError(t, err)
	require.Contains(t, string(text), "tls_key="+l.folder+"/client.key\n")
	require.Contains(t, string(text), "TLS_KEY=${TLS_KEY:-$tls_key}")
	require.Contains(t, string(text), `--key "$TLS_KEY"`)
	require.Contains(t, string(text), "# Not in here: the server name shop.internal")
}

func TestInitTrustsTheAuthorityThatItIsGiven(t *testing.T) {
	t.Parallel()
	s := newShop(t, nil)
	server := httptest.NewTLSServer(http.HandlerFunc(s.create))
	t.Cleanup(server.Close)
	folder := t.TempDir()
	ca := filepath.Join(folder, "ca.pem")
	require.NoError(t, os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600))
	create := ` -H 'Idempotency-Key: 1' -d '{"note": "x"}' ` + server.URL
	_, got := initiated(t, nil, exitConfig, "--curl", "curl -k"+create, "--db", "sqlite://"+s.path)
	require.Contains(t, got.err, "unknown authority")
	require.Contains(t, got.err, "give the authority with --ca FILE")
	for name, args := range map[string][]string{
		"as curl does": {"--curl", "curl --cacert " + ca + create},
		"by a flag":    {"--curl", "curl" + create, "--ca", ca},
	} {
		file, _ := initiated(t, nil, exitPass, append(args, "--db", "sqlite://"+s.path)...)
		require.Contains(t, readFile(t, file), "tls:\n  ca: "+ca, name)
	}
}

func TestTLSThatDoesNotComeAbout(t *testing.T) {
	t.Parallel()
	l := newLocked(t)
	for name, row := range map[string]struct {
		tls  string
		says []string
	}{
		"an authority that is not trusted":  {"tls: {server_name: shop.internal}", []string{"unknown authority", "name the authority in tls.ca"}},
		"another name":                      {"tls: {ca: ca.pem, certificate: client.pem, key: client.key, server_name: shop.test}", []string{"tls.server_name"}},
		"no name, but an address":           {"tls: {ca: ca.pem, certificate: client.pem, key: client.key}", []string{"tls.server_name"}},
		"no certificate":                    {"tls: {ca: ca.pem, server_name: shop.internal}", []string{"the target wants a certificate: name one in tls.certificate"}},
		"the key of another certificate":    {"tls: {ca: ca.pem, certificate: client.pem, key: other.key}", []string{"target.yaml:4:", `tls.key: "other.key" is not the key of the certificate "client.pem"`}},
		"a certificate where a key must be": {"tls: {ca: ca.pem, certificate: client.pem, key: client.pem}", []string{"tls.key", "holds no private key in PEM"}},
		"a key where a certificate must be": {"tls: {ca: ca.pem, certificate: client.key, key: client.key}", []string{"tls.certificate", "holds no certificate in PEM"}},
		"no such file":                      {"tls: {ca: nowhere.pem}", []string{"target.yaml:4:11: tls.ca: there is no file \"nowhere.pem\""}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := l.trial(t, row.tls)
			x.file, x.folder = strings.Replace(x.file, "received: {path: /count, pointer: /n}\n", "\n", 1), copied(t, l.folder)
			for _, protocol := range []string{"http/1.1", "http/2"} {
				x.reports = t.TempDir()
				got := x.speaking(protocol).run(t)
				require.Equal(t, exitConfig, got.code, "%s", got)
				for _, says := range row.says {
					require.Contains(t, got.err, says, protocol)
				}
				require.NotContains(t, got.String(), "BEGIN")
			}
		})
	}
}

// speaking makes a trial one in a version of HTTP.
func (x trial) speaking(protocol string) trial {
	x.file = strings.Replace(x.file, "\n\ntls", "\nprotocol: "+protocol+"\ntls", 1)
	return x
}

// copied returns a folder with the same files.
func copied(t *testing.T, folder string) string {
	to := t.TempDir()
	require.NoError(t, os.CopyFS(to, os.DirFS(folder)))
	return to
}

func TestATargetOnAUnixDomainSocket(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		protocol string
		hasty    bool
		code     int
	}{
		"atomic":                    {"http/1.1", false, exitPass},
		"atomic, in HTTP/2":         {"http/2", false, exitPass},
		"looks up and then inserts": {"http/1.1", true, exitFinding},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x, s := onSocket(t, row.hasty, "burst-same-key", "cut-reset")
			if row.protocol == "http/2" { // where nothing is seen of the target's side
				x.args = x.args[:1]
			}
			x.file = strings.Replace(x.file, "database:", "protocol: "+row.protocol+"\ndatabase:", 1)
			got := x.run(t)
			require.Equal(t, row.code, got.code, "%s", got)
			require.Contains(t, got.out, "target shop at http://shop.example by the socket "+filepath.Join(x.folder, "shop.sock"))
			require.Positive(t, s.things(t))
			x.checked(t, got)
			if row.code == exitFinding {
				file := exported(t, filepath.Join(onlyRun(t, x.reports), rundir.FindingsName, "F1"), "curl", x.env)
				code, out := script(t, file, x.env)
				require.Contains(t, []int{0, 1}, code, "%s", out) // whether it happens again is a matter of luck
				require.Contains(t, out, "201 1")
			}
			if row.protocol == "http/1.1" && row.code == exitPass {
				require.Contains(t, got.out, "in front of the target", "bursts are released after the lane")
			}
		})
	}
}

// onSocket makes a trial of a shop that listens on a Unix domain socket beside the target file.
func onSocket(t *testing.T, hasty bool, args ...string) (trial, *shop) {
	t.Helper()
	s := newShop(t, nil)
	folder, err := os.MkdirTemp("", "dt") // a short path: a socket's has little room
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(folder) })
	listener, err := net.Listen("unix", filepath.Join(folder, "shop.sock"))
	require.NoError(t, err)
	server := &http.Server{Protocols: new(http.Protocols), Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Host != "shop.example" {
			http.Error(w, "another host: "+r.Host, http.StatusMisdirectedRequest)
			return
		}
		if hasty && r.Method == http.MethodPost {
			s.hasty(w, r)
			return
		}
		s.create(w, r)
	})}
	server.Protocols.SetHTTP1(true)
	server.Protocols.SetUnencryptedHTTP2(true)
	go server.Serve(listener)
	t.Cleanup(func() { server.Close() })
	x := s.trial(t, args...)
	x.env["SHOP_URL"], x.folder = "http://shop.example", folder
	x.env["SHOP_TOKEN"] = "token-of-the-shop"
	x.file = strings.Replace(x.file, "database:", "socket: shop.sock\ndatabase:", 1)
	return x, s
}

func TestASocketOnWhichNobodyListens(t *testing.T) {
	t.Parallel()
	x, _ := onSocket(t, false)
	x.file = strings.Replace(x.file, "shop.sock", "none.sock", 1)
	got := x.run(t)
	require.Equal(t, exitEnvironment, got.code, "%s", got)
	require.Contains(t, got.err, "none.sock takes no connections: is the target running?")
}
