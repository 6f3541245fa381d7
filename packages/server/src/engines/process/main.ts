/** The program of an engine's process. It serves one data source of one deployment, and knows nothing else. */
import { serveParent, type Write } from '../../platform/processes/serve-parent.ts';
import type { ClickhouseSettings } from '../clickhouse/connection.ts';
import type { DuckdbSettings } from '../duckdb/database.ts';
import type { PostgresSettings } from '../postgres/connections.ts';
import type { QueryRequest, Run, Source } from './source.ts';

export type SourceSettings = DuckdbSettings | PostgresSettings | ClickhouseSettings;

/** The process makes the data of the demo, and then waits for its end. */
export interface DemoDataSettings {
  type: 'demo-data';
  folder: string;
  /** Where the data ends. */
  until: string;
}

let source: Source | undefined;
let own: SourceSettings;

/** Each driver is loaded only where it is used. */
async function open(settings: SourceSettings): Promise<Source> {
  switch (settings.type) {
    case 'duckdb':
      return (await import('../duckdb/source.ts')).openDuckdb(settings);
    case 'postgres':
      return (await import('../postgres/source.ts')).openPostgres(settings);
    case 'clickhouse':
      return (await import('../clickhouse/source.ts')).openClickhouse(settings);
  }
}

/** A request with a credential gets connections of its own. They are closed after it, and never shared. */
async function as<T>({ credential }: QueryRequest, work: (source: Source) => Promise<T>): Promise<T> {
  if (!credential) return work(source!);
  const personal = await open({ ...own, ...credential, connections: 1 } as SourceSettings);
  try {
    return await work(personal);
  } finally {
    await personal.close();
  }
}

serveParent({
  async onStart(settings: SourceSettings | DemoDataSettings) {
    if (settings.type === 'demo-data') {
      const { writeDemoData } = await import('../duckdb/demo-data.ts');
      await writeDemoData(settings.folder, settings.until);
    } else {
      own = settings;
      source = await open(settings);
    }
  },
  handlers: {
    query: (run: Run, signal: AbortSignal, write: Write) => as(run, (one) => one.run(run, signal, write)),
    listTables: (asked: QueryRequest, signal: AbortSignal) => as(asked, (one) => one.listTables(signal)),
    test: (asked: QueryRequest, signal: AbortSignal) => as(asked, (one) => one.test(signal)),
  },
  onStop: () => source?.close(),
});
