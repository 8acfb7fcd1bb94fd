// Messages to mailboxes. Each mailbox is a workflow that waits for its user's messages; the client's key goes with each.
import http from 'node:http';
import { DBOS } from '@dbos-inc/dbos-sdk';

const mailbox = DBOS.registerWorkflow(async () => DBOS.recv('closed', 24 * 3600), { name: 'mailbox' });
DBOS.setConfig({ name: 'museum', systemDatabaseUrl: process.env.DATABASE_URL, runAdminServer: false, logLevel: 'error', applicationVersion: '1' });
await DBOS.launch();
for (const user of ['alice', 'bob']) await DBOS.startWorkflow(mailbox, { workflowID: user })();

http.createServer(async (request, response) => {
  const answer = (status, body) => response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
  try {
    const key = request.headers['idempotency-key']?.trim();
    if (!key) return answer(400, { error: 'no key' });
    let text = '';
    for await (const part of request) text += part;
    await DBOS.send(request.headers['x-user'], JSON.parse(text), 'messages', key);
    answer(202, { sent: true });
  } catch (e) {
    answer(500, { error: e.message });
  }
}).listen(process.env.PORT, '127.0.0.1');
