// Orders, each placed by a workflow whose id is the client's key.
import http from 'node:http';
import pg from 'pg';
import { DBOS } from '@dbos-inc/dbos-sdk';

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });
pool.on('error', () => {});
await pool.query('create table if not exists orders (id serial primary key, note text not null, amount int not null)');

const place = DBOS.registerWorkflow(async (order) => DBOS.runStep(async () => {
  const { rows } = await pool.query('insert into orders (note, amount) values ($1, $2) returning id', [order.note, order.amount]);
  return rows[0].id;
}, { name: 'insert' }), { name: 'place' });
DBOS.setConfig({ name: 'museum', systemDatabaseUrl: process.env.DATABASE_URL, runAdminServer: false, logLevel: 'error', applicationVersion: '1' });
await DBOS.launch();

http.createServer(async (request, response) => {
  const answer = (status, body) => response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
  try {
    const key = request.headers['idempotency-key']?.trim();
    if (!key) return answer(400, { error: 'no key' });
    let text = '';
    for await (const part of request) text += part;
    const workflow = await DBOS.startWorkflow(place, { workflowID: key })(JSON.parse(text));
    answer(201, { id: await workflow.getResult() });
  } catch (e) {
    answer(500, { error: e.message });
  }
}).listen(process.env.PORT, '127.0.0.1');
