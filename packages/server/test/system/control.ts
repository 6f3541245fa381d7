/**
 * Tells a slow server from a slow machine. A plain HTTP server in a process of its own does a little work for one request after
 * the other, from this process. What its rounds take beyond the fastest of them is time that the machine, or this
 * process, took from everybody, and so also from the calls that a test measures at the same moment.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

/** About as much work as minting a session. */
const SERVER = `
  const { createHash } = require('node:crypto');
  const work = Buffer.alloc(1 << 20);
  require('node:http')
    .createServer((_, answer) => answer.end(createHash('sha256').update(work).digest('hex')))
    .listen(0, '127.0.0.1', function () { console.log(this.address().port); });
  // Ends with the test, also with one that is killed.
  process.stdin.resume().once('end', () => process.exit());
`;
const PAUSE_MS = 20;

export type Call = { from: number; to: number };

export async function startControl() {
  const server = spawn(process.execPath, ['-e', SERVER], { stdio: ['pipe', 'pipe', 'inherit'] });
  const [port] = await once(server.stdout, 'data');
  const agent = new Agent({ keepAlive: true });
  const ask = () =>
    new Promise<void>((resolve, reject) => {
      request({ agent, host: '127.0.0.1', port: Number(port) })
        .once('response', (answer) => answer.resume().once('end', resolve))
        .once('error', reject)
        .end();
    });
  const rounds: Call[] = [];
  let isOver = false;
  const running = (async () => {
    while (!isOver) {
      const from = performance.now();
      await ask();
      await sleep(PAUSE_MS);
      rounds.push({ from, to: performance.now() });
    }
  })();

  return {
    /** Measures a call. */
    async time(call: () => Promise<unknown>): Promise<Call> {
      const from = performance.now();
      await call();
      return { from, to: performance.now() };
    },
    async stop() {
      isOver = true;
      await running;
      agent.destroy();
      server.stdin.end();
      const fastest = Math.min(...rounds.map(lasted));
      /** How much of a call's time the machine took: the excess time of the rounds that overlap the call. */
      const lostMs = (call: Call) =>
        rounds.reduce((sum, round) => {
          const shared = Math.min(call.to, round.to) - Math.max(call.from, round.from);
          return shared <= 0 ? sum : sum + shared * (1 - fastest / lasted(round));
        }, 0);
      const ownMs = (calls: readonly Call[]) => calls.map((call) => lasted(call) - lostMs(call));
      return {
        /** How long each call took without what the machine took from it. */
        ownMs,
        figures(calls: readonly Call[]) {
          const lost = calls.reduce((sum, call) => sum + lostMs(call), 0);
          const share = Math.round((100 * lost) / calls.reduce((sum, call) => sum + lasted(call), 0));
          const [all, own] = [calls.map(lasted), ownMs(calls)];
          return `${ms(nearlyAll(own))} (max ${ms(Math.max(...own))}; with the ${share} % that the machine took ${ms(nearlyAll(all))}, max ${ms(Math.max(...all))})`;
        },
      };
    },
  };
}

/** The time within which 19 of 20 calls were answered. */
export const nearlyAll = (times: readonly number[]) =>
  times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.95)]!;

const lasted = ({ from, to }: Call) => to - from;
const ms = (time: number) => `${time.toFixed(0)} ms`;
