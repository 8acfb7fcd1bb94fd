// Jobs, added in bulk under the id that the client chose. The API lists what is in the queue.
import http from 'node:http';
import { Queue } from 'bullmq';

const redis = new URL(process.env.REDIS_URL);
const connection = { host: redis.hostname, port: Number(redis.port), password: redis.password };
const queue = new Queue('orders', { connection });
queue.on('error', () => {});

http.createServer(async (request, response) => {
  const answer = (status, body) => response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
  try {
    if (request.method === 'GET') {
      const note = new URL(request.url, 'http://here').searchParams.get('note');
      const jobs = await queue.getJobs(['waiting', 'active', 'delayed', 'completed', 'failed', 'paused']);
      return answer(200, jobs.filter((job) => job && job.data.note === note).map((job) => ({ id: job.id })));
    }
    const key = request.headers['idempotency-key']?.trim();
    if (!key) return answer(400, { error: 'no key' });
    let text = '';
    for await (const part of request) text += part;
    const [job] = await queue.addBulk([{ name: 'order', data: JSON.parse(text), opts: { jobId: key } }]);
    answer(202, { id: job.id });
  } catch (e) {
    answer(500, { error: e.message });
  }
}).listen(process.env.PORT, '127.0.0.1');
