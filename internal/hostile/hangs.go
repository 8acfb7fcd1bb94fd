package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"time"
)

// hang is a way in which a service goes on running and is of no use any more, after it has answered so many requests of a kind.
type hang struct {
	how, request string
	after        int
	exits        []int
	says         string
}

const (
	neverAnswers = "answers nothing"
	stopped      = "is stopped"
	create       = "POST /things"
	answered     = 20 // requests: those of the pilot and more; not all of the scenarios
)

// hangs lists them, with how the run has to end. In a step that only cleans up, the run's verdict
// stands.
func hangs() []hang {
	const noticed = `answers nothing any more|not answered until its deadline|takes requests and answers none`
	all := []hang{
		{neverAnswers, "POST /prepare", answered, []int{4}, `operations.create.prepare.0. \(POST /prepare\) .*got no answer`},
		{neverAnswers, "DELETE /cleanup", answered, []int{0}, `operations.create.cleanup.0.\s+\(DELETE /cleanup\) .*got no answer`},
		{neverAnswers, "GET /things", answered, []int{2}, `snapshot .* was not taken`},
	}
	for _, how := range []string{stopped, "sends a body without an end", "sends a byte a second", neverAnswers} {
		all = append(all, hang{how, create, 2 * answered, []int{1}, noticed})
	}
	return all
}

// hungFile is the target file of a service that hangs.
const hungFile = `name: hung
base_url: http://127.0.0.1:PORT
PROCESS
operations:
  create:
    prepare: [{request: {method: POST, path: /prepare, body: {}}, extract: {Thing: {json: /id}}}]
    request: {path: /things, body: {note: "{{.Intent.Marker}}", thing: "{{.Prepared.Thing}}"}}
    key: {in: header}
    identity: /id
    rows: {http: {path: "/things?note={{.Intent.Marker}}"}, identity: id}
    cleanup: [{request: {method: DELETE, path: /cleanup}}]
`

// daysOfHangs have a service hang in the middle of a run, which doubletap has started or not. The run ends, says so, and leaves a history
// that can be judged again.
func daysOfHangs() []day {
	var days []day
	for _, h := range hangs() {
		for who, started := range map[string]bool{"a service that doubletap started": true, "another service": false} {
			if !started && (h.request != create || h.how != stopped && h.how != neverAnswers) { // it is no other than one that was started
				continue
			}
			days = append(days, day{
				class: "hangs", name: fmt.Sprintf("%s %s, at %s", who, h.how, h.request), exits: h.exits, says: "(?s)" + h.says,
				set: func(ctx context.Context, b *bench) error { return hungRun(ctx, b, h, started) },
			})
		}
	}
	return days
}

// manyCreates is a scenario with so many intents that waiting for each of them would take hours.
const manyCreates = `name: many
summary: Many creates, each sent twice.
intents: 400
concurrency: 4
steps: [{send: {}}, {send: {}}]
exercised: [replayed]
`

// hungRun has the command run many creates against a service that hangs, and then judge what the
// run recorded.
func hungRun(ctx context.Context, b *bench, h hang, started bool) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	scenario, err := b.write("many.yaml", manyCreates)
	if err != nil {
		return err
	}
	stage := fmt.Sprintf("%s after %d at %s", h.how, h.after, h.request)
	port, process := "0", fmt.Sprintf(`process: {command: [%s, talker, "127.0.0.1:{{.Port}}"], env: {STAGE: "%s"}}`, program, stage)
	if !started {
		process = ""
		if port, err = hungService(ctx, b, program, stage); err != nil {
			return err
		}
	}
	target, err := b.write("target.yaml", strings.NewReplacer("PORT", port, "PROCESS", process).Replace(hungFile))
	b.args = []string{"run", "--target", target, "--reports", b.path("reports"), "--seed", "1", scenario}
	b.shell = `"$0" "$@"; code=$?; "$0" check reports/2* >checked.txt; [ $? -le 4 ] || exit 9; exit $code`
	return err
}

// hungService starts the service, and returns its port when it takes connections.
func hungService(ctx context.Context, b *bench, program, stage string) (port string, err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	address := l.Addr().String()
	_ = l.Close()
	service := exec.CommandContext(ctx, program, "talker", address)
	service.Dir, service.Env = b.path(""), append(os.Environ(), "STAGE="+stage)
	if err := service.Start(); err != nil {
		return "", err
	}
	b.wait = append(b.wait, func() { _ = service.Process.Kill(); _ = service.Wait() })
	_, port, err = net.SplitHostPort(address)
	if err == nil {
		err = waitFor(func() bool {
			c, err := net.DialTimeout("tcp", address, time.Second)
			if err == nil {
				_ = c.Close()
			}
			return err == nil
		})
	}
	return port, err
}
