package orders

import (
	"context"
	"database/sql"
	"errors"
	"net/http"
	"path"
)

// keysTable remembers the first answer to a key; the primary key is what makes a key unique.
const keysTable = `create table idempotency_keys (
	idempotency_key varchar(600) primary key,
	fingerprint varchar(64) not null,
	status integer not null,
	location varchar(255) not null,
	body text not null
)`

// keysLoose is keysTable without the primary key. A look at a key is as fast, and nothing makes it unique.
const (
	keysLoose = `create table idempotency_keys (
		idempotency_key varchar(600) not null,
		fingerprint varchar(64) not null,
		status integer not null,
		location varchar(255) not null,
		body text not null
	)`
	keysIndex = `create index idempotency_keys_key on idempotency_keys (idempotency_key)`
)

// record is what the table idempotency_keys remembers of a key.
type record struct {
	Fingerprint string
	Answer      answer
}

// insertKey remembers the answer to a key; a key that is remembered already is refused.
func (q queries) insertKey(ctx context.Context, req request, reply answer) error {
	return q.exec(ctx, `insert into idempotency_keys (idempotency_key, fingerprint, status, location, body)
		values (?, ?, ?, ?, ?)`, req.Key, req.Fingerprint, reply.Status, reply.Header["Location"], string(reply.Body))
}

// recordOf reads what is remembered of a key; sql.ErrNoRows says that it is new.
func (q queries) recordOf(ctx context.Context, key string) (record, error) {
	return q.recordWhere(ctx, "idempotency_key = ?", key)
}

func (q queries) recordWhere(ctx context.Context, condition string, args ...any) (record, error) {
	var r record
	var location, body string
	err := q.queryRow(ctx, `select fingerprint, status, location, body from idempotency_keys where `+condition, args...).
		Scan(&r.Fingerprint, &r.Answer.Status, &location, &body)
	if err != nil {
		return record{}, err
	}
	r.Answer.Body = []byte(body)
	r.Answer.Header = map[string]string{}
	if location != "" {
		r.Answer.Header["Location"] = location
	}
	switch {
	case r.Answer.Status >= http.StatusBadRequest:
		r.Answer.Header["Content-Type"] = "application/problem+json"
	case body != "":
		r.Answer.Header["Content-Type"] = "application/json"
	}
	return r, nil
}

// known is the answer to a request whose key is remembered; the zero answer says that the key is new.
func (q queries) known(ctx context.Context, req request) (answer, error) {
	first, err := q.recordOf(ctx, req.Key)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return answer{}, nil
	case err != nil:
		return answer{}, err
	}
	return first.replayTo(req), nil
}

// knownOrWritten looks the key up and, if it is new, writes it and its order. That is as safe as what
// keeps others out between the look and the write.
func (q queries) knownOrWritten(ctx context.Context, req request) (answer, error) {
	reply, err := q.known(ctx, req)
	if err != nil || reply.Status != 0 {
		return reply, err
	}
	return q.written(ctx, req)
}

// written writes a new order and its key.
func (q queries) written(ctx context.Context, req request) (answer, error) {
	o := newOrder(req)
	reply := created(o)
	if err := q.insertKey(ctx, req, reply); err != nil {
		return answer{}, err
	}
	return reply, q.insertOrder(ctx, o)
}

// replayTo gives the remembered answer to who sends the same body, and refuses another body.
func (r record) replayTo(req request) answer {
	if r.Fingerprint != req.Fingerprint {
		return keyReused()
	}
	return r.Answer
}

// replayOnceThere answers a request that found the record, which may be a claim that has no answer yet.
func (r record) replayOnceThere(req request) answer {
	if r.Answer.Status == 0 && r.Fingerprint == req.Fingerprint {
		return keyInUse()
	}
	return r.replayTo(req)
}

// orderID is the id of the order that the remembered answer is about.
func (r record) orderID() string { return path.Base(r.Answer.Header["Location"]) }
