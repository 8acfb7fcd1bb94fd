// Schedules of reports, each under the id that the client chose, and a worker that makes the reports. The API lists
// which reports are made or due: one for each schedule, as the next ones are a day away.
import http from 'node:http';
import { Queue, Worker } from 'bullmq';

const redis = new URL(process.env.REDIS_URL);
const connection = { host: redis.hostname, port: Number(redis.port), password: redis.password };
const queue = new Queue('reports', { connection });
const worker = new Worker('reports', async () => {}, { connection });
queue.on('error', () => {});
worker.on('error', () => {});

http.createServer(async (request, response) => {
  const answer = (status, body) => response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
  try {
    if (request.method === 'GET') {
      const note = new URL(request.url, 'http://here').searchParams.get('note');
      const jobs = await queue.getJobs(['waiting', 'active', 'delayed', 'completed']);
      return answer(200, jobs.filter((job) => job && job.data.note === note && job.timestamp + job.delay <= Date.now()).map((job) => ({ id: job.id })));
    }
    let text = '';
    for await (const part of request) text += part;
    const id = decodeURIComponent(request.url.split('/')[2]);
    await queue.upsertJobScheduler(id, { every: 24 * 3600 * 1000 }, { name: 'report', data: JSON.parse(text) });
    answer(200, { schedule: id });
  } catch (e) {
    answer(500, { error: e.message });
  }
}).listen(process.env.PORT, '127.0.0.1');
