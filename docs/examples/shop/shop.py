"""A small shop. Customers log in and place orders, and a client that got no answer may send its order again.

    DATABASE_URL=postgres://... PORT=8000 python3 shop.py

It needs Python 3 and psycopg2 (on Debian: apt install python3-psycopg2). FIXED=1 fixes its one bug.
"""

import contextlib
import hashlib
import http.server
import json
import os
import pathlib
import queue
import secrets
import sys
import time

import psycopg2

FIXED = os.environ.get("FIXED") == "1"
SHIPPING_CENTS = {"standard": 490, "express": 1290}
CONNECTIONS = queue.LifoQueue()


class Refusal(Exception):
    """An answer that is not a success: its status and message."""


@contextlib.contextmanager
def transaction():
    connection = CONNECTIONS.get()
    try:
        with connection, connection.cursor() as db:  # commits, or rolls back if something is raised
            yield db
    finally:
        CONNECTIONS.put(connection)


def one(db, query, *parameters):
    db.execute(query, parameters)
    return db.fetchone()


def log_in(body):
    digest = hashlib.sha256(str(body.get("password")).encode()).hexdigest()
    with transaction() as db:
        customer = one(db, "select id from customers where email = %s and password_sha256 = %s", str(body.get("email")), digest)
        if customer is None:
            raise Refusal(401, "no customer has this e-mail address and password")
        token = secrets.token_urlsafe(24)
        db.execute("insert into sessions (token, customer_id) values (%s, %s)", (token, customer[0]))
    return 200, json.dumps({"access_token": token, "token_type": "Bearer"})


def place_order(token, key, body):
    fingerprint = hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()
    with transaction() as db:
        session = one(db, "select customer_id from sessions where token = %s", token)
        if session is None:
            raise Refusal(401, "sign in first")
        if not key:
            raise Refusal(400, "an order needs an Idempotency-Key")
        customer = session[0]
        if FIXED:  # a request with the same key waits here until the other one has committed
            db.execute("select pg_advisory_xact_lock(hashtextextended(%s, %s))", (key, customer))
        known = one(db, "select fingerprint, answer from idempotency_keys where customer_id = %s and key = %s", customer, key)
        if known:
            if known[0] != fingerprint:
                raise Refusal(422, "this Idempotency-Key came with another order before")
            return 201, known[1]
        answer = json.dumps(insert_order(db, customer, body))
        db.execute("insert into idempotency_keys (customer_id, key, fingerprint, answer) values (%s, %s, %s, %s)", (customer, key, fingerprint, answer))
        return 201, answer


def insert_order(db, customer, body):
    shipping, lines = body.get("shipping", "standard"), body.get("lines")
    if shipping not in SHIPPING_CENTS or not isinstance(lines, list) or not lines:
        raise Refusal(400, "shipping has to be standard or express, and lines a list of product and quantity")
    priced = [priced_line(db, line) for line in lines]
    total = SHIPPING_CENTS[shipping] + sum(quantity * price for _, quantity, price in priced)
    time.sleep(0.03)  # the payment provider is asked
    order = one(
        db, "insert into orders (customer_id, note, shipping, total_cents) values (%s, %s, %s, %s) returning id",
        customer, body.get("note"), shipping, total,
    )[0]
    for line in priced:
        db.execute("insert into order_lines (order_id, product, quantity, price_cents) values (%s, %s, %s, %s)", (order, *line))
    db.execute("insert into payments (order_id, amount_cents, state) values (%s, %s, 'authorised')", (order, total))
    return {"id": order, "shipping": shipping, "total_cents": total, "state": "placed"}


def priced_line(db, line):
    quantity = line.get("quantity") if isinstance(line, dict) else None
    if type(quantity) is not int or not 1 <= quantity <= 100:
        raise Refusal(400, "a line has a product and a quantity from 1 to 100")
    price = one(db, "select price_cents from products where sku = %s", str(line.get("product")))
    if price is None:
        raise Refusal(400, "there is no such product")
    return line["product"], quantity, price[0]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        try:
            status, answer = self.route(self.rfile.read(int(self.headers.get("Content-Length", 0))))
        except Refusal as refusal:
            status, answer = refusal.args[0], json.dumps({"error": refusal.args[1]})
        with contextlib.suppress(ConnectionError):  # a client that has left gets its answer when it asks again
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(answer.encode())))
            self.end_headers()
            self.wfile.write(answer.encode())

    def route(self, content):
        try:
            body = json.loads(content)
        except ValueError:
            body = None
        if not isinstance(body, dict):
            raise Refusal(400, "the body has to be a JSON object")
        if self.path == "/login":
            return log_in(body)
        if self.path == "/orders":
            token = self.headers.get("Authorization", "").removeprefix("Bearer ")
            return place_order(token, self.headers.get("Idempotency-Key", "").strip(), body)
        raise Refusal(404, "there are /login and /orders")

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 128

    def handle_error(self, request, client_address):
        if not isinstance(sys.exc_info()[1], ConnectionError):  # clients may leave at any time
            super().handle_error(request, client_address)


def main():
    for _ in range(20):
        CONNECTIONS.put(psycopg2.connect(os.environ["DATABASE_URL"]))
    with transaction() as db:
        db.execute(pathlib.Path(__file__).with_name("schema.sql").read_text())
    server = Server(("127.0.0.1", int(os.environ.get("PORT", "8000"))), Handler)
    print(f"the shop is open at http://127.0.0.1:{server.server_port}", flush=True)
    with contextlib.suppress(KeyboardInterrupt):
        server.serve_forever()


if __name__ == "__main__":
    main()
