/** Finds data sources of deployments, and asks them. */
import {
  type DataSource,
  dataSourcesOf,
  type PersonalAccess,
  type ServerSource,
} from '../../engines/data-sources.ts';
import {
  type CallLimits,
  type Engine,
  EngineError,
  type QueryLimits,
  type Reach,
  type Table,
} from '../../engines/engine.ts';
import type { Engines } from '../../engines/engines.ts';
import { createAdmission, type Excess, notNow } from '../../platform/admission/admission.ts';
import type { IdentifiedActor } from '../../platform/auth/actor.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { ApiError, invalid } from '../../platform/errors.ts';
import type { EnvVars } from '../env-vars/index.ts';
import type { OwnAccess, SourceAccess } from '../oauth-integrations/index.ts';
import type { EngineIdentities } from '../oidc-token-configs/index.ts';
import type { PrepareFiles } from './demo-files.ts';

export interface OpenedSource {
  source: DataSource;
  engine: Engine;
  /** Given if the caller asks the source with their own access. */
  access?: OwnAccess | undefined;
}

export interface DataSources {
  /** Throws if there is no such source, if its variables are wrong, or if the caller cannot ask it. */
  require(db: Queryable, actor: IdentifiedActor, deploymentId: number, name: string): Promise<OpenedSource>;
  listTables(deploymentId: number, opened: OpenedSource, limits: CallLimits): Promise<Table[]>;
  test(deploymentId: number, opened: OpenedSource, limits: CallLimits): Promise<Reach>;
  sample(deploymentId: number, opened: OpenedSource, table: TableName, limits: CallLimits): Promise<Sample>;
}

export interface TableName {
  schema: string;
  name: string;
}

export interface Sample {
  columns: string[];
  rows: (string | null)[][];
  /** Null if counting takes too long. */
  rowCount: number | null;
}

interface Parts {
  engines: Pick<Engines, 'of'>;
  variables: Pick<EnvVars, 'readEnvVars'>;
  identities: EngineIdentities;
  prepareFiles: PrepareFiles;
  sourceAccess: SourceAccess;
}

/** Lists of tables and tests take turns, as one sharer, with the queries of the same source. */
const CATALOGUE = 'catalogue';

/**
 * Tests of connections and reads of catalogues: one of a deployment at once, so that a deployment whose servers do not
 * answer takes no engine processes from others.
 */
const LIMITS = { places: 3, sharerPlaces: 1, waitingMax: 30, sharerWaitingMax: 5, waitMs: 20_000 };

const refusal = (excess: Excess) =>
  notNow(excess, 'Other data sources are being tested or read. Try again later.', 5);

export function createDataSources(parts: Parts): DataSources {
  const asking = askingOf(parts);
  const places = createAdmission({ ...LIMITS, refusal });
  const inTurn = <T>(deploymentId: number, { signal }: CallLimits, work: () => Promise<T>) =>
    places.take({ sharer: String(deploymentId), signal }, work);
  return {
    require: asking.require,
    listTables: (deploymentId, opened, limits) =>
      inTurn(deploymentId, limits, () => asking.listTables(deploymentId, opened, limits)),
    test: (deploymentId, opened, limits) =>
      inTurn(deploymentId, limits, () => asking.test(deploymentId, opened, limits)),
    sample: (deploymentId, opened, table, limits) =>
      inTurn(deploymentId, limits, () => asking.sample(deploymentId, opened, table, limits)),
  };
}

const askingOf = ({ engines, variables, identities, prepareFiles, sourceAccess }: Parts): DataSources => ({
  async require(db, actor, deploymentId, name) {
    const values = await variables.readEnvVars(db, deploymentId);
    const { sources, problems } = dataSourcesOf(Object.fromEntries(values));
    const source = sources.get(name);
    if (source) {
      await prepareFiles(db, deploymentId);
      const identity = await identities.of(db, deploymentId, values);
      const access = isPersonal(source) ? await sourceAccess.of(db, actor, source) : undefined;
      return { source, engine: engines.of(deploymentId, source, identity), access };
    }
    const own = problems.filter((problem) => problem.source === name);
    if (!own.length) throw notFound(name, [...sources.keys()]);
    const message = own.map(({ variable, message }) => `${variable} ${message}.`).join(' ');
    throw new ApiError('data_source_invalid', { message });
  },

  async listTables(_deploymentId, opened, limits) {
    try {
      return await ask(opened, (engine, more) => engine.listTables({ ...limits, ...more }));
    } catch (error) {
      if (error instanceof EngineError) throw new ApiError('data_source_failed', { message: error.message });
      throw error;
    }
  },

  async test(_deploymentId, opened, limits) {
    try {
      return await ask(opened, (engine, more) => engine.test({ ...limits, ...more }));
    } catch (error) {
      // There is no engine for this type of source.
      if (error instanceof EngineError) return { isReachable: false, message: error.message };
      throw error;
    }
  },

  sample: (_deploymentId, opened, table, limits) => sampleOf(opened, table, limits),
});

