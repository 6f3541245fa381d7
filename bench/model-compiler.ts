/** Compiling a data model and planning queries, beside the npm package that others use for both. */
import { compileModel, type Model, planQuery, type Viewer } from '../packages/semantic/src/index.ts';
import { chainedModel } from './data-models/chained-model.ts';
import type { Benchmark, RunOptions } from './harness/benchmark.ts';
import { openPeer, PEER_VERSION, type Peer } from './queries/schema-compiler.ts';
import { type Action, compareLatencies, type Ratio } from './reports/latency.ts';

const SIZE = { cubes: 50, views: 10 };
/** The number of queries in all rounds together. */
const QUERIES = 1000;
const VIEWER: Viewer = {
  groups: [],
  tenantGroups: [],
  roles: [],
  userAttributes: { region: 'EU' },
  securityContext: {},
  seesUnguarded: true,
};

export const modelCompiler: Benchmark = {
  name: 'model-compiler',
  description:
    'compiling 50 cubes and 10 views, and planning a query, against @cubejs-backend/schema-compiler',
  run,
};

async function run({ rounds }: RunOptions) {
  const files = chainedModel(SIZE);
  const model = compiled(files);
  const compile: Action = { name: 'compiling the model', act: async () => void compiled(files) };
  const plan: Action = {
    name: 'planning a query',
    act: async () =>
      void planQuery(model, nextQuery(), VIEWER, { dialect: () => 'postgres', now: new Date() }),
  };
  const facts = {
    model: `${SIZE.cubes} cubes of 12 dimensions, 6 measures and a policy, each joined to the one before, and ${SIZE.views} views`,
    query: 'two measures, a dimension of a joined cube, a month of a time dimension, a range and a filter',
    measured: 'in the process of the benchmark, one call after the other',
  };
  const peer = await openPeer().catch((error: Error) => error);
  if (peer instanceof Error) {
    console.log(`There is no peer to compare with: ${peer.message}`);
    const alone = (action: Action): Ratio => ({ subject: action, anchor: action, anchorDoes: 'is the same' });
    const { measured } = await compareLatencies([alone(compile), alone(plan)], { rounds, calls: 9 });
    return {
      measured,
      comparisons: [],
      facts: { ...facts, peer: 'could not be installed, so nothing is compared' },
    };
  }
  const compiling = await compareLatencies([await compilingRatio(peer, files, compile)], {
    rounds,
    calls: 1,
  });
  const planning = await compareLatencies([await planningRatio(peer, files, plan)], {
    rounds,
    calls: Math.ceil(QUERIES / rounds),
  });
  return {
    measured: [...compiling.measured, ...planning.measured],
    comparisons: [...compiling.comparisons, ...planning.comparisons],
    facts: {
      ...facts,
      peer: `schema-compiler ${PEER_VERSION}, with its planner and transpiler of JavaScript`,
    },
  };
}

function compiled(files: Map<string, string>): Model {
  const { model, errors, cubesCount } = compileModel(files);
  if (!model || errors.length || cubesCount !== SIZE.cubes)
    throw new Error(`The model is not valid: ${errors[0]?.message}`);
  return model;
}

const compilingRatio = async (peer: Peer, files: Map<string, string>, subject: Action): Promise<Ratio> => ({
  subject,
  anchor: { name: 'the peer, compiling', act: () => peer.compile(files) },
  anchorDoes:
    'compiles the same files into functions of JavaScript, in the form that its server loads. It has no cache of earlier compilations, and neither have we.',
  asked: { atMost: 1 / 20 },
});

async function planningRatio(peer: Peer, files: Map<string, string>, subject: Action): Promise<Ratio> {
  const model = await peer.compile(files);
  return {
    subject,
    anchor: { name: 'the peer, planning', act: async () => void model.plan(nextQuery()) },
    anchorDoes:
      'makes SQL and parameters for PostgreSQL. It applies no policy and checks no viewer, which its server does before. Each query has another value, so that neither side answers from memory.',
    asked: { atMost: 1 / 5 },
  };
}

let asked = 0;
const nextQuery = () => ({
  measures: ['c20.m1', 'c20.count'],
  dimensions: ['c19.d1'],
  timeDimensions: [{ dimension: 'c20.d0', granularity: 'month', dateRange: ['2024-01-01', '2024-12-31'] }],
  filters: [{ member: 'c20.d2', operator: 'equals', values: [`value ${asked++}`] }],
  timezone: 'UTC',
});
