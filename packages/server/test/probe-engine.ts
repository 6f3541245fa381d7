/**
 * The program of an engine that tells what it can reach, in place of the real one. It is built with the paths to try.
 * Its DuckDB has none of the settings that keep queries in bounds.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { DuckDBInstance } from '@duckdb/node-api';
import { serveParent } from '../src/platform/processes/serve-parent.ts';

export interface ProbeAttempts {
  /** Paths to read. */
  read: string[];
  /** Files to write. */
  written: string[];
  port: number;
  /** A process to send a signal to. */
  pid: number;
}

export interface Probe {
  /** Each is `yes` or the code of an error. */
  read: string[];
  readByDuckdb: string[];
  written: string[];
  writtenByDuckdb: string[];
  connected: string;
  signalled: string;
  root: string[];
  env: string[];
  uid: number;
}

declare const TRIED: ProbeAttempts;

async function outcome(work: () => unknown): Promise<string> {
  try {
    await work();
    return 'yes';
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? 'no';
  }
}

const each = async (paths: string[], work: (path: string) => unknown) => {
  const outcomes: string[] = [];
  for (const path of paths) outcomes.push(await outcome(() => work(path)));
  return outcomes;
};

const connected = () =>
  new Promise((resolve, reject) => {
    connect(TRIED.port, '127.0.0.1').on('connect', resolve).on('error', reject);
  });

async function probe(): Promise<Probe> {
  const connection = await (await DuckDBInstance.create(':memory:')).connect();
  const readWith = async (path: string) => {
    const { currentRowCount } = await connection.runAndReadAll(`select content from read_text('${path}')`);
    if (currentRowCount !== 1) throw new Error('there is no such file');
  };
  return {
    read: await each(TRIED.read, (path) => readFileSync(path)),
    readByDuckdb: await each(TRIED.read, readWith),
    written: await each(TRIED.written, (path) => writeFileSync(path, 'x')),
    writtenByDuckdb: await each(TRIED.written, (path) => connection.run(`copy (select 1) to '${path}.csv'`)),
    connected: await outcome(connected),
    signalled: await outcome(() => process.kill(TRIED.pid, 0)),
    root: existsSync('/') ? readdirSync('/').sort() : [],
    env: Object.keys(process.env).sort(),
    uid: process.getuid!(),
  };
}

serveParent({ handlers: { test: async () => JSON.stringify(await probe()) } });
