/** Moves a folder with much content back and forth, while lists are read. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Comparison, ContenderResult } from '../harness/benchmark.ts';
import { ADMIN_KEY } from '../harness/oriel.ts';
import { median } from '../harness/rounds.ts';
import type { Content } from './content.ts';

const READERS = 2;
const QUIET_MS = 1500;
const MOVE_WITHIN_MS = 1000;

const headers = { authorization: `Api-Key ${ADMIN_KEY}`, 'content-type': 'application/json' };

export async function measureMove(origin: string, content: Content, listUrl: string, rounds: number) {
  const moves: number[] = [];
  const quiet: number[] = [];
  const during: number[] = [];
  let into = quiet;
  let reading = true;
  const read = async () => {
    while (reading) {
      const list = into;
      const start = performance.now();
      await (await fetch(listUrl, { headers })).arrayBuffer();
      list.push(performance.now() - start);
    }
  };
  const readers = Promise.all(Array.from({ length: READERS }, read));
  try {
    for (let round = 0; round < rounds; round++) {
      into = quiet;
      await sleep(QUIET_MS / 3);
      into = during;
      const start = performance.now();
      await move(origin, content, content.moveTargets[round % 2]!);
      moves.push(performance.now() - start);
    }
  } finally {
    reading = false;
    await readers;
  }
  const measured: ContenderResult[] = [
    series('moving a folder while lists are read', moves),
    series('lists without a move', quiet),
    series('lists during the moves', during),
  ];
  const ratio = median(moves) / MOVE_WITHIN_MS;
  const comparisons: Comparison[] = [
    {
      subject: 'moving a folder while lists are read',
      anchor: 'one second',
      anchorDoes: 'a fixed limit; nothing is measured for it.',
      metric: 'p50Ms',
      ratio,
      lowest: Math.min(...moves) / MOVE_WITHIN_MS,
      highest: Math.max(...moves) / MOVE_WITHIN_MS,
      asked: { atMost: 1 },
    },
  ];
  const slowest = (times: number[]) => `${Math.max(...times).toFixed(1)} ms of ${times.length}`;
  return {
    measured,
    comparisons,
    facts: { 'slowest list': `${slowest(during)} during the moves, ${slowest(quiet)} without a move` },
  };
}

async function move(origin: string, { deploymentId, movedFolderId }: Content, folderId: number) {
  const response = await fetch(`${origin}/api/v1/deployments/${deploymentId}/workspace/move`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ id: movedFolderId, type: 'FOLDER', folderId }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`The move failed with ${response.status}: ${text}`);
}

const series = (name: string, times: number[]): ContenderResult => ({
  name,
  median: { perSecond: 1000 / median(times), p50Ms: median(times) },
  samples: times.map((p50Ms) => ({ perSecond: 1000 / p50Ms, p50Ms })),
});
