package main

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// bank takes payments from one wallet, and counts them there. A repetition is told of the payment that there is; with again it is paid for
// once more, which leaves no second row. With declines each fifth one is declined, which leaves a row with that status that stands for nothing.
func bank(t *testing.T, again bool, declines string) (address, database string) {
	t.Helper()
	db, path := sqliteFile(t, "_txlock=immediate&_pragma=journal_mode(wal)&_pragma=busy_timeout(30000)", `
		create table wallets (id text primary key, balance integer not null, in_francs real not null, payments integer not null, asked integer not null, last_no integer not null);
		insert into wallets values ('w-1', 1000000, 1000000, 0, 0, 0);
		create table payments (id integer primary key, request text unique, wallet_id text, amount integer, memo text, francs real, status text)`)
	return serveBoth(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var p struct {
			Wallet string
			Amount int
			Memo   string
		}
		_ = json.NewDecoder(r.Body).Decode(&p)
		key := r.Header.Get("Idempotency-Key")
		if key == "" || p.Amount <= 0 {
			says(w, http.StatusBadRequest, `{"code":"invalid"}`)
			return
		}
		id, amount, status, err := pay(db, key, p.Wallet, p.Memo, p.Amount, again, declines)
		switch {
		case err != nil:
			http.Error(w, err.Error(), http.StatusInternalServerError)
		case amount != p.Amount:
			says(w, http.StatusUnprocessableEntity, `{"code":"key_reused"}`)
		case status != "paid":
			says(w, http.StatusPaymentRequired, `{"code":"declined"}`)
		default:
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusCreated)
			_ = json.NewEncoder(w).Encode(map[string]any{"id": id, "amount": amount})
		}
	})), "sqlite://" + path
}

// pay records a payment and takes it from the wallet.
func pay(db *sql.DB, key, wallet, memo string, asked int, again bool, declines string) (id int64, amount int, status string, err error) {
	tx, err := db.Begin()
	if err != nil {
		return 0, 0, "", err
	}
	defer func() { _ = tx.Rollback() }()
	if _, err = tx.Exec("update wallets set asked = asked + 1 where id = ?", wallet); err != nil {
		return 0, 0, "", err
	}
	var before int
	if err = tx.QueryRow("select count(*) from payments").Scan(&before); err != nil {
		return 0, 0, "", err
	}
	if status = "paid"; declines != "" && before%5 == 4 {
		status = declines
	}
	done, err := tx.Exec("insert into payments (request, wallet_id, amount, memo, francs, status) values (?, ?, ?, ?, ? * 0.93, ?) on conflict do nothing",
		key, wallet, asked, memo, asked, status)
	if err != nil {
		return 0, 0, "", err
	}
	if n, _ := done.RowsAffected(); n == 1 && status == "paid" || again {
		if _, err = tx.Exec("update wallets set balance = balance - ?, in_francs = in_francs - ? * 0.93, payments = payments + ?, last_no = last_no + ? where id = ?",
			asked, asked, n, n, wallet); err != nil {
			return 0, 0, "", err
		}
	}
	if err = tx.QueryRow("select id, amount, status from payments where request = ?", key).Scan(&id, &amount, &status); err != nil {
		return 0, 0, "", err
	}
	if amount != asked {
		return id, amount, status, nil
	}
	return id, amount, status, tx.Commit()
}

// TestInitOfNumbersThatCreatesHaveInCommon holds that a balance which each create changes is held against what the creates
// have written down, and that a counter of which rows are its is not known, and one which changes with each request, are not.
func TestInitOfNumbersThatCreatesHaveInCommon(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		again    bool
		declines string
		exit     int
		findings string
	}{
		"a repetition takes nothing":       {false, "", exitPass, "pass"},
		"what is declined takes nothing":   {false, "declined", exitPass, "pass"},
		"nor what has another such status": {false, "too_poor", exitPass, "pass"},
		"a repetition is paid again":       {true, "", exitFinding, "wallets-balance"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address, database := bank(t, c.again, c.declines)
			env := map[string]string{"DATABASE_URL": database}
			file, _ := initiated(t, env, exitPass, "--curl", `curl -H 'Idempotency-Key: k-1' -d '{"wallet": "w-1", "amount": 1, "memo": "a lamp"}' `+address+"/payments", "--db", database)
			text := readFile(t, file)
			require.Contains(t, text, "- name: wallets-balance # it and payments.amount stay the same together")
			require.Contains(t, text, "- name: wallets-in-francs # it and payments.francs stay the same together")
			require.NotContains(t, text, "- name: wallets-payments", "it may count what is declined, too")
			require.Contains(t, text, "wallets.payments")
			require.NotContains(t, text, "wallets-asked")
			require.NotContains(t, text, "wallets-last-no")
			requireRepeated(t, env, file, c.exit, c.findings)
		})
	}
}

