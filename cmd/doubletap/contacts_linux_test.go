package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	toxiproxy "github.com/Shopify/toxiproxy/v2"
	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/doubletap-harness/doubletap/internal/servers"
	"github.com/doubletap-harness/doubletap/sut"
)

// elsewhere is an address that is nobody's (RFC 5737): what leads there must not be followed.
const elsewhere = "http://192.0.2.7:9"

// island is a network of its own that has every address of the world on its loopback interface, and a socket that gets each
// packet for an address that is not loopback's, and each question to a name server. Whoever contacts another host is seen
// doing it, whether anybody answers there or not.
type island struct {
	packets int // raw socket
}

// onIsland calls a function on a thread in such a network: the processes that it starts and the sockets that it opens
// are there. The test is skipped where the kernel or the rights do not allow it.
func onIsland(t *testing.T, do func(island)) {
	t.Helper()
	var denied, failed error
	var group sync.WaitGroup
	group.Go(func() {
		runtime.LockOSThread() // and never back: the thread ends with the goroutine
		if denied = unix.Unshare(unix.CLONE_NEWNET); denied != nil {
			return
		}
		var n island
		if n.packets, failed = openIsland(); failed != nil {
			return
		}
		defer unix.Close(n.packets)
		do(n)
	})
	group.Wait()
	if errors.Is(denied, unix.EPERM) || errors.Is(denied, unix.ENOSYS) || errors.Is(denied, unix.EINVAL) {
		cannot(t, "a network namespace cannot be had here: unshare: %v; run this as root, on a kernel with CONFIG_NET_NS", denied)
	}
	require.NoError(t, denied)
	require.NoError(t, failed)
}

// cannot skips a test that needs rights which are not there, unless $DOUBLETAP_ROOT says that they have to be.
func cannot(t *testing.T, why string, words ...any) {
	t.Helper()
	if os.Getenv("DOUBLETAP_ROOT") == "required" {
		t.Fatalf(why, words...)
	}
	t.Skipf(why, words...)
}

// openIsland makes this thread's new network an island, and opens the socket that sees what leaves for elsewhere.
func openIsland() (int, error) {
	control, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0, err
	}
	defer unix.Close(control)
	lo, err := unix.NewIfreq("lo")
	if err != nil {
		return 0, err
	}
	lo.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	if err := unix.IoctlIfreq(control, unix.SIOCSIFFLAGS, lo); err != nil {
		return 0, fmt.Errorf("raise the loopback interface: %w", err)
	}
	for _, family := range []uint8{unix.AF_INET, unix.AF_INET6} {
		if err := ownEveryAddress(family); err != nil && !(family == unix.AF_INET6 && errors.Is(err, unix.EOPNOTSUPP)) {
			return 0, fmt.Errorf("a route to everywhere: %w", err)
		}
	}
	packets, err := unix.Socket(unix.AF_PACKET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, int(networkOrder(unix.ETH_P_ALL)))
	if err != nil {
		return 0, err
	}
	filter := onlyForElsewhere()
	return packets, unix.SetsockoptSockFprog(packets, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, &unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]})
}

func networkOrder(n uint16) uint16 {
	return binary.NativeEndian.Uint16(binary.BigEndian.AppendUint16(nil, n))
}

// ownEveryAddress adds the route "local default dev lo".
func ownEveryAddress(family uint8) error {
	socket, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_ROUTE)
	if err != nil {
		return err
	}
	defer unix.Close(socket)
	const loopback = 1 // the first interface of every network
	length := uint32(unix.SizeofNlMsghdr + unix.SizeofRtMsg + unix.SizeofRtAttr + 4)
	var m bytes.Buffer
	for _, part := range []any{
		unix.NlMsghdr{Len: length, Type: unix.RTM_NEWROUTE, Flags: unix.NLM_F_REQUEST | unix.NLM_F_ACK | unix.NLM_F_CREATE},
		unix.RtMsg{Family: family, Table: unix.RT_TABLE_LOCAL, Protocol: unix.RTPROT_STATIC, Scope: unix.RT_SCOPE_HOST, Type: unix.RTN_LOCAL},
		unix.RtAttr{Len: unix.SizeofRtAttr + 4, Type: unix.RTA_OIF}, uint32(loopback),
	} {
		if err := binary.Write(&m, binary.NativeEndian, part); err != nil {
			return err
		}
	}
	if err := unix.Sendto(socket, m.Bytes(), 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return err
	}
	answer := make([]byte, 4096)
	n, _, err := unix.Recvfrom(socket, answer, 0)
	if err != nil {
		return err
	}
	if n < unix.SizeofNlMsghdr+4 {
		return errors.New("the kernel's answer is too short")
	}
	if code := int32(binary.NativeEndian.Uint32(answer[unix.SizeofNlMsghdr:])); code != 0 {
		return unix.Errno(-code)
	}
	return nil
}

