import type { CreationStep } from './store.ts';

/** The number of deployments that an installation can have. */
export const DEPLOYMENTS_MAX = 10_000;

const AFTER_SOURCE = ['databases', 'schema', 'ready'] as const;

/**
 * The steps that may follow each step. The model comes by one of `upload`, `git-host` and `ssh`, or is made from the
 * databases. Steps may be left out, and a demo has its databases already.
 */
const NEXT: Record<CreationStep, readonly CreationStep[]> = {
  project: ['upload', 'git-host', 'ssh', 'demo', ...AFTER_SOURCE],
  upload: AFTER_SOURCE,
  'git-host': AFTER_SOURCE,
  ssh: AFTER_SOURCE,
  databases: ['schema', 'ready'],
  schema: ['ready'],
  demo: ['ready'],
  ready: [],
};

export const FIRST_STEP = 'project' satisfies CreationStep;
export const stepsAfter = (step: CreationStep) => NEXT[step];
export const mayFollow = (step: CreationStep, next: CreationStep) => NEXT[step].includes(next);