const SAMPLE = { rows: 20, columns: 200, bytes: 4 * 1024 * 1024, characters: 200 };
const COUNT_MS = 10_000;
/** The errors of a count that took too long. */
const TOO_SLOW: readonly string[] = ['timed_out', 'query_too_large'];

/** Reads a sample, only of a table that the source lists, so that the names in the statement come from the source. */
async function sampleOf(opened: OpenedSource, wanted: TableName, limits: CallLimits): Promise<Sample> {
  const within = { ...limits, maxRows: SAMPLE.rows, maxBytes: SAMPLE.bytes };
  try {
    const tables = await ask(opened, (engine, more) => engine.listTables({ ...limits, ...more }));
    const table = tables.find(({ schema, name }) => schema === wanted.schema && name === wanted.name);
    if (!table) throw invalid('table', 'is no table of the data source', 'invalid_reference');
    const columns = table.columns.slice(0, SAMPLE.columns).map(({ name }) => name);
    const quoted = (name: string) => quoteName(opened.source.type, name);
    const from = `${quoted(table.schema)}.${quoted(table.name)}`;
    const select = `select ${columns.map(quoted).join(', ')} from ${from} limit ${SAMPLE.rows}`;
    const rows = await readRows(opened, select, within);
    const counted = await readRows(opened, `select count(*) as n from ${from}`, {
      ...within,
      timeoutMs: COUNT_MS,
    }).catch((error) => {
      if (error instanceof EngineError && TOO_SLOW.includes(error.code)) return [[null]];
      throw error;
    });
    const count = counted[0]?.[0];
    return { columns, rows, rowCount: count == null ? null : Number(count) };
  } catch (error) {
    if (error instanceof EngineError) throw new ApiError('data_source_failed', { message: error.message });
    throw error;
  }
}

const quoteName = (type: DataSource['type'], name: string) =>
  type === 'clickhouse' ? `\`${name.replace(/[\\`]/g, '\\$&')}\`` : `"${name.replaceAll('"', '""')}"`;

async function readRows(
  opened: OpenedSource,
  sql: string,
  limits: Partial<QueryLimits>,
): Promise<(string | null)[][]> {
  const { rows } = await ask(opened, (engine, more) =>
    engine.query({ sql, rowForm: 'arrays' }, { ...limits, ...more }),
  );
  const pieces: Buffer[] = [];
  for await (const piece of rows) pieces.push(piece);
  const read = JSON.parse(Buffer.concat(pieces).toString()) as unknown[][];
  return read.map((row) => row.map((value) => (value === null ? null : valueText(value))));
}

const valueText = (value: unknown) => {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > SAMPLE.characters ? `${text.slice(0, SAMPLE.characters)}…` : text;
};

/** As the person, if people ask the source with their own access. */
const ask = <T>({ engine, access }: OpenedSource, work: (engine: Engine, more: CallLimits) => Promise<T>) =>
  access
    ? access.run((credential) => work(engine, { sharer: CATALOGUE, credential }))
    : work(engine, { sharer: CATALOGUE });

const isPersonal = (source: DataSource): source is ServerSource & { oauth: PersonalAccess } =>
  source.type !== 'duckdb' && source.oauth !== undefined;

function notFound(name: string, known: readonly string[]) {
  const others = known.map((one) => `\`${one}\``).join(', ') || 'none';
  const message = `There is no data source \`${name}\`. The variables of the deployment describe: ${others}.`;
  return new ApiError('data_source_not_found', { message });
}
