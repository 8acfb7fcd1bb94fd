// Bursts of equal requests, each burst one http.batch. Every virtual user sends a round elsewhere
// first, so that its connections are warm.
import http from 'k6/http';
import exec from 'k6/execution';

const members = Number(__ENV.MEMBERS);

export const options = {
  scenarios: {
    bursts: {
      executor: 'shared-iterations',
      vus: Number(__ENV.AT_ONCE),
      iterations: Number(__ENV.BURSTS),
      maxDuration: '10m',
    },
  },
  batch: members,
  batchPerHost: members,
  discardResponseBodies: true,
};

let warm = false;

function round(path, key) {
  const request = {
    method: 'POST',
    url: __ENV.BASE + path,
    body: __ENV.BODY,
    params: {
      headers: { 'Content-Type': 'application/json', 'Idempotency-Key': key },
      tags: { name: 'burst' }, // or every path would be a metric of its own
    },
  };
  http.batch(Array.from({ length: members }, () => request));
}

export default function () {
  if (!warm) {
    round('/warm', 'warm');
    warm = true;
  }
  const id = exec.scenario.iterationInTest + 1;
  round(`/burst/${id}`, `bench-${id}`);
}
