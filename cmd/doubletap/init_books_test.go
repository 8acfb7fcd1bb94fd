package main

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

// bank takes payments from one wallet, and counts them there. A repetition is told of the payment that there is; with again it is paid for
// once more, which leaves no second row. With declines each fifth one is declined, which leaves a row that stands for nothing.
func bank(t *testing.T, again, declines bool) (address, database string) {
	t.Helper()
	db, path := sqliteFile(t, "_txlock=immediate&_pragma=journal_mode(wal)&_pragma=busy_timeout(30000)", `
		create table wallets (id text primary key, balance integer not null, payments integer not null, asked integer not null);
		insert into wallets values ('w-1', 1000000, 0, 0);
		create table payments (id integer primary key, request text unique, wallet_id text, amount integer, memo text, status text)`)
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
		case status == "declined":
			says(w, http.StatusPaymentRequired, `{"code":"declined"}`)
		default:
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusCreated)
			_ = json.NewEncoder(w).Encode(map[string]any{"id": id, "amount": amount})
		}
	})), "sqlite://" + path
}

// pay records a payment and takes it from the wallet.
func pay(db *sql.DB, key, wallet, memo string, asked int, again, declines bool) (id int64, amount int, status string, err error) {
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
	if status = "paid"; declines && before%5 == 4 {
		status = "declined"
	}
	done, err := tx.Exec("insert into payments (request, wallet_id, amount, memo, status) values (?, ?, ?, ?, ?) on conflict do nothing", key, wallet, asked, memo, status)
	if err != nil {
		return 0, 0, "", err
	}
	if n, _ := done.RowsAffected(); n == 1 && status == "paid" || again {
		if _, err = tx.Exec("update wallets set balance = balance - ?, payments = payments + ? where id = ?", asked, n, wallet); err != nil {
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

// TestInitOfNumbersThatCreatesHaveInCommon holds that a balance and a counter which each create changes are held against what the creates
// have written down, and that one which changes with each request is not.
func TestInitOfNumbersThatCreatesHaveInCommon(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		again, declines bool
		exit            int
		findings        string
	}{
		"a repetition takes nothing":     {false, false, exitPass, "pass"},
		"what is declined takes nothing": {false, true, exitPass, "pass"},
		"a repetition is paid again":     {true, false, exitFinding, "wallets-balance"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address, database := bank(t, c.again, c.declines)
			env := map[string]string{"DATABASE_URL": database}
			file, _ := initiated(t, env, exitPass, "--curl", `curl -H 'Idempotency-Key: k-1' -d '{"wallet": "w-1", "amount": 1, "memo": "a lamp"}' `+address+"/payments", "--db", database)
			text := readFile(t, file)
			require.Contains(t, text, "- name: wallets-balance # it and payments.amount stay the same together")
			require.Contains(t, text, "- name: wallets-payments # it and rows of payments stay the same together")
			require.NotContains(t, text, "wallets-asked")
			got := callWith(t.Context(), env, "run", "--target", file, "--reports", t.TempDir(), "--seed", "1", "sequential-replay", "distinct-twins")
			require.Equal(t, c.exit, got.code, got)
			require.Contains(t, got.out, c.findings)
		})
	}
}

// shelf takes orders, whose lines take from the stock. With again each request that says the same takes once more.
func shelf(t *testing.T, again bool) (address, database string) {
	t.Helper()
	db, path := sqliteFile(t, "_txlock=immediate&_pragma=journal_mode(wal)&_pragma=busy_timeout(30000)", `
		create table products (sku text primary key, stock integer not null);
		insert into products values ('tea', 1000000), ('mug', 1000000);
		create table orders (id integer primary key, request text unique, customer text);
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
		for _, line := range order.Lines {
			if made == 1 {
				_, err = tx.Exec("insert into order_lines values (?, ?, ?)", id, line.Sku, line.Quantity)
			}
			if made == 1 || again {
				_, err = tx.Exec("update products set stock = stock - ? where sku = ?", line.Quantity, line.Sku)
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
		again    bool
		exit     int
		findings string
	}{
		"once":                   {false, exitPass, "pass"},
		"with each such request": {true, exitFinding, "products-stock-of-tea"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address, database := shelf(t, c.again)
			env := map[string]string{"DATABASE_URL": database}
			file, _ := initiated(t, env, exitPass, "--curl",
				`curl -H 'Idempotency-Key: k-1' -d '{"customer": "Jane", "lines": [{"sku": "tea", "quantity": 2}, {"sku": "mug", "quantity": 1}]}' `+address+"/orders", "--db", database)
			text := readFile(t, file)
			require.Contains(t, text, "- name: products-stock-of-tea # it and order_lines.quantity stay the same together")
			require.Contains(t, text, "- name: products-stock-of-mug")
			got := callWith(t.Context(), env, "run", "--target", file, "--reports", t.TempDir(), "--seed", "1", "sequential-replay", "distinct-twins")
			require.Equal(t, c.exit, got.code, got)
			require.Contains(t, got.out, c.findings)
		})
	}
}