// onlyForElsewhere lets packets pass whose destination is not loopback's, and those to port 53, also of a name server on this
// machine: it would ask others.
func onlyForElsewhere() []unix.SockFilter {
	load := func(size uint16, at uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | size | unix.BPF_ABS, K: at}
	}
	same := func(k uint32, yes, no uint8) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: k, Jt: yes, Jf: no}
	}
	pass, drop := unix.SockFilter{Code: unix.BPF_RET, K: 0xffff}, unix.SockFilter{Code: unix.BPF_RET}
	return []unix.SockFilter{
		load(unix.BPF_B, 0),
		{Code: unix.BPF_ALU | unix.BPF_AND | unix.BPF_K, K: 0xf0},
		same(0x40, 0, 5),     // IPv4, else IPv6
		load(unix.BPF_B, 16), // the first byte of the destination
		same(127, 0, 13),     // else pass
		load(unix.BPF_H, 22), // the destination's port, in a packet without options
		same(53, 11, 0),      // pass
		drop,                 //
		load(unix.BPF_W, 24), // the destination in IPv6: it is ::1, else pass
		same(0, 0, 8),        //
		load(unix.BPF_W, 28), //
		same(0, 0, 6),        //
		load(unix.BPF_W, 32), //
		same(0, 0, 4),        //
		load(unix.BPF_W, 36), //
		same(1, 0, 2),        //
		load(unix.BPF_H, 42), // its port
		same(53, 0, 1),       //
		pass,
		drop,
	}
}

// seen returns the destinations of the packets that were sent elsewhere since it was last called.
func (n island) seen() []string {
	var all []string
	packet := make([]byte, 1<<16)
	for {
		size, _, err := unix.Recvfrom(n.packets, packet, 0)
		if err != nil {
			return all
		}
		all = append(all, destination(packet[:size]))
	}
}

// destination says where a packet goes: protocol, address and port.
func destination(p []byte) string {
	if p[0]>>4 == 4 {
		head := int(p[0]&0xf) * 4
		return fmt.Sprintf("protocol %d to %s port %d", p[9], net.IP(p[16:20]), binary.BigEndian.Uint16(p[head+2:]))
	}
	return fmt.Sprintf("protocol %d to %s port %d", p[6], net.IP(p[24:40]), binary.BigEndian.Uint16(p[42:]))
}

// wanderer is a service that leads whoever follows it to another host: by the status resource of what it accepts, by redirects,
// and by the next page of its list.
func wanderer() {
	var mu sync.Mutex
	notes := map[string][]int{}
	asked, sent := 0, 0
	log.Fatal(http.ListenAndServe(os.Args[1], http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		w.Header().Set("Link", "<"+elsewhere+"/next>; rel=next")
		w.Header().Set("Refresh", "0; url="+elsewhere)
		w.Header().Set("Alt-Svc", `h2="192.0.2.7:9"`)
		if r.Method == http.MethodGet {
			asked++
		} else {
			sent++
		}
		switch {
		case r.Method == http.MethodGet:
			page := map[string]any{"items": []any{}}
			if ids := notes[r.URL.Query().Get("note")]; len(ids) > 0 {
				page["items"] = []any{map[string]int{"id": ids[0]}}
			}
			if asked > 40 {
				page["next"] = elsewhere + "/things?page=2"
			}
			json.NewEncoder(w).Encode(page)
		case sent > 6 && sent%7 == 0:
			http.Redirect(w, r, elsewhere+r.URL.Path, http.StatusTemporaryRedirect)
		default:
			var body struct{ Note string }
			json.NewDecoder(r.Body).Decode(&body)
			notes[body.Note] = append(notes[body.Note], sent)
			w.Header().Set("Location", elsewhere+"/status")
			status := http.StatusCreated
			if sent > 6 { // the pilot is not led astray, or there would be no run
				status += sent % 2
			}
			w.WriteHeader(status)
			fmt.Fprintf(w, `{"id":%d}`, notes[body.Note][0])
		}
	})))
}

