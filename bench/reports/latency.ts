/** Latency of requests that are sent one after the other, of many contenders in turns. */
import { Agent, get } from 'node:http';
import type { Comparison, ContenderResult, Target } from '../harness/benchmark.ts';
import { median } from '../harness/rounds.ts';

/** One call does the measured work once. */
export interface Action {
  name: string;
  /** Runs before each call, and is not measured. */
  prepare?(): Promise<unknown>;
  act(): Promise<unknown>;
}

/** A ratio with its target. */
export interface Ratio {
  subject: Action;
  anchor: Action;
  /** What the anchor does and does not do. */
  anchorDoes: string;
  /** The action whose time is subtracted from the subject's, if only the additional time matters. */
  without?: Action;
  asked?: Target;
}

const AT_MOST_MS = 1500;
const WARM_UP = 3;

const agent = new Agent({ keepAlive: true, maxSockets: 1 });

export interface Answer {
  count: number | null;
  items: { id: number }[];
  pageInfo: { hasNextPage: boolean; endCursor: string } | null;
}

/** Sends one request on the only connection. Reads the whole answer, and fails if it is not a 200. */
export const fetchText = (url: string, headers: Record<string, string>): Promise<string> =>
  new Promise((resolve, reject) => {
    get(url, { agent, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('end', () =>
        response.statusCode === 200
          ? resolve(text)
          : reject(new Error(`GET ${url} answered ${response.statusCode}: ${text.slice(0, 300)}`)),
      );
    }).on('error', reject);
  });

/** Each round gives each action one value, the median of some calls. A ratio compares values of the same round. */
export async function compareLatencies(
  ratios: Ratio[],
  { rounds, calls }: { rounds: number; calls: number },
): Promise<{ measured: ContenderResult[]; comparisons: Comparison[] }> {
  const actions = [
    ...new Set(
      ratios.flatMap(({ subject, anchor, without }) => [anchor, subject, ...(without ? [without] : [])]),
    ),
  ];
  const values = new Map<Action, number[]>(actions.map((action) => [action, []]));
  for (let round = 0; round < rounds; round++) {
    for (const action of round % 2 ? actions.toReversed() : actions) {
      values.get(action)!.push(await timeOf(action, calls, round === 0));
    }
    if (process.stderr.isTTY) process.stderr.write(`\r\x1b[Kround ${round + 1} of ${rounds}`);
  }
  return {
    measured: actions.map((action) => summarise(action, values.get(action)!)),
    comparisons: ratios.map(({ subject, anchor, anchorDoes, without, asked }) => {
      const all = values.get(subject)!.map((value, round) => {
        const taken = without ? values.get(without)![round]! : 0;
        return Math.max(0, value - taken) / values.get(anchor)![round]!;
      });
      return {
        subject: without ? `${subject.name}, what the count adds` : subject.name,
        anchor: anchor.name,
        anchorDoes,
        metric: 'p50Ms',
        ratio: median(all),
        lowest: Math.min(...all),
        highest: Math.max(...all),
        asked,
      };
    }),
  };
}

async function timeOf({ act, prepare }: Action, calls: number, isFirst: boolean): Promise<number> {
  const begin = performance.now();
  const outOfTime = () => performance.now() - begin > AT_MOST_MS;
  for (let i = 0; i < (isFirst ? WARM_UP : 1) && !outOfTime(); i++) {
    await prepare?.();
    await act();
  }
  const times: number[] = [];
  do {
    await prepare?.();
    const start = performance.now();
    await act();
    times.push(performance.now() - start);
  } while (times.length < calls && !outOfTime());
  return median(times);
}

const summarise = ({ name }: Action, times: number[]): ContenderResult => ({
  name,
  median: { perSecond: 1000 / median(times), p50Ms: median(times) },
  samples: times.map((p50Ms) => ({ perSecond: 1000 / p50Ms, p50Ms })),
});
