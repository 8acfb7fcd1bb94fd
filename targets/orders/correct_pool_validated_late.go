package orders

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"sync"
	"time"
)

// lenderPool lends connections as they are, and looks whether they live only some time after one broke.
//
// database/sql throws a broken connection away and opens another. Pools elsewhere validate theirs every now and then, or
// never: after a failover each of their connections fails whoever gets it, and nothing is wrong with the database.
type lenderPool struct {
	db      *db
	stopped chan struct{} // closed when the API ends
	after   time.Duration // from a break to the validation; 0: there is none

	fill sync.Once
	free chan *sql.Conn
	mu   sync.Mutex
	due  time.Time // of the next validation; zero: no connection broke
}

// lent is how many connections such a pool has: some are left for the rest of the API.
const lent = connections * 2 / 3

// errDead says that the connection that was lent is dead.
var errDead = errors.New("the connection from the pool is dead")

func poolValidatedLateDesign() Design {
	return Design{
		Name:     "pool-validated-late",
		Summary:  "after a break its pool hands out dead connections for a second, and every request that gets one fails and has no effect",
		Correct:  true,
		Contract: exactReplay(),
		Key:      requiredKey(),
		On:       []string{"postgres", "mariadb"},
		schema:   []string{ordersTable, keysTable},
		handler:  func(a *api) handler { return needKey(newPooled(a, time.Second).create) },
	}
}

// pooled is uniqueKey on the connections of a lenderPool.
type pooled struct {
	*api
	pool *lenderPool
}

func newPooled(a *api, after time.Duration) pooled {
	p := &lenderPool{db: a.db, stopped: a.stopped, after: after, free: make(chan *sql.Conn, lent)}
	a.background.Go(p.close)
	return pooled{a, p}
}

func (p pooled) create(ctx context.Context, req request) (answer, error) {
	ctx = context.WithoutCancel(ctx)
	var reply answer
	err := p.db.retry(ctx, func() error {
		return p.pool.lend(ctx, func(conn *sql.Conn) error {
			var err error
			reply, err = p.execute(ctx, conn, req)
			if isDuplicate(err) {
				var first record
				first, err = queries{on: conn, dialect: p.db.dialect}.recordOf(ctx, req.Key)
				reply = first.replayTo(req)
			}
			return err
		})
	})
	return reply, err
}

func (p pooled) execute(ctx context.Context, conn *sql.Conn, req request) (answer, error) {
	t, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return answer{}, fmt.Errorf("begin: %w", err)
	}
	defer func() { _ = t.Rollback() }() // after a commit it does nothing
	o := newOrder(req)
	reply := created(o)
	if err := writeKeyAndOrder(ctx, &tx{queries{on: t, dialect: p.db.dialect}}, req, o, reply); err != nil {
		return answer{}, err
	}
	if err := p.work(ctx); err != nil {
		return answer{}, err
	}
	return reply, t.Commit()
}

// lend lends a connection for as long as use takes.
func (p *lenderPool) lend(ctx context.Context, use func(*sql.Conn) error) error {
	var err error
	p.fill.Do(func() {
		for range lent {
			conn, failed := p.db.pool.Conn(ctx)
			if failed != nil {
				err = failed
			}
			p.free <- conn
		}
	})
	if err != nil {
		return err
	}
	p.validate(ctx)
	var conn *sql.Conn
	select {
	case conn = <-p.free:
	case <-p.stopped:
		return errClosing
	}
	defer func() { p.free <- conn }()
	if conn == nil {
		p.broke()
		return errDead
	}
	err = use(conn)
	if err == nil || saidByServer(err) || isDuplicate(err) {
		return err
	}
	p.broke()
	if errors.Is(err, driver.ErrBadConn) || errors.Is(err, sql.ErrConnDone) {
		return errDead // no other connection is tried
	}
	return err
}

// close waits for the end of the API and closes the connections, those that are lent when they come back.
func (p *lenderPool) close() {
	<-p.stopped
	none := false
	p.fill.Do(func() { none = true })
	for n := 0; n < lent && !none; n++ {
		if conn := <-p.free; conn != nil {
			_ = conn.Close() // it may be dead
		}
	}
}

func (p *lenderPool) broke() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.after > 0 && p.due.IsZero() {
		p.due = time.Now().Add(p.after)
	}
}

// validate replaces those connections that are dead, if it is time to.
func (p *lenderPool) validate(ctx context.Context) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.due.IsZero() || time.Now().Before(p.due) {
		return
	}
	p.due = time.Time{}
	for range len(p.free) {
		select {
		case conn := <-p.free:
			p.free <- p.alive(ctx, conn)
		default:
		}
	}
}

// alive returns a connection if it lives, or else another; nil: there is none to be had.
func (p *lenderPool) alive(ctx context.Context, conn *sql.Conn) *sql.Conn {
	if conn != nil {
		if conn.PingContext(ctx) == nil {
			return conn
		}
		_ = conn.Close()
	}
	fresh, err := p.db.pool.Conn(ctx)
	if err != nil {
		p.due = time.Now().Add(p.after)
		return nil
	}
	return fresh
}