// shelf takes orders, whose lines take from the stock. With again each request that says the same takes once more. With cancels some of the
// later orders are cancelled at once, which gives their stock back and leaves their lines. What is being packed is packed soon.
func shelf(t *testing.T, again, cancels bool) (address, database string) {
	t.Helper()
	db, path := sqliteFile(t, "_txlock=immediate&_pragma=journal_mode(wal)&_pragma=busy_timeout(30000)", `
		create table products (sku text primary key, stock integer not null, packing integer not null, lines integer not null);
		insert into products values ('tea', 1000000, 0, 0), ('mug', 1000000, 0, 0);
		create table orders (id integer primary key, request text unique, customer text, cancelled_at text);
		create table order_lines (order_id integer references orders (id), sku text references products (sku), quantity integer)`)
	return serveBoth(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var order struct {
			Customer string
			Lines    []struct {
				Sku      string
				Quantity int
			}
		}
		_ = json.NewDecoder(r.Body).Decode(&order)
		tx, err := db.Begin()
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		defer func() { _ = tx.Rollback() }()
		key, id := r.Header.Get("Idempotency-Key"), int64(0)
		done, err := tx.Exec("insert into orders (request, customer) values (?, ?) on conflict do nothing", key, order.Customer)
		if err == nil {
			err = tx.QueryRow("select id from orders where request = ?", key).Scan(&id)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		made, _ := done.RowsAffected()
		cancelled := cancels && id > 60 && id%4 == 3
		if made == 1 && cancelled {
			_, err = tx.Exec("update orders set cancelled_at = 'now' where id = ?", id)
		}
		for _, line := range order.Lines {
			if made == 1 {
				_, err = tx.Exec("insert into order_lines values (?, ?, ?)", id, line.Sku, line.Quantity)
			}
			if made == 1 && !cancelled || again {
				_, err = tx.Exec("update products set stock = stock - ?, packing = packing + ?, lines = lines + 1 where sku = ?", line.Quantity, line.Quantity, line.Sku)
				time.AfterFunc(500*time.Millisecond, func() {
					_, _ = db.Exec("update products set packing = packing - ? where sku = ?", line.Quantity, line.Sku)
				})
			}
		}
		if err == nil {
			err = tx.Commit()
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		says(w, http.StatusCreated, fmt.Sprintf(`{"order_id": %d}`, id))
	})), "sqlite://" + path
}

// TestInitOfStockThatLinesTake holds that a number to which only the rows of a created thing refer is found as well.
func TestInitOfStockThatLinesTake(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		again, cancels bool
		exit           int
		findings       string
	}{
		"once":                        {false, false, exitPass, "pass"},
		"some orders come to nothing": {false, true, exitPass, "pass"},
		"with each such request":      {true, false, exitFinding, "products-stock-of-tea"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address, database := shelf(t, c.again, c.cancels)
			env := map[string]string{"DATABASE_URL": database}
			file, _ := initiated(t, env, exitPass, "--curl",
				`curl -H 'Idempotency-Key: k-1' -d '{"customer": "Jane", "lines": [{"sku": "tea", "quantity": 2}, {"sku": "mug", "quantity": 1}]}' `+address+"/orders", "--db", database)
			text := readFile(t, file)
			require.Contains(t, text, "- name: products-stock-of-tea # it and order_lines.quantity stay the same together")
			require.Contains(t, text, "- name: products-stock-of-mug")
			require.NotContains(t, text, "packing")
			requireRepeated(t, env, file, c.exit, c.findings)
		})
	}
}

// till takes payments that are captured behind the answer. A repetition is told of the payment that there is; with again it is captured once
// more.
func till(t *testing.T, again bool) (address, database string) {
	t.Helper()
	db, path := sqliteFile(t, "_txlock=immediate&_pragma=journal_mode(wal)&_pragma=busy_timeout(30000)", `
		create table merchants (id text primary key, balance integer not null);
		insert into merchants values ('m-1', 0);
		create table payments (id integer primary key, request text unique, merchant_id text, amount integer, memo text, status text)`)
	capture := func(request string) {
		tx, err := db.Begin()
		if err != nil {
			return
		}
		defer func() { _ = tx.Rollback() }()
		done, err := tx.Exec("update payments set status = 'captured' where request = ? and (status = 'pending' or ?)", request, again)
		if err != nil {
			return
		}
		if n, _ := done.RowsAffected(); n == 1 {
			_, err = tx.Exec("update merchants set balance = balance + (select amount from payments where request = ?) where id = 'm-1'", request)
		}
		if err == nil {
			_ = tx.Commit()
		}
	}
	return serveBoth(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var p struct {
			Merchant, Memo string
			Amount         int
		}
		_ = json.NewDecoder(r.Body).Decode(&p)
		key, id := r.Header.Get("Idempotency-Key"), int64(0)
		_, err := db.Exec("insert into payments (request, merchant_id, amount, memo, status) values (?, ?, ?, ?, 'pending') on conflict do nothing", key, p.Merchant, p.Amount, p.Memo)
		if err == nil {
			err = db.QueryRow("select id from payments where request = ?", key).Scan(&id)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		time.AfterFunc(400*time.Millisecond, func() { capture(key) })
		says(w, http.StatusCreated, fmt.Sprintf(`{"id": %d}`, id))
	})), "sqlite://" + path
}

// TestInitOfABalanceThatMovesBehindTheAnswer holds that a number which creates change some time after their answers is held against what they
// have written down, and is waited for.
func TestInitOfABalanceThatMovesBehindTheAnswer(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		again    bool
		exit     int
		findings string
	}{
		"once":                 {false, exitPass, "pass"},
		"with each repetition": {true, exitFinding, "merchants-balance"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address, database := till(t, c.again)
			env := map[string]string{"DATABASE_URL": database}
			file, _ := initiated(t, env, exitPass, "--curl", `curl -H 'Idempotency-Key: k-1' -d '{"merchant": "m-1", "amount": 1250, "memo": "a lamp"}' `+address+"/payments", "--db", database)
			require.Contains(t, readFile(t, file), "- name: merchants-balance # it and payments.amount stay the same together")
			requireRepeated(t, env, file, c.exit, c.findings)
		})
	}
}
