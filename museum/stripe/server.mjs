// Orders that are charged by the Stripe client, and, on a port of its own, a stand-in for Stripe's charges:
// https://docs.stripe.com/api/charges and https://docs.stripe.com/api/idempotent_requests say what it does.
import http from 'node:http';
import pg from 'pg';
import Stripe from 'stripe';

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });
pool.on('error', () => {});
await pool.query(`create table if not exists charges (id serial primary key, key text unique, order_key text not null, note text not null, amount int not null);
  create table if not exists orders (key text primary key, charge text)`);

const body = async (request) => {
  let text = '';
  for await (const part of request) text += part;
  return text;
};
const answer = (response, status, value) => response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(value));
const charge = (row) => ({ id: `ch_${row.id}`, object: 'charge', amount: row.amount });

const stripes = async (request, response) => {
  if (request.method === 'GET') { // the charges of an order: https://docs.stripe.com/api/charges/search
    const order = /metadata\['order'\]:'([^']*)'/.exec(new URL(request.url, 'http://here').searchParams.get('query'))[1];
    const { rows } = await pool.query('select * from charges where order_key = $1 order by id', [order]);
    return answer(response, 200, { object: 'search_result', data: rows.map(charge), has_more: false });
  }
  const form = new URLSearchParams(await body(request));
  const key = request.headers['idempotency-key'] ?? null;
  await pool.query('insert into charges (key, order_key, note, amount) values ($1, $2, $3, $4) on conflict (key) do nothing',
    [key, form.get('metadata[order]'), form.get('description'), Number(form.get('amount'))]);
  const { rows } = await pool.query('select * from charges where key = $1 or (key is null and order_key = $2) order by id desc', [key, form.get('metadata[order]')]);
  answer(response, 200, charge(rows[0]));
};
http.createServer((request, response) => stripes(request, response).catch((e) => answer(response, 500, { error: { message: e.message } })))
  .listen(process.env.STRIPE_PORT, '127.0.0.1');

// No retries: the order's key belongs to the order, and whoever sends it again finds the charge that is there.
const stripe = new Stripe('sk_test_museum', { host: '127.0.0.1', port: process.env.STRIPE_ROAD, protocol: 'http', maxNetworkRetries: 0, telemetry: false });
const running = new Map();

async function place(key, order) {
  const known = await pool.query('select charge from orders where key = $1', [key]);
  if (known.rowCount > 0) return known.rows[0].charge;
  const found = await stripe.charges.search({ query: `metadata['order']:'${key}'` });
  const made = found.data[0] ?? await stripe.charges.create({ amount: order.amount, currency: 'usd', source: 'tok_visa', description: order.note, metadata: { order: key } });
  await pool.query('insert into orders (key, charge) values ($1, $2) on conflict (key) do nothing', [key, made.id]);
  return made.id;
}

http.createServer(async (request, response) => {
  const key = request.headers['idempotency-key']?.trim();
  if (!key) return answer(response, 400, { error: 'no key' });
  try {
    const order = JSON.parse(await body(request));
    const placing = (running.get(key) ?? Promise.resolve()).catch(() => {}).then(() => place(key, order)); // one at a time
    running.set(key, placing);
    answer(response, 201, { charge: await placing });
  } catch (e) {
    answer(response, 502, { error: e.message });
  }
}).listen(process.env.PORT, '127.0.0.1');