const wandererFile = `name: wanderer
base_url: http://localhost:0
process: {command: [wanderer, "localhost:{{.Port}}"]}
contract: {ack: {statuses: [200, 201], accepted: {statuses: [202], monitor: Location, done: {where: {/state: done}}, identity: /id, within: 100ms}}}
operations:
  create:
    request: {path: /things, body: {note: "{{.Intent.Marker}}"}}
    key: {in: header}
    identity: /id
    rows: {http: {path: "/things?note={{.Intent.Marker}}"}, items: /items, next: /next, identity: id}
`

// serveToxiproxy is a toxiproxy server as a process.
func serveToxiproxy() {
	api := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop())
	listener, err := net.Listen("tcp", os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("ready")
	server := &http.Server{Handler: api.Routes(), ReadHeaderTimeout: time.Minute}
	log.Fatal(server.Serve(listener))
}

// TestNothingButThisMachineIsContacted holds docs/safety.md of whole runs, with every part that a run can have: what it starts and
// what it sends is on an island.
func TestNothingButThisMachineIsContacted(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("../../docs/examples/process.yaml")
	require.NoError(t, err)
	stored := strings.NewReplacer("--keep]", `--keep, --store-prefix, "shop:"]`+"\n  env: {DOUBLETAP_STORE: \"{{.Store.URL}}\"}", "ephemeral: sqlite", "ephemeral: postgres",
		"${DESIGN:-unique-key}", "redis-claim-and-record").Replace(string(source)) + "store: {ephemeral: redis, flush: \"shop:*\"}\n"
	lag, short := writeFile(t, "lag.yaml", lagScenario), []string{"plain-create", "burst-same-key"}
	for name, c := range map[string]struct {
		target string
		args   []string
		codes  []int
		says   string
	}{
		"a database, a store, and links to both": {writeFile(t, "stored.yaml", stored), append(short, lag), []int{exitPass}, "link-delayed"},
		"calls to a sink":                        {sut.ServedPrefix + "charge-key-of-request", short, []int{exitPass}, "effect-seen"},
		"mails to a sink":                        {sut.ServedPrefix + "mail-outbox-claimed", short, []int{exitPass}, "effect-seen"},
		"a target that leads elsewhere, behind a toxiproxy server": {
			writeFile(t, "wanderer.yaml", wandererFile), append(short, "--toxiproxy", "http://127.0.0.1:8474"), []int{exitFinding, exitInconclusive}, "another host: 192.0.2.7",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			program, reports := usual(t), t.TempDir()
			onIsland(t, func(n island) {
				require.Empty(t, n.seen())
				_, _ = net.DialTimeout("tcp", strings.TrimPrefix(elsewhere, "http://"), time.Second)
				_, _ = net.DialTimeout("tcp", "[2001:db8::7]:9", time.Second)
				if question, err := net.Dial("udp", "127.0.0.53:53"); err == nil {
					_, _ = question.Write([]byte("who is"))
					question.Close()
				}
				seen := strings.Join(n.seen(), "\n")
				require.Contains(t, seen, "protocol 6 to 192.0.2.7 port 9", "a stray call is seen")
				require.Contains(t, seen, "protocol 6 to 2001:db8::7 port 9", "in IPv6, too")
				require.Contains(t, seen, "protocol 17 to 127.0.0.53 port 53", "so is a question for a name")
				var out text
				run := func(command string, args ...string) *exec.Cmd {
					cmd := exec.CommandContext(t.Context(), command, args...)
					cmd.Stdout, cmd.Stderr = &out, &out
					cmd.Env = append(os.Environ(), "HTTP_PROXY="+elsewhere, "HTTPS_PROXY="+elsewhere, "ALL_PROXY="+elsewhere, "http_proxy="+elsewhere, "PGHOST=192.0.2.7", "PGHOSTADDR=192.0.2.7")
					return cmd
				}
				if strings.Contains(name, "toxiproxy") {
					server := run("toxiproxy-server", "127.0.0.1:8474")
					require.NoError(t, server.Start())
					defer func() { _ = server.Process.Kill(); _ = server.Wait() }()
					eventually(t, "the toxiproxy server listens", func() bool { return strings.Contains(out.String(), "ready") })
				}
				command := run(program, append([]string{"run", "--target", c.target, "--reports", reports, "--seed", "1", "--pilot-timeout", "30s"}, c.args...)...)
				_ = command.Run() // its exit code tells
				require.Empty(t, n.seen(), "%s", &out)
				require.Contains(t, c.codes, command.ProcessState.ExitCode(), "%s", &out)
				require.Contains(t, strings.Join(strings.Fields(out.String()), " "), c.says)
			})
		})
	}
}

// TestNoCommandContactsAnotherHost plays every command that sends, and what it makes, on an island: init, doctor, run with workers on other machines, replay, shrink,
// hunt, a script, a Go test, and clean.
func TestNoCommandContactsAnotherHost(t *testing.T) {
	t.Parallel()
	program, folder := usual(t), t.TempDir()
	moduleThatUsesOurs(t, folder)
	target, err := filepath.Abs("../../docs/examples/orders.yaml")
	require.NoError(t, err)
	onIsland(t, func(n island) {
		database := "sqlite://" + filepath.Join(folder, "orders.db")
		env := append(os.Environ(), "HTTP_PROXY="+elsewhere, "HTTPS_PROXY="+elsewhere, "ALL_PROXY="+elsewhere, "http_proxy="+elsewhere, "all_proxy="+elsewhere, "PGHOST=192.0.2.7",
			"NATS_URL=nats://192.0.2.7:4222", "ORDERS_URL=http://127.0.0.1:8080", "DATABASE_URL="+database, "ORDERS_TOKEN=alice")
		var out text
		begin := func(command string, args ...string) *exec.Cmd {
			cmd := exec.CommandContext(t.Context(), command, args...)
			cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = folder, env, &out, &out
			require.NoError(t, cmd.Start())
			return cmd
		}
		ended := func(cmd *exec.Cmd, codes ...int) {
			_ = cmd.Wait() // its exit code tells
			require.Empty(t, n.seen(), "%s: %s", cmd.Args, &out)
			require.Contains(t, codes, cmd.ProcessState.ExitCode(), "%s: %s", cmd.Args, &out)
		}
		service := begin(program, "targets", "serve", "replay-fresh-answer", "--listen", "127.0.0.1:8080")
		defer func() { _ = service.Process.Signal(os.Interrupt); _ = service.Wait() }()
		eventually(t, "the service is ready", func() bool { return strings.Contains(out.String(), "DATABASE_URL=") })
		database = regexp.MustCompile(`DATABASE_URL=(\S+)`).FindStringSubmatch(out.String())[1]
		env = append(env, "DATABASE_URL="+database)

		ended(begin(program, "init", "--yes", "--curl", `curl -H 'Idempotency-Key: 1' -d '{"customer": "x", "amount": 1200}' http://127.0.0.1:8080/orders`, "--db", database, "-o", "drafted.yaml"), exitPass, exitConfig)
		ended(begin(program, "doctor", "--target", target), exitPass, exitFinding)
		ended(begin(program, "run", "--target", target, "--seed", "1", "--pilot-timeout", "30s", "sequential-replay", "burst-same-key"), exitFinding)
		ended(begin(program, "replay", "last", "--target", target, "--times", "2"), exitFinding)
		ended(begin(program, "shrink", "last", "--target", target, "--budget", "20s"), exitPass)
		ended(begin(program, "hunt", "--target", target, "--for", "30s", "burst-same-key"), exitFinding)
		ended(begin(program, "export", "last", "--as", "curl", "-o", "again.sh"), exitPass)
		ended(begin("bash", "again.sh"), exitPass, exitFinding)
		require.Contains(t, out.String(), "it happened again")
		ended(begin(program, "export", "last", "--as", "go", "-o", "again_test.go", "--target", target), exitPass)
		env = append(env, "GOPROXY=off", "GOTOOLCHAIN=local")
		ended(begin("go", "test", "-mod=mod", "-vet=off", "-v", "."), exitFinding)
		require.Contains(t, out.String(), "--- FAIL: TestReplayMismatch")

		broker, err := servers.NATS(t.Context(), servers.Options{})
		require.NoError(t, err)
		defer broker.Stop()
		lead := begin(program, "run", "--target", target, "--workers", broker.URL()+"/island", "--shards", "2", "--seed", "1", "sequential-replay")
		worker := begin(program, "work", "--join", broker.URL()+"/island", "--target", target)
		ended(lead, exitFinding)
		ended(worker, exitPass)
		ended(begin(program, "clean", "--nats", broker.URL()), exitPass)
	})
}
